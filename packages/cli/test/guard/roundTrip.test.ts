/**
 * A guard inside each system. The system is played by the hooks of this repository that run its files: they build its
 * payloads, and obey its answers. So what one side writes, the other one reads.
 */
import { defineHook } from "@belay/core/AgentHook"
import * as GuardSession from "@belay/core/GuardSession"
import * as HookAction from "@belay/core/HookAction"
import type { JsonObject } from "@belay/core/Json"
import { check } from "@belay/guard/CoverageCheck"
import * as Guard from "@belay/guard/Guard"
import type { Runners } from "@belay/hook-files/Runners"
import { builtIn } from "@belay/hook-files/Systems"
import { all, type Wire } from "@belay/hook-files/Wires"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { withEntries } from "../../src/internal/guard/entries.ts"
import { drive } from "../../src/internal/guard/run/drive.ts"
import { type Occasion, occasionOf } from "../../src/internal/guard/run/occasion.ts"
import { driverOf } from "../../src/internal/guard/run/reach.ts"
import { outputOf } from "../../src/internal/guard/run/said.ts"

/** What the guard decides about a call, and about a result. */
type Decision =
  | { readonly type: "allow" | "result" }
  | { readonly type: "deny" | "ask" | "context"; readonly reason: string }
  | { readonly type: "change"; readonly args: JsonObject }

/** An agent of the system, with the guard as its hook command. Its own session does what the system would do. */
const agentOf = (wire: Wire, decision: Decision) => {
  const seen: Array<Occasion> = []
  const hook = defineHook({
    name: "guard",
    preTurn: ({ message }) => message === "refused" ? HookAction.reject("not this message") : undefined,
    preToolCall: ({ id, name }, ctx) => {
      if (decision.type === "deny") return HookAction.reject(decision.reason)
      if (decision.type === "ask") return HookAction.ask(decision.reason)
      if (decision.type === "change") return HookAction.transform({ id, name, args: decision.args })
      if (decision.type === "context") ctx.inject(decision.reason)
      return undefined
    },
    postToolCall: () => decision.type === "result" ? HookAction.transform({ ok: true, output: "clean" }) : undefined,
    preStop: ({ followUps }, ctx) => followUps === 0 ? ctx.followUp("say more") : undefined
  })
  const guard = Guard.make({ hooks: [hook], log: false })
  const runners: Runners = ({ input, work }) =>
    Effect.promise(async () => {
      const line = work.type === "command" ? work.command : ""
      const event = /--event (\w+)/.exec(line)?.[1]
      const occasion = occasionOf(wire, JSON.stringify(input), event)
      seen.push(occasion)
      const { code, stderr, stdout } = outputOf(
        wire,
        occasion.event,
        await drive({ wire, guard, id: `${wire.system}.s` }, occasion)
      )
      return { exitCode: code, stdout, stderr, timedOut: false, overflowed: false, durationMs: 1 }
    })
  const system = builtIn.find(({ dialect }) => dialect === wire.system)!
  const file = {
    scope: "user" as const,
    path: `/home/${wire.settings.user}`,
    dialect: wire.system,
    ofProject: false,
    text: Result.getOrThrow(withEntries(wire, "settings", "", "belay"))
  }
  const config = system.decode(file, { cwd: "/p", home: "/home", managed: "/etc" })
  const sources = [{ ...file, system, config }]
  const making = { projectDir: "/p", home: "/home", runners, transcripts: undefined, refuse: () => undefined }
  const session = GuardSession.make({
    hooks: system.hooks(sources, making),
    seesRequests: false,
    cwd: "/p",
    log: false
  })
  return { session, seen, warnings: config.warnings, events: config.handlers.map(({ event }) => event) }
}

/** Tools of an agent of Belay, and the names that the guard sees. */
const tools: ReadonlyArray<readonly [name: string, args: (text: string) => JsonObject, claude: string]> = [
  ["bash", (command) => ({ command }), "Bash"],
  ["read_file", (path) => ({ path: `/p/${path}` }), "Read"],
  ["mcp__mail__send_mail", (to) => ({ to }), "mcp__mail__send_mail"]
]

/** Each run makes an agent of the system and a guard for it. */
const few = { arbitrary: { runs: 15 } }

const Words = Schema.String.check(Schema.isPattern(/^[a-z]{1,12}( [a-z]{1,12}){0,3}$/))

const callOf = (wire: Wire, name: string) => {
  const rows = Object.values(wire.events).filter(({ means }) => means === "toolCall")
  const own = rows.find(({ call }) => call?.name.split("__")[0] === name.split("__")[0])
  return own ?? rows.find(({ call }) => call === undefined)!
}

