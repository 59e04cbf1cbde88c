import { assert, describe, it } from "@effect/vitest"
import type { PendingAsk, Remember } from "../../../src/data/RunState.ts"
import { success } from "../../../src/data/tool/Tool.ts"
import {
  everyHook,
  isSettled,
  nextState,
  planned,
  type ToolCallEvent,
  type ToolCallState
} from "../../../src/guard/internal/state/toolCallState.ts"
import { fingerprint } from "../../../src/hook/HookChain.ts"

const call = { id: "1", name: "deploy", args: { to: "test" } }
const ask: PendingAsk = {
  callId: "1",
  tool: "deploy",
  args: call.args,
  by: "gate",
  reason: "deploy?",
  fingerprint: fingerprint("deploy", call.args)
}
const result = success("deployed")

/** A state of each status, reached by events alone. */
const states: { readonly [S in ToolCallState["status"]]: ToolCallState } = {
  planned: planned(call),
  asked: nextState(planned(call), { type: "ask", ask }),
  decided: nextState(nextState(planned(call), { type: "ask", ask }), { type: "decide", decision: { type: "approve" } }),
  started: nextState(planned(call), { type: "start" }),
  done: nextState(planned(call), { type: "finish", result })
}

const events: { readonly [E in ToolCallEvent["type"]]: Extract<ToolCallEvent, { readonly type: E }> } = {
  ask: { type: "ask", ask },
  decide: { type: "decide", decision: { type: "approve" } },
  remembered: { type: "remembered" },
  "decide-inside": { type: "decide-inside" },
  settle: { type: "settle", answer: { hook: everyHook, fingerprint: "x" } },
  change: { type: "change", by: "hook" },
  allow: { type: "allow" },
  start: { type: "start" },
  wait: { type: "wait" },
  transfer: { type: "transfer", transfer: { text: "here" } },
  rebuild: { type: "rebuild" },
  finish: { type: "finish", result }
}

/** The status after each event; an event that is not here changes nothing. */
const table: {
  readonly [S in ToolCallState["status"]]: { readonly [E in ToolCallEvent["type"]]?: ToolCallState["status"] }
} = {
  planned: {
    ask: "asked",
    allow: "decided",
    start: "started",
    finish: "done",
    settle: "planned",
    change: "planned",
    transfer: "planned",
    rebuild: "planned"
  },
  asked: {
    decide: "decided",
    remembered: "decided",
    "decide-inside": "decided",
    finish: "done",
    settle: "asked",
    change: "asked",
    transfer: "asked",
    rebuild: "asked"
  },
  decided: {
    ask: "asked",
    allow: "decided",
    start: "started",
    wait: "asked",
    finish: "done",
    settle: "decided",
    change: "decided",
    transfer: "decided",
    rebuild: "decided"
  },
  started: {
    ask: "asked",
    allow: "decided",
    start: "started",
    wait: "asked",
    finish: "done",
    settle: "started",
    change: "started",
    transfer: "started",
    rebuild: "started"
  },
  done: {}
}

describe("the state of a tool call", () => {
  for (const [status, state] of Object.entries(states)) {
    for (const [name, event] of Object.entries(events)) {
      const expected = table[state.status][event.type]
      it(`${status} ${expected === undefined ? "ignores" : `becomes ${expected} with`} ${name}`, () => {
        const before = structuredClone(state)
        const after = nextState(state, event)
        assert.strictEqual(after.status, expected ?? state.status)
        if (expected === undefined) assert.strictEqual(after, state)
        assert.deepStrictEqual(state, before)
      })
    }
  }

  it("stays asked until the quorum has approved, and counts each approver once", () => {
    let state = nextState(planned(call), { type: "ask", ask: { ...ask, quorum: 2 } })
    for (const by of ["ada", "ada"]) state = nextState(state, { type: "decide", decision: { type: "approve", by } })
    assert.deepStrictEqual([state.status, state.ask?.approved], ["asked", ["ada"]])
    state = nextState(state, { type: "decide", decision: { type: "approve", by: "bob" } })
    assert.deepStrictEqual([state.status, state.ask?.approved], ["decided", ["ada", "bob"]])
  })

  it("counts no decision as a whole quorum, whoever it names", () => {
    for (const by of ["rule", "policy", "person", "*", "ada"]) {
      const asked = nextState(planned(call), { type: "ask", ask: { ...ask, quorum: 2 } })
      const state = nextState(asked, { type: "decide", decision: { type: "approve", by } })
      assert.strictEqual(state.status, "asked")
    }
  })

  it("remembers only what the whole quorum wants remembered, in the narrowest way", () => {
    const rule = (what: "tool" | "arguments", scope: "session" | "project") => ({ what, scope })
    const decide = (...all: ReadonlyArray<Remember | undefined>) =>
      all.reduce(
        (state, remember, index) =>
          nextState(state, {
            type: "decide",
            decision: { type: "approve", by: `p${index}`, ...(remember === undefined ? {} : { remember }) }
          }),
        nextState(planned(call), { type: "ask", ask: { ...ask, quorum: all.length } })
      ).ask?.remember
    assert.isUndefined(decide(rule("tool", "session"), undefined))
    assert.isUndefined(decide(undefined, rule("tool", "session")))
    assert.deepStrictEqual(decide(rule("tool", "project"), rule("tool", "project")), rule("tool", "project"))
    assert.deepStrictEqual(
      decide(rule("tool", "session"), rule("arguments", "project"), rule("tool", "project")),
      rule("arguments", "session")
    )
  })

  it("names other approvers when an answer delegates", () => {
    const state = nextState(states.asked, { type: "decide", decision: { type: "delegate", to: ["ada"] } })
    assert.deepStrictEqual([state.status, state.ask?.approvers], ["asked", ["ada"]])
  })

  it("remembers an approval for exactly these arguments, and no other answer", () => {
    const approved = nextState(states.asked, { type: "decide", decision: { type: "approve" } })
    assert.isTrue(isSettled(approved, "gate", () => ask.fingerprint))
    assert.isFalse(isSettled(approved, "gate", () => fingerprint("deploy", { to: "production" })))
    assert.isFalse(isSettled(approved, "other", () => ask.fingerprint))
    const denied = nextState(states.asked, { type: "decide", decision: { type: "deny", reason: "no" } })
    assert.isUndefined(denied.settled)
  })

  it("notes the arguments that run", () => {
    assert.deepInclude(nextState(planned(call), { type: "start", args: { to: "x" } }), { executedArgs: { to: "x" } })
  })
})
