/**
 * Personal data from the user, a tool and memory reaches the listed tools and the user. It appears in no other place, such
 * as logs, records or stored sessions.
 */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { AgentHook } from "@belay/core/AgentHook"
import * as AgentRuntime from "@belay/core/AgentRuntime"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { names as points } from "@belay/core/HookPoint"
import { explain } from "@belay/core/HookRecord"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import * as ProviderError from "@belay/core/ProviderError"
import type { RunResult } from "@belay/core/RunResult"
import type { RunState } from "@belay/core/RunState"
import type { Commit } from "@belay/core/SessionStore"
import * as Approval from "@belay/hooks/Approval"
import * as AuditLog from "@belay/hooks/AuditLog"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as Redaction from "@belay/hooks/Redaction"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import { inspect } from "node:util"
import { asks, type Line, scripted } from "./support/guarded.ts"

const mail = "ada.canary@example.com"
const card = "4111 1111 1111 1111"
const recalled = "bob.canary@example.org"
const invented = "eve.canary@example.net"
/** Parts that only the values contain. */
const traces = ["canary", "4111 1111", "41111111"]

const all = (value: unknown): string =>
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: null, maxArrayLength: null, getters: true })

/** Renders a value as JSON, or returns why that fails. */
const serialised = (value: unknown): string => {
  try {
    return JSON.stringify(value)
  } catch (error) {
    return failure(error)
  }
}

/** Renders all parts of an error: fields, causes and stacks. */
const failure = (error: unknown): string =>
  `${all(error)} ${error instanceof Error ? `${error.message} ${error.stack} ${all(error.cause)}` : ""}`

const seen: { [sink: string]: Array<string> } = {}
const put = (sink: string, value: unknown): void =>
  void (seen[sink] ??= []).push(typeof value === "string" ? value : JSON.stringify(value) ?? String(value))

const revealed: Array<unknown> = []
const input = Schema.Struct({ to: Schema.String })
const tools = [
  defineTool({
    name: "send_mail",
    description: "Sends a mail",
    input,
    execute: (args) => {
      revealed.push(args)
      return `sent to ${args.to}, paid with ${card}`
    }
  }),
  defineTool({
    name: "send_broken",
    description: "Fails",
    input,
    execute: ({ to }) => Promise.reject(new Error(`cannot reach ${to}`, { cause: new Error(to) }))
  }),
  defineTool({
    name: "look_up",
    description: "Looks somebody up",
    input,
    execute: (args) => {
      put("arguments of a tool that is not on the list", args)
      return { [mail]: { card: 4111111111111111 }, note: `${args.to} is ${mail}` }
    }
  })
]

/** A hook that reports every event that it receives, in every way that a hook has. */
const spy: AgentHook = {
  name: "spy",
  kind: "advisory",
  ...Object.fromEntries(
    points.map((point) => [point, (event: unknown, ctx: Parameters<NonNullable<AgentHook["preTurn"]>>[1]) => {
      put(`what later hooks receive at ${point}`, event)
      put("hook state as hooks read it", ctx.state.get(CostTracker.exactCost("cost-tracker")))
      if (point === "postToolCall" || point === "preTurn") {
        ctx.warn(`warned of ${JSON.stringify(event)}`)
        ctx.notifyUser(`noticed ${JSON.stringify(event)}`)
        ctx.inject(`injected ${JSON.stringify(event)}`)
        ctx.events.emit("spy", JSON.parse(JSON.stringify(event)))
      }
      if (point === "preStop" && (event as { followUps: number }).followUps === 0) {
        ctx.followUp(`followed up on ${JSON.stringify(event)}`)
      }
      return undefined
    }])
  ),
  wrapToolCall: (call, next) => {
    put("what other wrappers receive", call)
    return Effect.tap(next(call), (result) => Effect.sync(() => put("what other wrappers get back", result)))
  }
}
const changer: AgentHook = {
  name: "changer",
  priority: 300,
  preTurn: (turn) => ({ _tag: "Transform", value: { ...turn, message: `${turn.message}!` } }),
  postToolCall: ({ result }) => ({
    _tag: "Transform",
    value: result.ok ? { ok: true, output: [result.output] } : result
  })
}

const memory = {
  preTurnContext: (turn: unknown) => {
    put("memory calls", turn)
    return Effect.succeed<ReadonlyArray<Message>>([{ role: "user", content: `the user knows ${recalled}` }])
  },
  postTurnObserve: (...turn: ReadonlyArray<unknown>) => Effect.sync(() => put("memory calls", turn))
}

