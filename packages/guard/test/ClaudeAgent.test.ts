/** The guard inside the Claude Agent SDK: its callbacks, with the payloads that the SDK documents. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ClaudeAgent from "../src/ClaudeAgent.ts"
import * as Guard from "../src/Guard.ts"
import { firing } from "./support/claudeAgent.ts"

const kit = (hooks: ReadonlyArray<AgentHook>, settings: object = {}, more: Guard.GuardOptions = {}) => {
  const guard = Guard.make({ hooks, log: false, ...more })
  const guarded = ClaudeAgent.make(guard, { id: "s", approvedBy: "ann" })
  const options = guarded.options(settings as { readonly hooks?: Record<string, ReadonlyArray<object>> })
  const fire = firing(options)
  const call = (tool_name: string, tool_input: object, tool_use_id = "1", more: object = {}) =>
    fire("PreToolUse", { tool_name, tool_input, tool_use_id, ...more })
  const result = (tool_name: string, tool_response: unknown, tool_use_id = "1", more: object = {}) =>
    fire("PostToolUse", { tool_name, tool_input: {}, tool_response, tool_use_id, ...more })
  return { call, fire, guarded, options, result }
}

const decision = (output: unknown) => Object(Object(output).hookSpecificOutput)

describe("the guard in the Claude Agent SDK", () => {
  it("denies calls, changes arguments and results, injects texts, and says nothing about the rest", async () => {
    const { call, result } = kit([defineHook({
      name: "careful",
      preToolCall: (call, ctx) => {
        if (call.name === "Read") return undefined
        ctx.inject("be careful")
        return call.name === "Bash"
          ? HookAction.reject("no commands")
          : HookAction.transform({ ...call, args: { a: 2 } })
      },
      postToolCall: ({ call }) =>
        call.name === "Edit" ? HookAction.transform({ ok: true, output: "[withheld]" }) : undefined
    })])
    assert.deepStrictEqual(await call("Read", { path: "a" }, "0"), {
      hookSpecificOutput: { hookEventName: "PreToolUse" }
    })
    assert.deepInclude(decision(await call("Bash", { command: "rm" })), {
      permissionDecision: "deny",
      permissionDecisionReason: "no commands\n\nbe careful"
    })
    assert.deepStrictEqual(decision(await call("Edit", { a: 1 }, "2")), {
      hookEventName: "PreToolUse",
      additionalContext: "be careful",
      permissionDecision: "allow",
      updatedInput: { a: 2 }
    })
    assert.strictEqual(decision(await result("Edit", "the pin is 4711", "2")).updatedToolOutput, "[withheld]")
    assert.deepStrictEqual(await result("Read", "text", "0"), { hookSpecificOutput: { hookEventName: "PostToolUse" } })
  })

  it("refuses messages, also those that a hook would change, and keeps turns going or ends them", async () => {
    const { fire } = kit([defineHook({
      name: "doorman",
      preTurn: ({ message }) => {
        if (message === "bad") return HookAction.reject("not here")
        if (message === "stop") return HookAction.abort("closed")
        return message === "4711" ? HookAction.transform({ message: "[pin]" }) : undefined
      },
      preStop: ({ text }, ctx) => {
        if (text === "half") ctx.followUp("and the rest?")
      }
    })])
    assert.deepStrictEqual(await fire("UserPromptSubmit", { prompt: "bad" }), { decision: "block", reason: "not here" })
    assert.deepInclude(await fire("UserPromptSubmit", { prompt: "stop" }), { continue: false, stopReason: "closed" })
    assert.deepInclude(await fire("UserPromptSubmit", { prompt: "4711" }), { decision: "block" })
    assert.notProperty(await fire("UserPromptSubmit", { prompt: "hi" }), "decision")
    const more = { decision: "block", reason: "and the rest?" }
    assert.deepStrictEqual(await fire("Stop", { last_assistant_message: "half" }), more)
    assert.deepStrictEqual(await fire("Stop", { last_assistant_message: "all" }), {})
  })

  it("denies a call about which only others may decide", async () => {
    const zoe = defineHook({ name: "zoe", preToolCall: () => HookAction.ask("?", undefined, { approvers: ["zoe"] }) })
    for (const behavior of ["allow", "deny", undefined]) {
      const { call } = kit([zoe], behavior === undefined ? {} : { canUseTool: () => Promise.resolve({ behavior }) })
      assert.strictEqual(decision(await call("Edit", {})).permissionDecision, "deny")
    }
    const ann = defineHook({ name: "ann", preToolCall: () => HookAction.ask("?", undefined, { approvers: ["ann"] }) })
    const { call } = kit([ann], { canUseTool: () => Promise.resolve({ behavior: "allow" }) })
    assert.strictEqual(decision(await call("Edit", {})).permissionDecision, "allow")
  })

  it("puts a question to the person whom the program asks, and obeys the answer", async () => {
    const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })
    const asked: Array<string> = []
    const answers = [
      { behavior: "allow" },
      { behavior: "allow", updatedInput: { a: 2 } },
      { behavior: "deny", message: "no" },
      undefined
    ]
    const { call, guarded } = kit([asks], {
      canUseTool: (name: string, _input: object, options: { readonly decisionReason: string }) => {
        asked.push(`${name}: ${options.decisionReason}`)
        return Promise.resolve(answers[asked.length - 1])
      }
    })
    assert.deepInclude(decision(await call("Edit", { a: 1 }, "1")), {
      permissionDecision: "allow",
      updatedInput: { a: 1 }
    })
    assert.deepInclude(decision(await call("Edit", { a: 1 }, "2")), {
      permissionDecision: "allow",
      updatedInput: { a: 2 }
    })
    assert.deepInclude(decision(await call("Edit", { a: 1 }, "3")), {
      permissionDecision: "deny",
      permissionDecisionReason: "no"
    })
    assert.strictEqual(decision(await call("Edit", { a: 1 }, "4")).permissionDecision, "deny")
    assert.deepStrictEqual(asked, Array(4).fill("Edit: really?"))
    assert.deepStrictEqual(await guarded.session.pending(), [])
    const alone = kit([asks])
    assert.include(decision(await alone.call("Edit", {})).permissionDecisionReason, "give canUseTool")
  })

  it("guards sub-agents and their start, with the limits of the whole tree", async () => {
    const { call, fire } = kit([defineHook({
      name: "two-reads",
      preStop: ({ text }, ctx) => text === "half" ? ctx.followUp("and the rest?") : undefined,
      preDelegation: ({ agent }) => agent === "spy" ? HookAction.reject("no spies") : undefined,
      preToolCall: ({ name }, { state }) =>
        name === "Read" && Number(state.update("reads", (n) => Number(n ?? 0) + 1)) > 2
          ? HookAction.reject("no more")
          : undefined
    })])
    const start = (subagent_type: string, id: string) => call("Agent", { subagent_type, prompt: "look" }, id)
    assert.strictEqual(decision(await start("spy", "a")).permissionDecisionReason, "no spies")
    assert.notProperty(decision(await start("helper", "b")), "permissionDecision")
    const inner = { agent_id: "__proto__", agent_type: "helper" }
    await fire("SubagentStart", inner)
    assert.notProperty(decision(await call("Read", {}, "c")), "permissionDecision")
    assert.notProperty(decision(await call("Read", {}, "c", inner)), "permissionDecision")
    assert.strictEqual(decision(await call("Read", {}, "d", inner)).permissionDecisionReason, "no more")
    const half = await fire("SubagentStop", { ...inner, last_assistant_message: "half" })
    assert.deepStrictEqual(half, { decision: "block", reason: "and the rest?" })
    assert.notProperty(decision(await call("Grep", {}, "g", inner)), "permissionDecision")
    assert.deepStrictEqual(await fire("SubagentStop", { ...inner, last_assistant_message: "seen" }), {})
    assert.strictEqual(decision(await call("Read", {}, "e")).permissionDecisionReason, "no more")
  })

  it("denies if a hook throws or hangs, the store is broken, or the turn was cancelled", async () => {
    const throws = defineHook({
      name: "throws",
      kind: "policy",
      preToolCall: () => Promise.reject(new Error("broken"))
    })
    const hangs = defineHook({
      name: "hangs",
      kind: "policy",
      timeout: 30,
      preToolCall: () => new Promise<never>(() => {})
    })
    const store = { ...SessionStore.inMemory(), commit: () => Effect.fail("disk full") }
    for (const { call } of [kit([throws]), kit([hangs]), kit([], {}, { store })]) {
      assert.strictEqual(decision(await call("Read", {})).permissionDecision, "deny")
    }
    const { fire } = kit([])
    const input = { tool_name: "Read", tool_input: {}, tool_use_id: "1" }
    assert.strictEqual(decision(await fire("PreToolUse", input, AbortSignal.abort())).permissionDecision, "deny")
  })
})

describe("the settings of the hooks", () => {
  it("leave a person a day, and block where the guard fails or takes longer", () => {
    const { options } = kit([])
    const events = Object.entries(Object(options).hooks as Record<string, ReadonlyArray<object>>)
    assert.sameMembers(events.map(([event]) => event), [
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "PostToolUseFailure",
      "PostToolBatch",
      "Stop",
      "SubagentStart",
      "SubagentStop",
      "SessionEnd"
    ])
    for (const [event, matchers] of events) {
      assert.lengthOf(matchers, 1)
      assert.include(matchers[0], { timeout: 86_400, onFailure: "block" }, event)
      assert.notProperty(matchers[0], "matcher", event)
    }
  })
})

describe("what cannot be guarded in the Claude Agent SDK", () => {
  it("is refused by name: requests to the model, and other hooks that could change calls", () => {
    const hooks = [defineHook({ name: "keeper", kind: "policy", postLlmCall: () => HookAction.abort("no") })]
    assert.throws(
      () => ClaudeAgent.make(Guard.make({ hooks, log: false })),
      /claude-agent-sdk cannot enforce keeper at postLlmCall \(never reached\).*allowUnguarded/
    )
    const late = [defineHook({ name: "late", kind: "policy", postTurn: () => HookAction.reject("no") })]
    assert.throws(
      () => ClaudeAgent.make(Guard.make({ hooks: late, log: false })),
      /cannot enforce late at postTurn \(only observed\)/
    )
    for (const event of ["PreToolUse", "PostToolUse"]) {
      assert.throws(() => kit([], { hooks: { [event]: [] } }), /another hook can change/)
      assert.doesNotThrow(() => kit([], { hooks: { [event]: [] } }, { allowUnguarded: [event] }))
    }
    assert.throws(() => ClaudeAgent.make(Guard.make()).options(kit([]).options), /another hook can change/)
  })

  it("does not run: a call whose arguments somebody changes after the guard has allowed it", async () => {
    const canUseTool = () => Promise.resolve({ behavior: "allow", updatedInput: { a: 2 } })
    const { options } = kit([], { canUseTool })
    const answer = await Object(options).canUseTool("Edit", { a: 1 }, {})
    assert.strictEqual(answer.behavior, "deny")
  })
})
