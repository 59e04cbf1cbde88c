/** Turns with events that are rare, such as a text that is taken back. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { Message } from "@belay/core/Message"
import type { PendingAsk } from "@belay/core/RunState"
import type { Outcome } from "@belay/server/Outcome"

export const token = `c${"A".repeat(22)}`
const usage = { inputTokens: 3, outputTokens: 4, cachedTokens: 1, reasoningTokens: 2 }

/** Events as a host has them, in their order. */
const events = (...all: ReadonlyArray<object>): ReadonlyArray<AgentEvent> =>
  all.map((event, index) => ({ seq: index + 1, ...event }) as never)

const call = (id: string, args: object = { a: 1 }, more: object = {}) => ({ id, name: "look", args, ...more })
const start = { type: "llm-start", stepNumber: 1, attempt: 1 }
const end = { type: "llm-end", finishReason: "stop" }
const text = (words: string) => ({ type: "text-delta", text: words })
const thought = (words: string) => ({ type: "reasoning-delta", text: words })
const ended = (id: string, output: unknown = "seen", more: object = {}) => ({
  type: "tool-end",
  call: call(id),
  result: { ok: true, output },
  ...more
})
const hook = (record: object) => ({ type: "hook", record: { point: "preToolCall", hooks: [], ...record } })
const ask = (callId: string, more: object = {}): PendingAsk =>
  ({
    callId,
    tool: "send",
    args: { to: "ada" },
    by: "gate",
    reason: "is it right?",
    fingerprint: "f",
    ...more
  }) as never

const done: Outcome = { status: "completed", turnNumber: 1, text: "whole", usage }
const files: ReadonlyArray<Message> = [{
  role: "assistant",
  content: "whole",
  files: [{ type: "file", mediaType: "image/png", url: "https://example.com/a.png" }],
  citations: [{ url: "https://example.com/1" }, { title: "no address" }, { url: "https://example.com/2", title: "two" }]
}] as never

/** What happens in a turn, its outcome, and the messages of the conversation afterwards. */
export const turns: {
  readonly [what: string]: readonly [
    events: ReadonlyArray<AgentEvent>,
    outcome?: Outcome,
    messages?: ReadonlyArray<Message>
  ]
} = {
  "reasoning before a text": [events(start, thought("h"), thought("m"), text("o"), text("k"), end), done],
  "a text before reasoning": [events(start, text("a"), thought("h"), end), done],
  "empty deltas": [events(start, text(""), thought(""), end), done],
  "a text that is taken back": [
    events(start, text("wrong"), { type: "retract" }, start, text("right"), end, { type: "retract" }),
    done
  ],
  "another attempt of the same call": [
    events(start, { type: "llm-start", stepNumber: 1, attempt: 2 }, text("a"), end),
    done
  ],
  "a turn that another process continues": [
    events(
      { type: "turn-start", resumed: false },
      start,
      text("a"),
      { type: "turn-start", resumed: true },
      start,
      text("b"),
      end
    ),
    done
  ],
  "two calls of the model": [events(start, text("a"), end, { ...start, stepNumber: 2 }, text("b"), end), done],
  "an answer that was cut off": [events(start, text("a"), { ...end, finishReason: "length" }), done],
  "an answer that was filtered": [events(start, text("a"), { ...end, finishReason: "content-filter" }), done],
  "a tool with progress": [
    events(
      start,
      text("a"),
      end,
      { type: "tool-progress", callId: "c1", value: "early" },
      { type: "tool-start", call: call("c1") },
      { type: "tool-progress", callId: "c1", value: { done: 1 } },
      ended("c1", { found: [1, 2] }),
      start,
      text("b"),
      end
    ),
    done
  ],
  "a tool without a text after it": [events(start, text("a"), end, ended("c1")), done],
  "long values": [events(ended("c1", { text: "x".repeat(40) }, { call: call("c1", { text: "y".repeat(40) }) })), done],
  "a tool without arguments": [events(ended("c1", null, { call: { id: "c1", name: "look", args: null } })), done],
  "a tool that fails": [events(ended("c1", "", { result: { ok: false, error: "no disk" } })), done],
  "a tool that is not finished, and one of the client": [
    events(ended("c1", "", { unfinished: true }), ended("c2", "", { client: true })),
    done
  ],
  "arguments that a hook changed": [
    events({ type: "tool-start", call: call("c1", {}, { changed: { by: ["edits"] } }) }, ended("c1")),
    done
  ],
  "denied calls": [
    events(
      { type: "tool-denied", call: call("c1"), by: "person", reason: "not now" },
      { type: "tool-denied", call: call("c2"), by: "gate", reason: "never" },
      { type: "tool-denied", call: call("c3"), by: "gate", reason: "its own", client: true }
    ),
    done
  ],
  "decisions of hooks": [
    events(
      hook({ action: "Continue", subject: "s" }),
      hook({
        action: "Reject",
        callId: "c1",
        subject: "s",
        decidedBy: "gate",
        hooks: [{ hook: "other", why: "a" }, { hook: "gate", why: "b" }]
      }),
      { ...hook({ action: "Ask", decidedBy: "gate", subject: "s" }), parent: "c9" }
    ),
    done
  ],
  "what a sub-agent does": [
    events(
      ...[start, text("inner"), thought("inner"), end, ended("c1"), { type: "retract" }].map((one) => ({
        ...one,
        parent: "c9"
      }))
    ),
    done
  ],
  "an answer of a hook": [[], done],
  "no answer": [events(start, end), { ...done, text: "" }],
  "files and sources": [events(start, text("whole"), end), done, files],
  "files of an earlier answer": [events(start, text("whole"), end), done, [...files, {
    role: "user",
    content: "more"
  }]],
  "a limit": [events(start, text("a"), end), { ...done, status: "limited", limit: "steps", used: 2, max: 1 }, files],
  "a limit without a text": [[], { ...done, status: "limited", limit: "steps", used: 2, max: 1 }],
  "a hook that ends the turn": [[], { ...done, status: "aborted", by: "gate", reason: "enough" }],
  "a question": [events(start, text("a"), end), { ...done, status: "suspended", pending: [ask("c1")] }],
  "a question without a text": [[], { ...done, status: "suspended", pending: [ask("c1", { args: "all" })] }],
  "a question that expires, with details": [[], {
    ...done,
    status: "suspended",
    pending: [
      ask("c1", { expiresAt: 0, details: { d: 1 }, reasons: [{ by: "gate", reason: "r" }], allowed: ["approve"] })
    ]
  }],
  "two questions": [[], { ...done, status: "suspended", pending: [ask("c1"), ask("c2")] }],
  "calls of the client's tools": [events(start, text("a"), end), {
    ...done,
    status: "suspended",
    pending: [ask("c1", { client: true }), ask("c2", { client: true, args: "text" })]
  }],
  "a question and a call of the client's tools": [[], {
    ...done,
    status: "suspended",
    pending: [ask("c1"), ask("c2", { client: true })]
  }],
  "a message that a running turn has received": [[], { status: "delivered" } as never],
  "a turn that was cancelled": [events(start, text("a")), { status: "cancelled" } as never],
  "a turn that failed": [
    events(start, text("a")),
    { status: "failed", error: { _tag: "Overloaded", message: "x" } } as never
  ],
  "a stream without an end": [events(start, text("a"))]
}
