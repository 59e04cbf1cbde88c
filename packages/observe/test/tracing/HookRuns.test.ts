/** Spans of the entries of hook files, as a collector receives them. */
import { createAgent } from "@belay/core"
import type { Json } from "@belay/core/Json"
import * as Tracing from "@belay/observe/Tracing"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import { attributesOf, startCollector } from "./support/collector.ts"

/** What the engine of hook files reports about one run. */
const run = (event: string, outcome: string, more: { readonly [key: string]: Json } = {}): Json => ({
  event,
  file: "/p/.claude/settings.json",
  key: `hooks.${event}[0].hooks[0]`,
  type: "command",
  command: "./guard.sh --token abc",
  outcome,
  exitCode: 0,
  durationMs: 40,
  stdout: "",
  stderr: "",
  ...more
})

/** Sends runs at the points of a turn, and returns the spans that the collector received. */
const traced = async (runs: { readonly [point: string]: ReadonlyArray<Json> }, options: Tracing.Options = {}) => {
  const collector = await startCollector()
  const tracing = Tracing.make({ url: collector.url, ...options })
  const send =
    (point: string) => (_event: unknown, ctx: { readonly events: { emit: (n: string, p: Json) => void } }) => {
      for (const one of runs[point] ?? []) ctx.events.emit("hook-run", one)
      return undefined
    }
  {
    await using agent = createAgent({
      provider: Scripted.make(["done"]),
      hooks: [{
        name: "claude",
        onSessionStart: send("onSessionStart"),
        preTurn: send("preTurn"),
        preLlmCall: send("preLlmCall"),
        onSessionEnd: send("onSessionEnd")
      }],
      plugins: [tracing.plugin]
    })
    await using session = await agent.session({ id: "s" })
    await session.run("hi")
  }
  await tracing.close()
  await collector[Symbol.asyncDispose]()
  return collector.spans.map((span) => ({ ...span, attributes: attributesOf(span.attributes) }))
}

describe("spans of hook files", () => {
  // rows: C-53
  it("are one for each run, with its outcome, below the turn in which it ran", async () => {
    const spans = await traced({
      onSessionStart: [run("SessionStart", "success")],
      preLlmCall: [
        run("PreToolUse", "blocking", { exitCode: 2 }),
        run("PreToolUse", "nonBlockingError", { exitCode: 1, stderr: "no such file" }),
        run("Stop", "cancelled", { exitCode: null, durationMs: null })
      ],
      onSessionEnd: [run("SessionEnd", "success")]
    })
    const turn = spans.find(({ name }) => name.startsWith("invoke_agent"))!
    const hooks = spans.filter(({ name }) => name.startsWith("run_hook"))
    assert.sameDeepMembers(
      hooks.map(({ attributes, name, parentSpanId }) => [
        name,
        attributes["belay.hook.outcome"],
        parentSpanId === turn.spanId,
        attributes["error.type"]
      ]),
      [
        ["run_hook SessionStart", "success", true, undefined],
        ["run_hook PreToolUse", "blocking", true, undefined],
        ["run_hook PreToolUse", "nonBlockingError", true, "nonBlockingError"],
        ["run_hook Stop", "cancelled", true, "cancelled"],
        ["run_hook SessionEnd", "success", false, undefined]
      ]
    )
    const [blocking] = hooks.filter(({ attributes }) => attributes["belay.hook.outcome"] === "blocking")
    assert.deepInclude(blocking!.attributes, {
      "belay.session.id": "s",
      "belay.hook.name": "claude",
      "belay.hook.file": "/p/.claude/settings.json",
      "belay.hook.key": "hooks.PreToolUse[0].hooks[0]"
    })
    const [from, to] = [blocking!.startTimeUnixNano, blocking!.endTimeUnixNano].map((time) => Number(time))
    assert.approximately((to! - from!) / 1e6, 40, 1)
    assert.notInclude(JSON.stringify(hooks), "guard.sh")
    assert.notInclude(JSON.stringify(hooks), "no such file")
  })

  it("have texts only as the program returns them, and ignore events that are not about a run", async () => {
    const strange: ReadonlyArray<Json> = [null, 7, {}, run("X", "odd"), run("Y", "success", { durationMs: -1 })]
    const long = run(`E${"x".repeat(300)}`, "success")
    const spans = await traced(
      { preTurn: [...strange, run("Stop", "nonBlockingError", { stderr: "token abc" }), long] },
      { content: (text) => text.replaceAll("abc", "***") }
    )
    const hooks = spans.filter(({ name }) => name.startsWith("run_hook"))
    assert.deepEqual(hooks.map(({ name }) => name), ["run_hook Stop", `run_hook E${"x".repeat(199)}`])
    assert.strictEqual(hooks[0]!.attributes["belay.hook.command"], "./guard.sh --token ***")
    assert.strictEqual(hooks[0]!.attributes["belay.hook.stderr"], "token ***")
  })
})
