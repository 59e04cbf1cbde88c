/** What a request does at the host, letter by letter: for every state that a session can be in, and every protocol. */
import type { PendingAsk } from "@belay/core/RunState"
import * as AgUi from "@belay/server/AgUi"
import type { Conversation } from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { assert, describe, expect, it } from "vitest"
import { questionOf } from "../../../src/serve/internal/chat/writeChat.ts"
import { askIdOf, clientCallIdOf, tokenOf } from "../../../src/serve/internal/identity.ts"
import { plain } from "../support/plain.ts"
import { ada } from "../support/requests.ts"

type Given = Partial<Conversation> | undefined

const question: PendingAsk = {
  callId: "c1",
  tool: "delete",
  args: { file: "a" },
  by: "gate",
  reason: "really?"
} as never
const placed: PendingAsk = { callId: "c2", tool: "place", args: {}, by: "client", reason: "", client: true } as never
const people = (...pending: ReadonlyArray<PendingAsk>) =>
  ({ waiting: { type: "people", turnNumber: 3, pending }, lastEvent: 7 }) as const
const open = (key: string, kind: string, status: string) => ({ key, kind, status }) as never
const began = { role: "user", content: "The state of the application: 1", source: "client" } as const

/** The states of a session. */
const states: { readonly [name: string]: Given } = {
  "no session": undefined,
  "nothing runs": { messages: [began] },
  "a question": people(question),
  "a call of the client's tool": people(placed),
  "both, in a turn without a key": { ...people(question, placed), key: undefined } as never,
  "a turn that runs": { open: [open("k0", "steer", "waiting"), open("k1", "message", "begun")] },
  "a turn with a question, and messages after it": {
    open: [open("k1", "message", "suspended"), open("k2", "message", "waiting")]
  },
  "decisions that are being carried out": {
    open: [open("k1", "message", "suspended"), open("decide.7.x", "decide", "begun"), open("k2", "message", "waiting")]
  },
  "decisions of somebody else": { open: [open("mine", "decide", "begun")] }
}

/** The handlers of a host whose session is in this state. Every turn is over at once. `log` has what was called. */
const handlers = (state: Given, options: Partial<Serve.Options> = {}) => {
  const log: Array<string> = []
  const conversation = state === undefined
    ? undefined
    : { messages: [], turnNumber: 3, waiting: { type: "nothing" }, key: "k1", open: [], ...state }
  const call = (name: string, answer: unknown) => (...args: ReadonlyArray<unknown>) => {
    const told = args.map((arg) => JSON.stringify(arg, (_, value) => value instanceof AbortSignal ? undefined : value))
    log.push(`  ${name} ${told.join(" ")}`)
    return Promise.resolve(answer)
  }
  const host = {
    send: call("send", { key: "sent" }),
    decide: call("decide", { key: "sent" }),
    cancel: call("cancel", { key: "cancelled" }),
    conversation: () => Promise.resolve(conversation),
    status: () => Promise.resolve(state === undefined ? undefined : { status: "begun" }),
    result: call("result", { status: "delivered" }),
    events: async function*(_: string, { after, signal }: { after?: string; signal: AbortSignal }) {
      log.push(`  events ${after ?? ""}`)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
      yield* []
    }
  }
  const serve = Serve.make({
    host: host as never,
    authorize: () => "ada",
    clientTools: true,
    clientInstructions: true,
    ...options
  })
  const handle = Serve.route({
    "/v1/responses": OpenAiResponses.handler(serve),
    "/v1": OpenAiChat.handler(serve),
    "/api/chat": UiStream.handler(serve),
    "/ag-ui": AgUi.handler(serve)
  })
  return { log, handle }
}

type Sent = readonly [name: string, method: string, path: string, body?: object | undefined, headers?: object]

const user = { role: "user", content: "hello" }
const system = { role: "system", content: "be kind" }
const parts = [{ type: "text", text: "hello" }]
const message = { id: "m1", role: "user", parts }

