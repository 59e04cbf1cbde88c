/** What entries of Gemini CLI read at every event, and what each of their answers does, letter by letter. */
import { assert, describe, expect, it } from "vitest"
import { differencesAlone, hasSameConversation, oneSession } from "../../support/alone.ts"
import { effects, forEachEvent, inputs, mainMoments, signalsOf, type World } from "../../support/everything.ts"

const world: World = {
  dialect: "gemini",
  files: {
    "home/.gemini/settings.json": {
      hooks: forEachEvent("gemini", (name) => ({ hooks: [{ type: "command", command: `run ${name}` }] }))
    }
  },
  eventOf: ({ command }) => command.replace(/^run /, ""),
  signals: signalsOf("gemini")
}

const answers = [
  { decision: "deny" },
  { decision: "deny", reason: "r" },
  { decision: "block", reason: "r" },
  { decision: "ask", reason: "r" },
  { decision: "allow" },
  { decision: "approve" },
  { decision: "other" },
  { decision: 1 },
  { continue: false },
  { continue: false, stopReason: "s" },
  { continue: "no" },
  { systemMessage: "m" },
  { systemMessage: "m", suppressOutput: true },
  { systemMessage: 1 },
  { hookSpecificOutput: { hookEventName: "$E", additionalContext: "c" } },
  { hookSpecificOutput: { hookEventName: "$E", additionalContext: "a < b" } },
  { hookSpecificOutput: { hookEventName: "$E", additionalContext: 1 } },
  { hookSpecificOutput: { hookEventName: "$E", tool_input: { command: "pwd" } } },
  { hookSpecificOutput: { hookEventName: "$E", tool_input: "pwd" } },
  { hookSpecificOutput: { hookEventName: "$E", tailToolCallRequest: { name: "look", args: { a: 1 } } } },
  { hookSpecificOutput: { hookEventName: "$E", tailToolCallRequest: { name: 1 } } },
  { hookSpecificOutput: { hookEventName: "$E", clearContext: true } },
  {
    hookSpecificOutput: {
      hookEventName: "$E",
      llm_request: { model: "other", messages: [{ role: "user", content: "x" }], config: { temperature: 0 } }
    }
  },
  { hookSpecificOutput: { hookEventName: "$E", llm_request: 1 } },
  {
    hookSpecificOutput: {
      hookEventName: "$E",
      llm_response: { candidates: [{ content: { role: "model", parts: ["new"] }, finishReason: "STOP" }] }
    }
  },
  { hookSpecificOutput: { hookEventName: "$E", llm_response: 1 } },
  { hookSpecificOutput: { hookEventName: "$E", toolConfig: { mode: "NONE" } } },
  { hookSpecificOutput: { hookEventName: "$E", toolConfig: { mode: "ANY", allowedFunctionNames: ["look"] } } },
  { hookSpecificOutput: { hookEventName: "$E", toolConfig: 1 } },
  { hookSpecificOutput: 1 },
  { unknown: 1 }
]

describe("Gemini CLI", () => {
  it("tells its entries exactly this", async () => {
    await expect(await inputs(world)).toMatchFileSnapshot("./everything/inputs.txt")
  })

  it("does exactly this with their answers", async () => {
    const at = [
      ...mainMoments,
      "a request to a model",
      "an answer of a model",
      "a tool that failed",
      "a result of an MCP tool",
      "a session that ends"
    ]
    await expect(await effects(world, at, answers)).toMatchFileSnapshot("./everything/effects.txt")
  })

  it("tells entries of one event the same without those of others", async () => {
    assert.deepEqual(await differencesAlone(world), [])
  })

  it("has exactly this conversation of a session", async () => {
    await expect(await oneSession(world)).toMatchFileSnapshot("./everything/session.txt")
    assert.deepEqual(await hasSameConversation(world), [])
  })
})
