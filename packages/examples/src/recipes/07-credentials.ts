/**
 * The model writes `{{api_key}}`; the tool gets the key that the vault has for this tool and this name, and nobody else
 * ever sees it.
 */
import * as SessionStore from "@belay/core/SessionStore"
import type { ToolResult } from "@belay/core/Tool"
import { createAgent, defineHook, defineTool, HookAction, type Json } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as Effect from "effect/Effect"
import * as z from "zod"

const secret = "fake-key-0123456789"
const vault = new Map([["charge_card/api_key", secret], ["admin/api_key", "fake-key-of-admin"]])

type Pairs = ReadonlyArray<readonly [found: string, put: string]>
/** Replaces texts wherever they are in a value. */
const swap = (value: unknown, pairs: Pairs): unknown => {
  if (typeof value === "string") return pairs.reduce((text, [found, put]) => text.replaceAll(found, () => put), value)
  if (Array.isArray(value)) return value.map((item) => swap(item, pairs))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, swap(item, pairs)]))
}
const credentials = defineHook({
  name: "credentials",
  kind: "policy",
  confidential: true,
  wrapToolCall: (call, next) => {
    const asked = [...new Set(Array.from(JSON.stringify(call.args).matchAll(/\{\{(\w+)\}\}/g), ([, name]) => name!))]
    const missing = asked.find((name) => !vault.has(`${call.name}/${name}`))
    if (missing !== undefined) {
      return Effect.fail(HookAction.reject(`there is no credential ${missing} for ${call.name}`))
    }
    if (asked.length === 0) return next(call)
    const pairs: Pairs = asked.map((name) => [`{{${name}}}`, vault.get(`${call.name}/${name}`)!])
    const back: Pairs = pairs.map(([placeholder, value]) => [value, placeholder])
    // A tool may say the key again, in its result or its error: the placeholder takes its place.
    return Effect.map(
      next({ ...call, args: swap(call.args, pairs) as Json.Json }),
      (result) => swap(result, back) as ToolResult
    )
  }
})

const charged: Array<string> = []
const charge = defineTool({
  name: "charge_card",
  description: "Charge a card",
  input: z.object({ amount: z.number(), api_key: z.string() }),
  execute: ({ amount, api_key }) => {
    charged.push(api_key)
    if (amount > 100) throw new Error(`${api_key} may not charge ${amount}`)
    return { charged: amount, request: { headers: { authorization: `Bearer ${api_key}` } } }
  }
})
const refund = defineTool({ name: "refund", description: "Refund", input: z.object({}), execute: () => "refunded" })
const asking = defineHook({ name: "ask", tools: "refund", preToolCall: () => HookAction.ask("refund?") })

const calls = [{ amount: 5, api_key: "{{api_key}}" }, { amount: 500, api_key: "{{api_key}}" }, {
  amount: 1,
  api_key: "{{root_key}}"
}]
const provider = Scripted.make([
  ...calls.map((args) => Scripted.toolCalls({ name: "charge_card", args })),
  Scripted.toolCalls({ name: "refund" }),
  "done"
])
const events: Array<unknown> = []
const store = SessionStore.inMemory()
const agent = createAgent({
  provider,
  store,
  records: true,
  tools: [charge, refund],
  hooks: [credentials, asking]
})
agent.on((event) => void events.push(event))
const session = await agent.session({ id: "payments" })
const asked = await session.run("Charge the card")
const { messages, records } = await session.resume(
  Object.fromEntries(session.pending.map(({ callId }) => [callId, { type: "approve" }]))
)

console.log(`the tool was called ${charged.length} times, with the key: ${charged.every((key) => key === secret)}`)
for (const message of messages) {
  if (message.role === "tool") console.log(`the model reads: ${JSON.stringify(message.content)}`)
}
const kept = await Effect.runPromise(store.load("payments"))
const snapshot = asked.status === "suspended" ? asked.snapshot : undefined
for (
  const [name, seen] of Object.entries({
    context: provider.requests,
    transcript: messages,
    events,
    records,
    snapshot,
    store: kept
  })
) {
  const text = JSON.stringify(seen)
  console.log(
    `${name}: ${text.includes("{{api_key}}") ? "has the placeholder" : "has nothing"}, ${
      text.includes(secret) ? "HAS THE KEY" : "not the key"
    }`
  )
}
await agent.close()
