/**
 * Two systems in one project: every pair, in both orders. Each system adds context when a session starts and with each
 * prompt, and puts its name before each command. Doing that twice would be seen.
 */
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Inkeep from "@belay/hook-files/Inkeep"
import { assert, describe, it } from "@effect/vitest"
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../test/support/agent.ts"
import { place } from "./support/places.ts"
import { until, write } from "./support/processes.ts"

const systems = ["claude", "codex", "copilot", "gemini", "cursor", "kodelet", "basecoat", "inkeep"] as const
type System = typeof systems[number]

/** What a system answers in the shell: `$new` is the new command. */
interface Answers {
  readonly start?: string
  readonly prompt?: string
  readonly change: string
  readonly deny: string
}

const specific = (event: string, fields: string) => `{"hookSpecificOutput":{"hookEventName":"${event}",${fields}}}`
const claude = (name: string): Answers => ({
  start: `start of ${name}`,
  prompt: `prompt of ${name}`,
  change: specific("PreToolUse", `"permissionDecision":"allow","updatedInput":{"command":"$new"}`),
  deny: specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"no"`)
})

const answers: { readonly [S in Exclude<System, "inkeep">]: Answers } = {
  claude: claude("claude"),
  codex: claude("codex"),
  copilot: {
    start: `{"additionalContext":"start of copilot"}`,
    prompt: `{"additionalContext":"prompt of copilot"}`,
    change: `{"modifiedArgs":{"command":"$new"}}`,
    deny: `{"permissionDecision":"deny","permissionDecisionReason":"no"}`
  },
  gemini: {
    start: specific("SessionStart", `"additionalContext":"start of gemini"`),
    prompt: specific("BeforeAgent", `"additionalContext":"prompt of gemini"`),
    change: specific("BeforeTool", `"tool_input":{"command":"$new"}`),
    deny: `{"decision":"deny","reason":"no"}`
  },
  cursor: {
    start: `{"additional_context":"start of cursor"}`,
    change: `{"permission":"allow","updated_input":{"command":"$new"}}`,
    deny: `{"permission":"deny","agent_message":"no"}`
  },
  kodelet: { change: `{"input":{"command":"$new"}}`, deny: `{"blocked":true,"reason":"no"}` },
  basecoat: {
    start: `{"action":"injectContext","additionalContext":["start of basecoat"]}`,
    change: `{"action":"modify","modifiedInput":{"command":"$new"}}`,
    deny: `{"action":"block","reason":"no"}`
  }
}

type Place = ReturnType<typeof place>

/**
 * A script that writes its name and event down, reads the command, and answers. `denied` is a word that it refuses. It
 * starts no other programs, because it runs often.
 */
const script = ({ root }: Place, system: Exclude<System, "inkeep">, denied: string | undefined): string => {
  const { change, deny, prompt = "", start = "" } = answers[system]
  const say = (answer: string) => answer === "" ? ":" : `printf '%s' "${answer.replaceAll("\"", "\\\"")}"`
  return write(
    join(root, `${system}.sh`),
    `#!/bin/sh
IFS= read -r input
echo "${system} $1" >> ${join(root, "log")}
case "$1" in
  start) ${say(start)} ;;
  prompt) ${say(prompt)} ;;
  call)
    case "$input" in
      *'command":"'*) old=\${input##*'command":"'} ;;
      *) old=\${input##*'command\\":\\"'} ;;
    esac
    old=\${old%%[\\"\\\\]*}
    new="${system} $old"
    case "$old" in
      *${denied ?? "nothing-is-denied"}*) ${say(deny)} ;;
      *) ${denied === undefined ? say(change) : ":"} ;;
    esac ;;
esac
`
  )
}