const stored = new Map<string, RunState>()
const store = {
  commit: ({ snapshot }: Commit) =>
    Effect.sync(() => {
      const state = snapshot()
      put("session store", state)
      stored.set(state.sessionId, state)
    }),
  load: (id: string) => Effect.sync(() => stored.get(id))
}

const build = (
  lines: ReadonlyArray<Line>,
  more: { readonly approve?: boolean; readonly hooks?: ReadonlyArray<AgentHook>; readonly memory?: boolean } = {}
) => {
  const model = scripted(lines, 3)
  const redaction = Redaction.make({ revealTo: "send_*", vault: { key: new Uint8Array(32).fill(1) } })
  const approval = Approval.make({
    tools: more.approve === true ? "send_mail" : "none",
    reason: ({ args }) => `may it use ${JSON.stringify(args)}?`
  })
  const hooks = [
    redaction,
    approval,
    AuditLog.make({ content: true, sink: (entry) => put("audit log", entry) }),
    CostTracker.make({ costPerInputToken: 0.1, costPerOutputToken: 0.1 }),
    changer,
    spy,
    ...more.hooks ?? []
  ]
  const provider = {
    ...model.provider,
    complete: (request: LlmRequest) => {
      put("provider requests: messages", request.messages)
      put("provider requests: instructions", request.instructions)
      put("provider requests: tools", request.tools)
      return model.provider.complete(request)
    },
    stream: (request: LlmRequest, sink: Parameters<NonNullable<typeof model.provider.stream>>[1]) => {
      put("provider requests: messages", request.messages)
      put("provider requests: instructions", request.instructions)
      put("provider requests: tools", request.tools)
      return model.provider.stream!(request, sink)
    }
  }
  return {
    redaction,
    config: {
      provider,
      tools,
      hooks,
      store,
      records: true,
      instructions: "You help people",
      ...(more.memory === false ? {} : { memory })
    }
  }
}

const told = (event: AgentEvent): void => {
  put(`events: ${event.type}`, event)
  if (event.type === "text-delta") put("text of the stream", event.text)
}

const results: Array<RunResult> = []
const finish = (result: RunResult): void => {
  results.push(result)
  put("messages of the result", result.messages)
  put("records", result.records)
  put("explained records", explain(result.records))
  if (result.status !== "suspended") return
  put("snapshot", result.snapshot)
  put("hook state in the snapshot", result.snapshot.hookState)
  for (const { args, details, fingerprint, reason } of result.pending) {
    put("pending question: arguments", args)
    put("pending question: details", details ?? null)
    put("pending question: fingerprint", fingerprint)
    put("pending question: reason", reason)
  }
}

const failing = async (lines: ReadonlyArray<Line>, hooks: ReadonlyArray<AgentHook>, sink: string) => {
  const { config } = build(lines, { hooks })
  await using agent = createAgent(config)
  agent.on(told)
  await agent.run(`I am ${mail}`).then(
    () => assert.fail(`${sink}: expected a failure`),
    (error: unknown) => put(sink, failure(error))
  )
}

