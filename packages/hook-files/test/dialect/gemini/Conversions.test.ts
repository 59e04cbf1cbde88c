/** Requests and answers of models in the format of Gemini CLI, and what changes of hooks make of them, to the letter. */
import { describe, expect, it } from "vitest"
import {
  answerOf,
  applyChanges,
  selectTools,
  toHookRequest,
  toHookResponse
} from "../../../src/dialect/gemini/model.ts"

const call = { id: "1", name: "bash", args: {} }
const file = { type: "file", mediaType: "text/plain", data: "eA==" }
const conversations = {
  none: [],
  plain: [{ role: "user", content: "u1" }, { role: "assistant", content: "a1" }, { role: "user", content: "u2" }],
  tools: [
    { role: "user", content: [{ type: "text", text: "u1" }, file] },
    { role: "assistant", content: "", toolCalls: [call] },
    { role: "tool", toolCallId: "1", toolName: "bash", content: "done" },
    { role: "assistant", content: "a1", toolCalls: [{ ...call, id: "2" }] },
    { role: "tool", toolCallId: "2", toolName: "bash", content: "done" },
    { role: "user", content: "u2" }
  ],
  head: [{ role: "user", content: "" }, { role: "user", content: "u1" }]
}
const said = (...texts: ReadonlyArray<string>) =>
  texts.map((content) => ({ role: { u: "user", a: "model", s: "system" }[content[0]!] ?? content, content }))

const wanted: ReadonlyArray<object> = [
  { messages: said("u1", "a1", "u2") },
  { messages: said("u9", "a9", "u8") },
  { messages: said("a1", "u1", "u2") },
  { messages: said("u1", "a1", "a2") },
  { messages: said("u1", "u2") },
  { messages: said("u2", "u1", "a1", "u9") },
  { messages: said("s1", "u1", "a1", "s2", "u2") },
  { messages: said("s1") },
  { messages: [] },
  { messages: "u1" },
  { messages: [1] },
  { messages: [{ role: "tool", content: "x" }] },
  { messages: [{ role: "user" }] },
  { messages: [{ role: "user", content: ["a", { text: "b" }, { other: 1 }, 3] }] },
  { model: "other" },
  { model: "" },
  { model: 1 },
  { config: { temperature: 0, topP: 1, maxOutputTokens: 5, stopSequences: ["a"], topK: null, other: 1 } },
  { config: { temperature: "0", topP: Infinity, maxOutputTokens: 0, stopSequences: ["a", 1] } },
  { config: { maxOutputTokens: 1.5, stopSequences: "a", ["x".repeat(100)]: 1 } },
  { config: 1 },
  {}
]

const line = (value: unknown) => JSON.stringify(value) ?? "nothing"

describe("the format of Gemini CLI", () => {
  it("of requests and their changes is exactly this", async () => {
    const lines: Array<string> = []
    for (const [name, messages] of Object.entries(conversations)) {
      const request = { messages, instructions: "i", parameters: { topP: 0.5 }, tools: [] } as never
      lines.push(`# ${name}`, line(toHookRequest(request)))
      for (const one of wanted) {
        const warnings: Array<string> = []
        const changed = applyChanges(request, one as never, (warning) => warnings.push(warning))
        const { instructions, messages: now, model, parameters } = changed
        lines.push(line(one), `  ${line({ model, instructions, parameters, messages: now })}`)
        lines.push(...warnings.map((warning) => `  ! ${warning}`))
      }
    }
    for (
      const parameters of [
        { temperature: 0, topP: 0, maxTokens: 1, stop: ["a"] },
        ...["auto", "none", "required", { tool: "bash" }].map((toolChoice) => ({ toolChoice }))
      ]
    ) lines.push(line(toHookRequest({ messages: [], model: "m", parameters, tools: [] } as never)))
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./everything/requests.txt")
  })

  it("of answers and tools is exactly this", async () => {
    const lines = ["stop", "tool-calls", "length", "content-filter", "other"].flatMap((finishReason) => [
      line(toHookResponse({ finishReason, text: "t", toolCalls: [] } as never)),
      line(
        toHookResponse(
          { finishReason, text: "", toolCalls: [call], usage: { inputTokens: 2, outputTokens: 3 } } as never
        )
      )
    ])
    const candidate = (content: unknown, finishReason?: string) => ({ candidates: [{ content, finishReason }] })
    for (
      const response of [
        {},
        { text: "t" },
        { text: "" },
        { text: 1 },
        { candidates: [] },
        { candidates: [1], text: "t" },
        candidate("c"),
        candidate("c", "MAX_TOKENS"),
        candidate("c", "SAFETY"),
        candidate("c", "OTHER"),
        candidate({ parts: ["a", { text: "b" }] }),
        { ...candidate({ parts: [] }), text: "t" },
        { ...candidate(["c"]), text: "t" }
      ]
    ) lines.push(`${line(response)}\n  ${line(answerOf(response as never))}`)
    const tools = ["a", "b"].map((name) => ({ name }))
    for (const toolChoice of [undefined, "auto", { tool: "a" }, { tool: "b" }]) {
      for (
        const selection of [{}, { mode: "NONE" }, { mode: "ANY" }, { mode: "AUTO", allowed: ["a"] }, {
          mode: "ANY",
          allowed: ["B"]
        }, { allowed: ["c"] }]
      ) {
        const request = {
          messages: [],
          tools,
          parameters: { topP: 1, ...(toolChoice === undefined ? {} : { toolChoice }) }
        }
        const { parameters, tools: left } = selectTools(
          request as never,
          selection as never,
          ({ name }) => [name, name.toUpperCase()]
        )
        lines.push(`${line(toolChoice)} ${line(selection)}: ${line(left)} ${line(parameters)}`)
      }
    }
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./everything/responses.txt")
  })
})
