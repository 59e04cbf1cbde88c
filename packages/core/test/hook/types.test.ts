import { assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc")

/** A mistake, and what the compiler's message about it must contain. */
const mistakes: { readonly [mistake: string]: readonly [code: string, ...said: ReadonlyArray<string>] } = {
  "a misspelt point": [
    `defineHook({ name: "h", preTurns: () => HookAction.reject("no") })`,
    "unknown hook method or option 'preTurns'"
  ],
  "a misspelt option": [`defineHook({ name: "h", failsOpen: false })`, "unknown hook method or option 'failsOpen'"],
  "a misspelt point in an annotated literal": [
    `const hook: AgentHook = { name: "h", preTurns: () => HookAction.reject("no") }`,
    "'preTurns' does not exist in type 'AgentHook<never>'",
    "Did you mean to write 'preTurn'?"
  ],
  "a misspelt action": [`defineHook({ name: "h", preTurn: () => HookAction.rejekt("no") })`, "Did you mean 'reject'?"],
  "a misspelt kind": [`defineHook({ name: "h", kind: "observr" })`, "Did you mean '\"observer\"'?"],
  // rows: A-03
  "the wrong value": [
    `defineHook({ name: "h", preTurn: () => HookAction.transform({ text: "out" }) })`,
    "Property 'message' is missing in type '{ text: string; }'"
  ],
  "an illegal action": [
    `defineHook({ name: "h", onSessionEnd: () => HookAction.abort("no") })`,
    "'Abort' is not assignable to type"
  ],
  "a question where nobody can be asked": [
    `defineHook({ name: "h", preTurn: () => HookAction.ask("may I?") })`,
    "'Ask' is not assignable to type"
  ],
  "state of another type": [
    `defineHook({ name: "h", preTurn: (_input, { state }) => state.set(HookState.key("n", 0), "1") })`,
    "Argument of type 'string' is not assignable to parameter of type 'number'"
  ],
  "no name": [`defineHook({ preTurn: () => {} })`, "Property 'name' is missing"],
  "a service nobody provides": [
    `const hook: AgentHook = defineHook({ name: "h", preTurn: () => Effect.asVoid(Db) })`,
    "'AgentHook<Db>' is not assignable to type 'AgentHook<never>'"
  ],
  "an input that is not to be changed": [
    `defineHook({ name: "h", preTurn: (input) => { input.message = "changed" } })`,
    "Cannot assign to 'message' because it is a read-only property"
  ]
}

const prelude = `import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookState from "@belay/core/HookState"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
export class Db extends Context.Service<Db, string>()("Db") {}
export const used: unknown = [HookAction, HookState, Effect, defineHook, {} as AgentHook]
`

/** What the compiler says about each mistake, by mistake. One run for all. */
const compile = (): ReadonlyMap<string, string> => {
  const folder = join(import.meta.dirname, "..", "..", ".doctest", `mistakes-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const names = Object.keys(mistakes)
  try {
    for (const [index, name] of names.entries()) {
      writeFileSync(join(folder, `m${index}.ts`), `${prelude}${mistakes[name]![0]}\n`)
    }
    writeFileSync(
      join(folder, "fine.ts"),
      `${prelude}defineHook({ name: "h", preTurn: () => HookAction.reject("no") })\n`
    )
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: "../../../../tsconfig.json",
        compilerOptions: { noUnusedLocals: false },
        include: ["*.ts"]
      })
    )
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { encoding: "utf8" })
    const said = new Map<string, string>([["fine", ""]])
    let current = ""
    for (const line of stdout.split("\n")) {
      const file = /(?:^|\/)(m\d+|fine)\.ts\(/.exec(line)?.[1]
      if (file !== undefined) current = file === "fine" ? file : names[Number(file.slice(1))]!
      said.set(current, `${said.get(current) ?? ""}${line}\n`)
    }
    return said
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("the compiler describes what is wrong with a hook:", () => {
  let said: ReadonlyMap<string, string> = new Map()
  beforeAll(() => {
    said = compile()
  })

  it.each(Object.keys(mistakes))("%s", (mistake) => {
    const [, ...words] = mistakes[mistake]!
    for (const word of words) assert.include(said.get(mistake) ?? "nothing", word)
  })

  it("nothing, where nothing is wrong", () => assert.strictEqual(said.get("fine"), ""))
})