/** The file of a system, with the events that it has. */
const writeHooks = (one: Place, system: Exclude<System, "inkeep">, denied?: string): void => {
  const { cwd, home } = one
  const path = script(one, system, denied)
  const group = (event: string) => [{ hooks: [{ type: "command", command: `${path} ${event}` }] }]
  const plain = (event: string) => [{ type: "command", bash: `${path} ${event}` }]
  const json = (value: unknown) => JSON.stringify(value)
  switch (system) {
    case "claude":
    case "codex": {
      const hooks = { SessionStart: group("start"), UserPromptSubmit: group("prompt"), PreToolUse: group("call") }
      return void write(
        join(home, system === "claude" ? ".claude/settings.json" : ".codex/hooks.json"),
        json({ hooks })
      )
    }
    case "copilot": {
      const hooks = { sessionStart: plain("start"), userPromptSubmitted: plain("prompt"), preToolUse: plain("call") }
      return void write(join(home, ".copilot/hooks/a.json"), json({ version: 1, hooks }))
    }
    case "gemini": {
      const hooks = { SessionStart: group("start"), BeforeAgent: group("prompt"), BeforeTool: group("call") }
      return void write(join(home, ".gemini/settings.json"), json({ hooks }))
    }
    case "cursor": {
      const entry = (event: string) => [{ command: `${path} ${event}` }]
      const hooks = { sessionStart: entry("start"), preToolUse: entry("call") }
      return void write(join(home, ".cursor/hooks.json"), json({ version: 1, hooks }))
    }
    case "kodelet":
      return void write(
        join(home, ".kodelet/hooks/a"),
        `#!/bin/sh\n[ "$1" = hook ] && echo before_tool_call || exec ${path} call\n`
      )
    case "basecoat": {
      const entry = (event: string) => [{ command: `${path} ${event}` }]
      const hooks = { SessionStart: entry("start"), PreToolUse: entry("call") }
      write(join(cwd, "hooks.json"), json({ version: 1, hooks }))
      one.load({ sources: ["basecoat"] }).untrusted[0]!.trust()
    }
  }
}

const hooksOf = (one: Place, system: System, denied?: string) => {
  if (system !== "inkeep") {
    writeHooks(one, system, denied)
    return one.load({ sources: [system] }).hooks
  }
  return [Inkeep.make({
    definitions: [{
      id: "rewrites",
      execution: "in-process",
      run: ({ args }) => {
        appendFileSync(join(one.root, "log"), "inkeep call\n")
        const { command } = args as { readonly command: string }
        if (denied !== undefined) {
          return command.includes(denied) ? { action: "block", result: "no" } : { action: "proceed" }
        }
        return { action: "proceed", args: { command: `inkeep ${command}` } }
      }
    }],
    attachments: [{ hookDefinitionId: "rewrites", scope: "project", hookPoint: "before-args" }]
  })]
}

const run = async (one: Place, hooks: HookFiles.Loaded["hooks"]) => {
  const { ran, tools } = recording()
  const { provider, requests } = scripted([calls(["bash", { command: "go" }])])
  const warnings: Array<string> = []
  await using agent = createAgent({ provider, tools, hooks, cwd: one.cwd })
  agent.on((event) => event.type === "warning" && warnings.push(event.message))
  const result = await agent.run("hello")
  const path = join(one.root, "log")
  const log = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []
  const context = requests.at(-1)!.messages.filter((message) => message.role === "user" && message.source !== undefined)
  return { status: result.status, ran, log, warnings, context: context.map(text) }
}

const pairs = systems.flatMap((first) =>
  systems.filter((second) => second !== first).map((second) => ({ first, second }))
)
/** Systems whose entries usually change values run before the others. */
const isChanging = (system: System) => system === "kodelet" || system === "inkeep"
const runs = <S extends System>(all: ReadonlyArray<S>): ReadonlyArray<S> =>
  all.toSorted((one, two) => Number(isChanging(two)) - Number(isChanging(one)))

const count = (log: ReadonlyArray<string>, line: string) => log.filter((one) => one === line).length

const has = (system: System, event: "start" | "prompt") => system !== "inkeep" && answers[system][event] !== undefined

