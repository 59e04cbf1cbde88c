/**
 * `belay guard run` as an agent calls it: CPU from the start of the process to the verdict, with a config in
 * TypeScript, a session in SQLite, and what was compiled before. The baseline is a process of Node that does nothing.
 */
import * as Guard from "@belay/guard/Guard"
import * as Trust from "@belay/hook-files/Trust"
import { named } from "@belay/hook-files/Wires"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { coveredBy } from "../packages/cli/src/internal/guard/run/covered.ts"
import { drive } from "../packages/cli/src/internal/guard/run/drive.ts"
import { loadConfig } from "../packages/cli/src/internal/guard/run/loadConfig.ts"
import { occasionOf } from "../packages/cli/src/internal/guard/run/occasion.ts"
import { placesIn } from "../packages/cli/src/internal/guard/run/places.ts"
import { openStore, storedId } from "../packages/cli/src/internal/guard/run/storage.ts"
import { withTools } from "../packages/cli/src/internal/guard/run/tools.ts"
import { guardBundle } from "../scripts/guardBundle.mjs"

const config = `import { defineHook, HookAction } from "@belay/sdk"
import { DataFlow, LoopDetector, PermissionRules, ProtectedPaths, ToolCallLimit } from "@belay/hooks"

const noPush = defineHook({
  name: "no-push",
  tools: "Bash",
  preToolCall: ({ args }) => String(Object(args).command).includes("git push") ? HookAction.reject("people push") : undefined
})
export default {
  hooks: [
    noPush,
    DataFlow.coding(),
    PermissionRules.make({ otherwise: "allow", ask: ["Bash(npm publish*)"] }),
    ProtectedPaths.make(),
    LoopDetector.make(),
    ToolCallLimit.make({ perSession: 1_000_000 })
  ],
  allowUnguarded: ["loop-detector", "data-flow"]
}
`

const [calls, rounds] = [10, 7]

/** The calls of a long session and of a usual one, and after how many of them the person says something. */
const [long, usual, perTurn] = [10_000, 100, 50]

/** Makes a session with many calls in the file of the guard. A process for each call would only take longer. */
const lengthen = async (count: number, path: string, cwd: string, home: string): Promise<void> => {
  const session = `after-${count}`
  const wire = named("claude")!
  const { guard: options } = await loadConfig(coveredBy(path), (act) => act())
  const store = openStore(placesIn(home))
  const guard = Guard.make({ log: false, ...options, store: store.sessions, cwd, tools: withTools() })
  const send = async (event: string, more: object): Promise<void> => {
    const payload = { hook_event_name: event, session_id: session, cwd, ...more }
    await drive(
      { wire, guard, id: storedId(wire.system, session) },
      occasionOf(wire, JSON.stringify(payload), undefined)
    )
  }
  for (let index = 0; index < count; index++) {
    if (index % perTurn === 0) await send("UserPromptSubmit", { prompt: `do part ${index} of it` })
    const call = { tool_name: "Bash", tool_input: { command: `ls part-${index}` }, tool_use_id: `long-${index}` }
    await send("PreToolUse", call)
    await send("PostToolUse", { ...call, tool_response: { stdout: `name-${index}@example.com wrote ${index * 7919}` } })
  }
  store.close()
}

/** The CPU of a command that is run several times, in milliseconds for each time. `$i` is the number of the run. */
const cpuOf = (command: string, env: NodeJS.ProcessEnv, cwd: string): number => {
  const line = `i=0; while [ $i -lt ${calls} ]; do ${command}; i=$((i+1)); done; times`
  const { stdout } = spawnSync("sh", ["-c", line], { encoding: "utf8", env, cwd })
  const [, user = "0", userSeconds = "0", system = "0", systemSeconds = "0"] =
    /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(stdout) ?? []
  return ((Number(user) + Number(system)) * 60 + Number(userSeconds) + Number(systemSeconds)) * 1_000 / calls
}

/** Other programs on the machine only make a round slower. */
const least = (list: ReadonlyArray<number>): number => Math.min(...list)

export const guardCommand = async (): Promise<string> => {
  const root = mkdtempSync(join(tmpdir(), "belay-bench-"))
  try {
    const [cwd, home] = [join(root, "project"), join(root, "home")]
    for (const folder of [cwd, home, join(root, "bin")]) mkdirSync(folder)
    cpSync(resolve("packages/cli/bin/guard.cjs"), join(root, "bin", "guard.cjs"))
    const bundle = join(root, "dist", "guard", "run.cjs")
    await guardBundle(bundle)
    const path = join(cwd, "belay.guard.ts")
    writeFileSync(path, config)
    Trust.folder(join(home, ".belay", "trust")).trust(cwd, coveredBy(path).fingerprint)
    const env = { PATH: process.env["PATH"], HOME: home }
    const node = JSON.stringify(process.execPath)
    const guard = `${node} ${join(root, "bin", "guard.cjs")} guard run --system claude --event PreToolUse`
    const write = (round: number, session = "bench"): void => {
      for (let index = 0; index < calls; index++) {
        const payload = {
          hook_event_name: "PreToolUse",
          session_id: session,
          cwd,
          tool_name: "Bash",
          tool_input: { command: `ls ${index}` },
          tool_use_id: `${round}-${index}`
        }
        writeFileSync(join(cwd, `${index}.json`), JSON.stringify(payload))
      }
    }
    write(0)
    // What was compiled is kept from the first call on. Each of the next calls adds what it needed more.
    const cold = cpuOf(`[ $i -gt 0 ] || ${guard} < 0.json > /dev/null`, env, cwd) * calls
    for (const count of [usual, long]) await lengthen(count, path, cwd, home)
    const samples: { readonly [name: string]: Array<number> } = { nothing: [], guard: [], usual: [], long: [] }
    for (let round = 1; round <= rounds; round++) {
      write(round)
      samples["nothing"]!.push(cpuOf(`${node} -e 0`, env, cwd))
      samples["guard"]!.push(cpuOf(`${guard} < $i.json > /dev/null`, env, cwd))
      for (const [name, count] of [["usual", usual], ["long", long]] as const) {
        write(round, `after-${count}`)
        samples[name]!.push(cpuOf(`${guard} < $i.json > /dev/null`, env, cwd))
      }
    }
    const [base, warm, later, last] = Object.values(samples).map(least) as [number, number, number, number]
    const row = (what: string, cpu: number): string => `| ${what} | ${cpu.toFixed(1)} | ${(cpu / base).toFixed(2)} |`
    return [
      "One call of `belay guard run`. The aims: at most 3 x `node -e 0`, and one file below 1 MB.",
      "",
      "| | CPU ms | ratio |",
      "|---|--:|--:|",
      row("`node -e 0`", base),
      row("the guard, in a new session", warm),
      row(`the guard, after ${usual} calls of the session`, later),
      row(`the guard, after ${long} calls of the session`, last),
      row("the guard, the first time", cold),
      "",
      `The file has ${(statSync(bundle).size / 1_000).toFixed(0)} kB.`,
      ""
    ].join("\n")
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  }
}