describe.each(all.map((wire) => [wire.system, wire] as const))("the guard in %s", (_system, wire) => {
  it("is called by settings that the system reads without a warning", () => {
    const { events, warnings } = agentOf(wire, { type: "allow" })
    assert.sameMembers([...new Set(events)], Object.keys(wire.events))
    assert.deepStrictEqual(warnings, [])
  })

  it.effect.prop("lets calls run as they are", [Words], ([text]) =>
    Effect.gen(function*() {
      for (const [name, args, claude] of tools) {
        const { seen, session } = agentOf(wire, { type: "allow" })
        const verdict = yield* session.toolCall({ id: "1", name, args: args(text) })
        assert.deepInclude(verdict, { type: "allow", args: args(text) })
        const calls = seen.flatMap(({ call }) => call ?? [])
        const expected = name === "mcp__mail__send_mail" && wire.system === "cursor" ? "mcp__cursor__send_mail" : claude
        assert.deepStrictEqual(calls.map((one) => one.name), [expected])
        assert.include(JSON.stringify(calls[0]!.args), text)
      }
    }), few)

  it.effect.prop(
    "refuses calls with the reason of the hook",
    [Words, Words],
    ([text, reason]) =>
      Effect.gen(function*() {
        for (const [name, args] of tools) {
          const { session } = agentOf(wire, { type: "deny", reason })
          const verdict = yield* session.toolCall({ id: "1", name, args: args(text) })
          assert.strictEqual(verdict.type, "deny")
          assert.include(verdict.type === "deny" ? verdict.reason : "", reason)
        }
      }),
    few
  )

  it.effect.prop(
    "asks where the system can ask, and refuses where it cannot",
    [Words, Words],
    ([text, reason]) =>
      Effect.gen(function*() {
        for (const [name, args, claude] of tools) {
          const { session } = agentOf(wire, { type: "ask", reason })
          const verdict = yield* session.toolCall({ id: "1", name, args: args(text) })
          assert.strictEqual(verdict.type, callOf(wire, claude).ask === undefined ? "deny" : "ask")
          const why = verdict.type === "ask" ? verdict.question.reason : verdict.type === "deny" ? verdict.reason : ""
          assert.include(why, reason)
        }
      }),
    few
  )

  it.effect.prop("changes arguments where the system can, and refuses with them where it cannot", [Words, Words], ([
    text,
    other
  ]) =>
    Effect.gen(function*() {
      for (const [name, args, claude] of tools) {
        const now: JsonObject = claude === "Read" ? { file_path: `/p/new-${other}` } : args(`new ${other}`)
        const { session } = agentOf(wire, { type: "change", args: now })
        const verdict = yield* session.toolCall({ id: "1", name, args: args(text) })
        if (callOf(wire, claude).change === undefined) {
          assert.strictEqual(verdict.type, "deny")
          assert.include(verdict.type === "deny" ? verdict.reason : "", other)
        } else {
          const wanted = claude === "Read" ? { path: `/p/new-${other}` } : now
          assert.deepInclude(verdict, { type: "allow", args: wanted })
        }
      }
    }), few)

  it.effect("replaces results where the system can, and tells the model where it cannot", () =>
    Effect.gen(function*() {
      const { session } = agentOf(wire, { type: "result" })
      const call = { id: "1", name: "mcp__mail__read_mail", args: {} }
      yield* session.toolCall(call)
      const verdict = yield* session.toolResult({ id: "1" }, { ok: true, output: "poison" })
      const canReplace = Object.values(wire.events).some(({ means, result }) =>
        means === "toolResult" && result !== undefined
      )
      const shown = JSON.stringify(verdict)
      if (canReplace) assert.notInclude(shown, "poison")
      assert.include(
        shown,
        canReplace || wire.system === "windsurf" || wire.system === "factory" ? "clean" : "changed this result"
      )
    }))

  it.effect("refuses messages, and keeps the agent going, where the system can", () =>
    Effect.gen(function*() {
      const { session } = agentOf(wire, { type: "allow" })
      const refused = yield* session.userMessage("refused")
      const row = Object.values(wire.events).find(({ means }) => means === "userMessage")!
      assert.strictEqual(refused.type, row.deny === undefined ? "allow" : "deny")
      yield* session.userMessage("go")
      const end = yield* session.beforeStop({ text: "" })
      const goesOn = Object.values(wire.events).some(({ again, means }) => means === "stop" && again !== undefined)
      assert.strictEqual(end.type, goesOn ? "continue" : "allow")
      assert.deepInclude(yield* session.beforeStop({ text: "done" }), { type: "allow" })
    }))
})

describe("a policy for messages", () => {
  it.each(all.map((wire) => [wire.system, wire] as const))("is refused by name if %s sends them anyway", (_, wire) => {
    const policy = defineHook({ name: "messages", kind: "policy", preTurn: () => HookAction.reject("no") })
    const checked = () => check(Guard.make({ hooks: [policy], log: false }), driverOf(wire))
    if (wire.system === "copilot") assert.throws(checked, /copilot cannot enforce messages at preTurn/)
    else checked()
  })
})

describe("a call of GitHub Copilot", () => {
  const copilot = all.find(({ system }) => system === "copilot")!
  const callOf = (toolName: string, toolArgs: unknown) =>
    occasionOf(copilot, JSON.stringify({ sessionId: "s", toolName, toolArgs }), "preToolUse").call

  it("has the field that the tool reads, whatever else the model writes", () => {
    const args = { path: "/etc/passwd", file_text: "x", file_path: "harmless.txt" }
    assert.deepStrictEqual(callOf("create", JSON.stringify(args))?.args, { file_path: "/etc/passwd", content: "x" })
  })

  it("is refused if rules would find nothing in its arguments, and a patch names its files", () => {
    for (const args of ["git push", ["git push"], JSON.stringify(["git push"])]) {
      assert.throws(() => callOf("bash", args), /arguments of Bash that are not an object/)
    }
    const patch = "*** Begin Patch\n*** Update File: .env\n*** End Patch"
    assert.deepStrictEqual(callOf("apply_patch", patch)?.args, { patch, paths: [".env"] })
    assert.strictEqual(callOf("mcp__mail__send", "to eve")?.args, "to eve")
  })
})
