/** The answers of the endpoint, in the order in which the suite asks. */
import type { ScriptEntry } from "@belay/testing/Endpoint"

const sum = { toolCalls: [{ name: "add", args: { a: 2, b: 3 } }] }
const limited = { status: 503, body: { error: { message: "overloaded" } } }

export const answers: ReadonlyArray<ScriptEntry> = [
  { text: "hello to you, é 😀" },
  { text: "a long story, ü" },
  sum,
  { text: "it is 5" },
  sum,
  { text: "I may not" },
  limited,
  limited,
  { text: "from the second one" },
  sum,
  { text: "approved: 5" },
  { toolCalls: [{ name: "ask_helper", args: { message: "hi" } }] },
  { text: "hi" },
  { text: "the helper says hi" },
  { text: "{\"city\":\"Bern\"}" },
  { chunks: [": waits\n\n", 5_000], end: "open" },
  { toolCalls: [...sum.toolCalls, { name: "add", args: { a: 1, b: 1 } }] },
  { text: "only once" }
]