describe("two systems in one project", () => {
  it.each(pairs)("$first before $second: contexts arrive once, changes are made once", async ({ first, second }) => {
    const one = place()
    const { context, log, ran, status, warnings } = await run(one, [...hooksOf(one, first), ...hooksOf(one, second)])
    assert.deepStrictEqual([status, ran, warnings], ["completed", [
      `${runs([first, second]).toReversed().join(" ")} go`
    ], []])
    const both = [first, second]
    const expected = (["start", "prompt"] as const).flatMap((event) =>
      both.filter((system) => has(system, event)).map((system) => `${event} of ${system}`)
    )
    assert.deepStrictEqual(context, expected)
    for (const system of both) {
      for (const event of ["start", "prompt"] as const) {
        assert.strictEqual(count(log, `${system} ${event}`), has(system, event) ? 1 : 0, `${system} ${event}`)
      }
    }
    // The one that runs first has to see what the other one made of the command.
    assert.deepStrictEqual(runs(both).map((system) => count(log, `${system} call`)), [2, 1])
  })

  it.each(pairs)("$first can refuse what $second makes of a command", async ({ first, second }) => {
    const one = place()
    const { log, ran, status } = await run(one, [...hooksOf(one, first, second), ...hooksOf(one, second)])
    assert.deepStrictEqual([status, ran], ["completed", []])
    // One that runs later sees only the new command.
    const times = runs([first, second])[0] === first ? 2 : 1
    assert.deepStrictEqual([count(log, `${first} call`), count(log, `${second} call`)], [times, 1])
  })

  it("all of them together: contexts arrive once, changes are made once, in their order", async () => {
    const one = place()
    const { context, log, ran } = await run(one, systems.flatMap((system) => hooksOf(one, system)))
    assert.deepStrictEqual(ran, [`${runs(systems).toReversed().join(" ")} go`])
    assert.strictEqual(context.length, 10)
    assert.strictEqual(new Set(context).size, 10)
    assert.deepStrictEqual(runs(systems).map((system) => count(log, `${system} call`)), [2, 2, 2, 2, 2, 2, 2, 1])
  })
})

describe("a prompt that a later system changes", () => {
  it("is seen by the earlier one again, whose context and asynchronous entries still come once", async () => {
    const one = place()
    const { home, root } = one
    const log = (line: string) => `echo ${line} >> ${join(root, "log")}`
    const entries = [
      { type: "command", command: `${log("prompt")}; echo context` },
      { type: "command", command: log("async"), async: true }
    ]
    write(
      join(home, ".claude/settings.json"),
      JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: entries }] } })
    )
    const bash = `echo '{"modifiedTransformedPrompt":"other words"}'`
    write(
      join(home, ".copilot/hooks/a.json"),
      JSON.stringify({ version: 1, hooks: { userPromptTransformed: [{ type: "command", bash }] } })
    )
    const seen = await run(one, one.load({ sources: ["claude", "copilot"] }).hooks)
    assert.deepStrictEqual([seen.status, seen.context], ["completed", ["context"]])
    await until(() => readFileSync(join(root, "log"), "utf8").includes("async"))
    const lines = readFileSync(join(root, "log"), "utf8").trim().split("\n")
    assert.deepStrictEqual(lines.toSorted(), ["async", "prompt", "prompt"])
  })
})

describe("managed and project settings of Claude Code", () => {
  it("add their contexts once and change a command once each, and the script in both files runs for both", async () => {
    const one = place()
    const { cwd, home, root } = one
    writeHooks(one, "claude")
    const settings = readFileSync(join(home, ".claude/settings.json"), "utf8")
    const managed = join(root, "managed")
    write(join(managed, "managed-settings.json"), settings)
    write(join(cwd, ".claude/settings.json"), settings)
    const options = { sources: ["claude" as const], scopes: ["managed" as const, "project" as const], managed }
    one.load(options).untrusted[0]!.trust()
    const { context, log, ran, status } = await run(one, one.load(options).hooks)
    assert.deepStrictEqual([status, ran], ["completed", ["claude claude go"]])
    assert.deepStrictEqual(context, ["start of claude", "start of claude", "prompt of claude", "prompt of claude"])
    assert.deepStrictEqual(["start", "prompt", "call"].map((event) => count(log, `claude ${event}`)), [2, 2, 3])
  })
})