beforeAll(async () => {
  const logger = Logger.make<unknown, void>(({ cause, message }) =>
    put("log lines", `${String(message)} ${all(cause)}`)
  )
  const script: ReadonlyArray<Line> = [
    asks(["send_mail", { to: "<EMAIL_1>" }], ["send_broken", { to: "<EMAIL_1>" }], ["look_up", { to: "<EMAIL_1>" }], [
      "look_up",
      {
        to: invented
      }
    ]),
    { text: `I wrote to <EMAIL_1>, not to ${invented}, ${"so ".repeat(120)}`, reasoning: `not ${invented}` },
    "That is all, <EMAIL_1>."
  ]

  // One run that is suspended, and finished by another agent.
  {
    const { config, redaction } = build(script, { approve: true })
    await using agent = createAgent(config)
    agent.on(told)
    const session = await agent.session()
    const first = await session.run(`I am ${mail} and pay with ${card}`, {})
    finish(first)
    if (first.status !== "suspended") return assert.fail(first.status)
    for (const [sink, value] of Object.entries({ hook: redaction, agent, session })) {
      put(`inspected ${sink}`, all(value))
      put(`serialised ${sink}`, serialised(value))
    }
    const other = build(script.slice(1), { approve: true })
    await using heir = createAgent(other.config)
    heir.on(told)
    finish(await heir.resume(JSON.stringify(first.snapshot), { [first.pending[0]!.callId]: { type: "approve" } }))
  }
  // A stream, through the runtime and its logger.
  {
    const { config } = build(script)
    await Effect.runPromise(
      Effect.scoped(Effect.gen(function*() {
        const runtime = yield* AgentRuntime.make(config)
        const stop = runtime.listen(told)
        finish(yield* runtime.run(`I am ${mail} and pay with ${card}`))
        stop()
        put("metrics", JSON.stringify(yield* Metric.snapshot))
      })).pipe(Effect.provide(Logger.layer([logger])))
    )
  }
  // A denial, a compaction, an answer that is data.
  {
    const deny: AgentHook = {
      name: "deny",
      tools: "send_mail",
      preToolCall: ({ args }) => ({ _tag: "Reject", reason: `not for ${JSON.stringify(args)}` })
    }
    const { config } = build([asks(["send_mail", { to: "<EMAIL_1>" }]), "denied", "and on", "and on"], {
      hooks: [deny]
    })
    await using agent = createAgent({ ...config, window: { tokens: 100_000, maxMessages: 4, keepRecent: 1 } })
    agent.on(told)
    const session = await agent.session()
    finish(await session.run(`I am ${mail}. ${"Please remember. ".repeat(40)}`))
    finish(await session.run(`again ${mail}`))
  }
  {
    const schema = Schema.Struct({ to: Schema.String })
    const { config } = build([JSON.stringify({ to: "<EMAIL_1>" }), JSON.stringify({ to: "<EMAIL_1>" })])
    await using agent = createAgent({ ...config, output: { schema } })
    agent.on(told)
    const result = await agent.run(`I am ${mail}`)
    finish(result)
    revealed.push(result.status === "completed" ? result.object : undefined)
  }
  // Failures that quote what they know.
  const last = (request: LlmRequest) => JSON.stringify(request.messages)
  await failing([new ProviderError.InvalidRequest({ provider: "scripted", message: "no" })], [], "error of a provider")
  await failing([new ProviderError.InvalidRequest({ provider: "scripted", message: "no" })], [{
    name: "quoting",
    onLlmError: ({ request }) => ({ _tag: "Reject", reason: last(request) })
  }], "error of a provider")
  await failing(["hi"], [{
    name: "broken",
    failOpen: false,
    postLlmCall: ({ request }) => {
      throw new Error(last(request), { cause: request })
    }
  }], "error of a hook")
  await failing(
    ["hi"],
    [{ name: "strict", preTurn: ({ message }) => ({ _tag: "Reject", reason: `not ${message}` }) }],
    "error of a rejection"
  )
})

describe("a canary value", () => {
  it("reaches the listed tools and the user", () => {
    assert.deepInclude(revealed, { to: mail })
    assert.isTrue(results.some(({ text }) => text.includes(mail)))
    assert.isTrue(
      results.some((result) =>
        result.status === "completed" && JSON.stringify(result.object) === JSON.stringify({ to: mail })
      )
    )
  })

  const events: ReadonlyArray<AgentEvent["type"]> = [
    "session-start",
    "session-end",
    "turn-start",
    "turn-end",
    "llm-start",
    "text-delta",
    "reasoning-delta",
    "tool-call-delta",
    "llm-end",
    "llm-error",
    "tool-start",
    "tool-end",
    "tool-denied",
    "ask",
    "decided",
    "hook",
    "hook-failed",
    "inject",
    "warning",
    "notice",
    "follow-up",
    "compaction",
    "custom"
  ]
  const sinks: ReadonlyArray<string> = [
    ...events.map((type) => `events: ${type}`),
    "text of the stream",
    "records",
    "explained records",
    "log lines",
    "snapshot",
    "session store",
    "hook state in the snapshot",
    "hook state as hooks read it",
    "audit log",
    "error of a provider",
    "error of a hook",
    "error of a rejection",
    "pending question: arguments",
    "pending question: details",
    "pending question: fingerprint",
    "pending question: reason",
    "messages of the result",
    "memory calls",
    "provider requests: messages",
    "provider requests: instructions",
    "provider requests: tools",
    "arguments of a tool that is not on the list",
    "what other wrappers receive",
    "what other wrappers get back",
    "metrics",
    ...["hook", "agent", "session"].flatMap((thing) => [`inspected ${thing}`, `serialised ${thing}`]),
    ...[
      "preTurn",
      "postTurn",
      "preToolCall",
      "postToolCall",
      "postLlmCall",
      "onToolDenied",
      "preCompaction",
      "postCompaction",
      "preStop",
      "onTurnError"
    ]
      .map((point) => `what later hooks receive at ${point}`)
  ]

  it.each(sinks)("does not appear in %s", (sink) => {
    const text = (seen[sink] ?? []).join(sink === "text of the stream" ? "" : "\n")
    assert.notStrictEqual(text, "", "nothing came here")
    for (const trace of traces) assert.notInclude(text, trace)
  })
})