/** What is sent, by protocol. Answers are sent with the ids of the questions, and with others. */
const requests = async (): Promise<{ readonly [protocol: string]: ReadonlyArray<Sent> }> => {
  const asking = { token: await tokenOf("name"), turnNumber: 3 }
  const [askId, callId] = [await askIdOf(asking, question), await clientCallIdOf(asking, placed)]
  const asked = { role: "assistant", content: await questionOf(asking, [question]) }
  const chat = (name: string, messages: ReadonlyArray<object>, headers: object = { "x-session-id": "name" }) =>
    [name, "POST", "/v1/chat/completions", { messages }, headers] as const
  const responses = (name: string, input: ReadonlyArray<object>, more: object = { conversation: "name" }) =>
    [name, "POST", "/v1/responses", { input, ...more }] as const
  const ui = (name: string, last: object, more: object = {}) =>
    [name, "POST", "/api/chat", { id: "name", messages: [last], ...more }] as const
  const agUi = (name: string, last: object, more: object = {}) =>
    [name, "POST", "/ag-ui", { threadId: "name", runId: "r1", messages: [last], ...more }] as const
  const approval = (id: string, approve: boolean) => ({
    type: "mcp_approval_response",
    approval_request_id: id,
    approve,
    ...(approve ? {} : { reason: "no" })
  })
  const toolPart = (part: object) => ({ id: "a1", role: "assistant", parts: [{ type: "tool-x", ...part }] })
  const answered = (id: string) => toolPart({ state: "approval-responded", approval: { id, approved: true } })
  const id = `resp_${asking.token}.${"x".repeat(22)}`
  return {
    chat: [
      chat("a message", [user]),
      chat("a message without a session", [system, { role: "assistant", content: "hi" }, user], {}),
      chat("a message with a key", [user], { "idempotency-key": "once" }),
      chat("yes", [user, asked, { role: "user", content: "yes" }], {}),
      chat("no", [user, asked, { role: "user", content: "no, thanks" }]),
      chat("a result", [{ role: "tool", tool_call_id: callId, content: "Bern" }], {}),
      chat("a result of nothing", [{ role: "tool", tool_call_id: "x", content: "Bern" }]),
      ["a message, as a stream", "POST", "/v1/chat/completions", { messages: [user], stream: true, user: "name" }]
    ],
    responses: [
      responses("a message", [system, user]),
      responses("a message without a session", [user], {}),
      responses("a message after a response", [user], { previous_response_id: id }),
      responses("an approval", [approval(askId, true)]),
      responses("a refusal", [approval(askId, false)]),
      responses("an approval of something else", [approval("x", true)]),
      responses("an approval of something else, and a message", [approval("x", true), user]),
      responses("a result", [{ type: "function_call_output", call_id: callId, output: "Bern" }]),
      ["a reader", "GET", `/v1/responses/${id}`],
      ["a reader of the stream", "GET", `/v1/responses/${id}?stream=true`],
      ["a reader of decisions", "GET", `/v1/responses/${id}.7?stream=true`],
      ["cancel", "POST", `/v1/responses/${id}/cancel`],
      ["cancel decisions", "POST", `/v1/responses/${id}.7/cancel`]
    ],
    ui: [
      ui("a message", message),
      ui("a message again", message, { trigger: "regenerate-message" }),
      ui("a message without an id", { role: "user", parts }),
      ui("an approval", answered(askId)),
      ui("an approval of something else", answered("x")),
      ui("a result", toolPart({ state: "output-available", toolCallId: callId, output: "Bern" })),
      ["the messages", "GET", "/api/chat/name"],
      ["the stream", "GET", "/api/chat/name/stream"],
      ["the rest of the stream", "GET", "/api/chat/name/stream", undefined, { "last-event-id": "5" }],
      ["cancel", "POST", "/api/chat/name/cancel"]
    ],
    "ag-ui": [
      agUi("a message", { id: "m1", ...user }),
      agUi("a message and a state", { id: "m1", ...user }, { state: 1 }),
      agUi("a message and another state", { id: "m1", ...user }, { state: 2 }),
      agUi("an approval", { role: "assistant", content: "x" }, {
        resume: [{ interruptId: askId, status: "resolved", payload: { approved: true, always: true } }]
      }),
      agUi("an approval of something else", { role: "assistant" }, { resume: [{ interruptId: "x" }] }),
      agUi("a result", { role: "tool", toolCallId: callId, content: "Bern" })
    ]
  }
}

const ask = async (handle: Serve.Handler, [, method, path, body, headers]: Sent): Promise<Response> =>
  await handle(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...ada, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  )

describe("what is called at the host", () => {
  it.each(["chat", "responses", "ui", "ag-ui"])("by %s is exactly this", async (protocol) => {
    const lines: Array<string> = []
    for (const [state, given] of Object.entries(states)) {
      lines.push(`# ${state}`)
      for (const sent of (await requests())[protocol]!) {
        const { handle, log } = handlers(given)
        const answer = await ask(handle, sent)
        const text = await answer.text()
        const isShort = answer.status >= 400 || protocol === "chat"
        lines.push(`${sent[0]}: ${answer.status}${isShort ? ` ${text.trim().replaceAll("\n", " ")}` : ""}`, ...log)
      }
      lines.push("")
    }
    await expect(plain(lines.join("\n"))).toMatchFileSnapshot(`../support/calls/${protocol}.txt`)
  })

  it.each<[name: string, state: Given, sent: number, log: ReadonlyArray<string>]>([
    ["a turn", states["nothing runs"], 0, ["cancel"]],
    ["decisions", states["a question"], 3, ["cancel"]],
    ["nothing, where it is not asked for", states["nothing runs"], 0, []]
  ])("when the reader leaves is the end of %s", async (name, state, sent, expected) => {
    const cancelOnDisconnect = !name.startsWith("nothing")
    const { handle, log } = handlers(state, { cancelOnDisconnect })
    const answer = await ask(handle, (await requests())["ui"]![sent]!)
    await answer.body!.cancel()
    await new Promise((resolve) => setTimeout(resolve, 1))
    const cancelled = log.filter((line) => line.startsWith("  cancel"))
    assert.deepEqual(cancelled.map((line) => line.trim().split(" ")[0]), [...expected])
    if (name === "decisions") assert.match(cancelled[0]!, / "k1"$/)
  })
})
