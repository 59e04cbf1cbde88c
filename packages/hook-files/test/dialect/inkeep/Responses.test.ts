/** What is read in the answers of attached hooks at every point, letter by letter. */
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { messagesOf, payload, points, read, refusalOf } from "../../../src/dialect/inkeep/response.ts"

const words = ["proceed", "block", "abort"]
const others = ["allow", "continue", "ok", "pass", "approve", "passthrough", "deny", "reject", "skip", "respond"]
const more = ["stop", "terminate", "fail", "end", "Proceed", "abor", "blck", "xyz", "x".repeat(200)]
const circle: { [field: string]: unknown } = {}
circle["self"] = circle

const answers: ReadonlyArray<unknown> = [
  undefined,
  null,
  "proceed",
  [],
  "x".repeat(200),
  () => 0,
  {},
  { proceed: true },
  { proceed: false },
  { proceed: false, reason: "r" },
  { proceed: false, reason: "" },
  { proceed: false, reason: 1 },
  { proceed: false, action: "proceed" },
  { reason: "r" },
  Object.fromEntries([..."abcdefghijkl"].map((name) => [name, 1])),
  ...[...words, ...others, ...more].map((action) => ({ action })),
  ...words.flatMap((action) => [
    ...["args", "result", "payload"].flatMap((key) => [
      { action, [key]: { a: 1 } },
      { action, [key]: null },
      { action, [key]: undefined },
      { action, [key]: circle }
    ]),
    { action, reason: "r" },
    { action, reason: "" },
    { action, reason: 1 },
    { action, reason: "r".repeat(10_001) },
    { action, other: 1 }
  ])
]

const shown = (value: unknown): string => {
  const text = value === undefined ? "undefined" : typeof value === "function" ? "a function" : JSON.stringify(
    value,
    (_, one: unknown) => one === circle ? "CIRCLE" : one === undefined ? "UNDEFINED" : one
  )
  return text.length > 300 ? `${text.slice(0, 60)}… (${text.length})` : text
}

const payloads: ReadonlyArray<unknown> = [
  {},
  [],
  null,
  { message: "m", systemPrompt: "s", additionalContext: "c", messages: [{ role: "user", content: "u" }], other: 1 },
  { additionalContext: ["a", "b"], messages: [{ role: "assistant", content: "u" }] },
  { message: 1 },
  { systemPrompt: 1 },
  { additionalContext: [1] },
  { messages: [{ role: "system", content: "u" }] },
  { messages: [{ role: "user", content: 1 }] }
]

describe("the response of an attached hook", () => {
  it("is exactly this at each point", async () => {
    const lines: Array<string> = []
    for (const point of points) {
      lines.push(`# ${point}`)
      for (const answer of answers) {
        const refusal = refusalOf(point, answer)
        lines.push(
          shown(answer),
          `  ${shown(Result.merge(read(point, answer)))}`,
          ...(refusal === undefined ? [] : [`  means ${shown(refusal)}`])
        )
      }
      lines.push("")
    }
    lines.push(
      "# payloads",
      ...payloads.flatMap((one) => [shown(one), `  ${shown(Result.merge(payload(one as never)))}`])
    )
    const said = [{ role: "user", content: "u" }, { role: "assistant", content: "a" }] as const
    lines.push("", "# messages", shown(messagesOf(said, "source")))
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./everything/responses.txt")
  })
})
