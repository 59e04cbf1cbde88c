/** The whole control loop of a session, from start to rotation to end, with ready-made hooks. */
import { createAgent, defineHook, HookAction } from "@belay/core"
import { defineTool } from "@belay/core/defineTool"
import type { LlmResponse } from "@belay/core/LlmCall"
import * as SessionStore from "@belay/core/SessionStore"
import * as AuditLog from "@belay/hooks/AuditLog"
import * as ErrorKnowledge from "@belay/hooks/ErrorKnowledge"
import * as LoopDetector from "@belay/hooks/LoopDetector"
import * as SessionMemory from "@belay/hooks/SessionMemory"
import * as SessionRotation from "@belay/hooks/SessionRotation"
import { Scripted } from "@belay/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const says = (text: string): LlmResponse => ({ model: "m", text, toolCalls: [], finishReason: "stop" })

/** A response of a vendor that does not report usage. */
const unreported = ({ usage: _usage, ...response }: LlmResponse): LlmResponse => response

// rows: B-53
describe("the control loop", () => {
  it("runs start, tools, knowledge, loop score, budget, handoff, fresh session and end, in exactly this order", async () => {
    const log: Array<string> = []
    const telemetry: Array<string> = []
    const memory = SessionMemory.memory()
    await memory.save("repo:acme", [{ kind: "fact", text: "the build needs node 24", at: 0 } as never])
    const store = SessionStore.inMemory()
    const watch = defineHook({
      name: "watch",
      kind: "observer",
      onSessionStart: ({ context, source }) => void log.push(`SessionStart ${source}, ${context.length} messages`),
      preToolCall: ({ name }, { outcome }) => void log.push(`PreToolUse ${name}: ${outcome?.action}`),
      postToolCall: ({ call, result }) => void log.push(`PostToolUse ${call.name}: ${result.ok ? "ok" : "failed"}`),
      onToolDenied: ({ by, call }) => void log.push(`Denied ${call.name} by ${by}`),
      onBudget: ({ level }) => void log.push(`OnBudget ${level}`),
      preCompaction: ({ trigger }) => void log.push(`PreCompact ${trigger}`),
      postCompaction: ({ summary }) => void log.push(`PostCompact anchors ${summary.includes("issue #42")}`),
      onSessionEnd: ({ reason }) => void log.push(`SessionEnd ${reason}`)
    })
    const policy = defineHook({
      name: "validator",
      kind: "policy",
      priority: 10,
      tools: "drop",
      preToolCall: () => HookAction.reject("never")
    })
    const agent = createAgent({
      provider: Scripted.make([
        Scripted.toolCalls({ name: "drop" }),
        Scripted.toolCalls({ name: "package" }),
        Scripted.toolCalls({ name: "package" }),
        Scripted.toolCalls({ name: "read" }),
        Scripted.toolCalls({ name: "remember", args: { kind: "blocker", text: "dist is stale" } }),
        says("all done")
      ]),
      tools: [
        defineTool({ name: "drop", description: "d", input: { type: "object" }, execute: () => "dropped" }),
        defineTool({
          name: "package",
          description: "p",
          input: { type: "object" },
          execute: () => {
            throw new Error("stale archive in dist/ (job 17)")
          }
        }),
        defineTool({ name: "read", description: "r", input: { type: "object" }, execute: () => "x".repeat(3_400) }),
        SessionMemory.remember()
      ],
      window: { tokens: 1_000 },
      store,
      hooks: [
        SessionMemory.make({ keys: ["repo:acme"], store: memory }),
        policy,
        ErrorKnowledge.make({
          entries: [{
            id: "stale-dist",
            signature: "stale archive in dist/",
            resolution: ["delete dist/ first"],
            scope: { tool: "package" }
          }]
        }),
        LoopDetector.make(),
        SessionRotation.make({ anchors: ["issue #42"], keepRecent: 1 }),
        AuditLog.make({ sink: ({ event }) => void telemetry.push(event) }),
        watch
      ]
    })
    agent.on((event) => {
      if (event.type === "rotation") log.push(`rotation ${event.step}`)
    })
    const session = await agent.session({ id: "s" })
    const result = await session.run("package it for issue #42")
    assert.strictEqual(result.text, "all done")
    await session.close()
    assert.deepStrictEqual(log, [
      "SessionStart startup, 1 messages",
      "PreToolUse drop: Reject",
      "Denied drop by validator",
      "PreToolUse package: Continue",
      "PostToolUse package: failed",
      "PreToolUse package: Continue",
      "PostToolUse package: failed",
      "PreToolUse read: Continue",
      "PostToolUse read: ok",
      "rotation loads-refused",
      "OnBudget exceeded",
      "PreCompact rotation",
      "rotation handoff",
      "SessionEnd rotate",
      "SessionStart rotate, 2 messages",
      "PostCompact anchors true",
      "PreToolUse remember: Continue",
      "PostToolUse remember: ok",
      "SessionEnd done"
    ])
    assert.strictEqual(session.id, "s-r2")
    assert.isTrue(telemetry.includes("session_end") && telemetry.at(-1) === "session_end")
    const read = result.messages.map(({ content }) => typeof content === "string" ? content : "").join("\n")
    assert.match(read, /issue #42/)
    assert.match(read, /the build needs node 24/)
    assert.isTrue(
      (memory.load("repo:acme") as ReadonlyArray<SessionMemory.Item>).some(({ text }) => text === "dist is stale")
    )
    assert.match((await Effect.runPromise(store.artifacts.read("s", "hook:handoff")))!, /issue #42/)
  })

  // rows: B-51
  it("warns the model at 70 %, and writes the handoff with the function of the host", async () => {
    const agent = createAgent({
      provider: Scripted.make([
        unreported(Scripted.toolCalls({ name: "read" })),
        unreported(Scripted.toolCalls({ name: "read" })),
        says("done")
      ]),
      tools: [
        defineTool({ name: "read", description: "r", input: { type: "object" }, execute: () => "x".repeat(1_450) })
      ],
      window: { tokens: 1_000 },
      hooks: [
        SessionRotation.make({
          handoff: (messages) => `handoff of ${messages.length} messages`,
          anchors: ["branch main"],
          keepRecent: 0
        })
      ]
    })
    const warned: Array<string> = []
    agent.on((event) => void (event.type === "warning" && warned.push(event.message)))
    await using session = await agent.session({
      messages: [{ role: "user", content: "y".repeat(1_400) }, { role: "assistant", content: "ok" }]
    })
    const { messages } = await session.run("go")
    assert.match(messages[0]!.content as string, /^handoff of \d+ messages\nkeep in mind: branch main$/)
    assert.match(
      warned.join(),
      /^Token budget exceeded at \d+% of effective window; rotate session before continuing\.$/
    )
  })
})
