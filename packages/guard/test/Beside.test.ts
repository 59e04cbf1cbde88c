/** What is beside a call: how a tool shows its result, and the agent that may be behind it. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { Agent } from "@openai/agents"
import { generateText, tool } from "ai"
import * as z from "zod"
import * as Guard from "../src/Guard.ts"
import * as Mastra from "../src/Mastra.ts"
import * as OpenAiAgents from "../src/OpenAiAgents.ts"
import * as Strands from "../src/Strands.ts"
import { kit, stopWhen } from "./support/aiSdk.ts"
import { calls, lastPrompt, scripted } from "./support/model.ts"
import * as openAi from "./support/openAiAgents.ts"
import { events, sdk } from "./support/strands.ts"

const withholds = defineHook({
  name: "withholds",
  postToolCall: ({ result }) =>
    result.ok && JSON.stringify(result.output).includes("4711")
      ? HookAction.transform({ ok: true, output: "[withheld]" })
      : undefined
})

describe("a result that a hook has changed", () => {
  it("is shown as it is in the AI SDK, and others as the tool shows them", async () => {
    const picture = tool({
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }) => ({ text }),
      toModelOutput: ({ output }) => ({ type: "text", value: `picture of ${output.text.toUpperCase()}` })
    })
    const { guarded } = kit([withholds])
    const model = scripted(calls(["picture", { text: "a cat" }], ["picture", { text: "4711" }]))
    await generateText(guarded.settings({ model, tools: { picture }, stopWhen, prompt: "go" }))
    const prompt = lastPrompt(model)
    assert.include(prompt, "picture of A CAT")
    assert.include(prompt, "{\"type\":\"text\",\"value\":\"[withheld]\"}")
    assert.lengthOf(prompt.split("picture of").slice(1), 1)
  })

  it("is shown as it is in Mastra, and others as the tool shows them", async () => {
    const guarded = Mastra.make(Guard.make({ hooks: [withholds], log: false }))
    const { picture } = guarded.tools({
      picture: {
        execute: ({ text }: { readonly text: string }): unknown => ({ text }),
        toModelOutput: (output: unknown) => `picture of ${Object(output).text}`
      }
    })
    assert.strictEqual(picture.toModelOutput(await picture.execute({ text: "a cat" })), "picture of a cat")
    assert.deepStrictEqual<unknown>(picture.toModelOutput(await picture.execute({ text: "4711" })), {
      type: "text",
      value: "[withheld]"
    })
  })
})

describe("an agent behind a tool", () => {
  const hooks = [defineHook({ name: "careful", kind: "policy", preToolCall: () => HookAction.reject("no") })]

  it("is refused by name in the OpenAI Agents SDK, unless it is guarded or the gap is accepted", () => {
    const guard = Guard.make({ hooks, log: false })
    const guarded = OpenAiAgents.make(guard)
    const child = new Agent({ name: "child", model: new openAi.ScriptedModel() })
    const lead = (agent: typeof child, one = guarded) =>
      one.agent(
        new Agent({ name: "lead", tools: [agent.asTool({ toolName: "ask_child", toolDescription: "Asks" })] })
      )
    assert.throws(() => lead(child), /tools.ask_child: the agent behind it is not guarded/)
    const below = OpenAiAgents.make(guard, { parent: guarded.session })
    assert.doesNotThrow(() => lead(below.agent(child)))
    const open = OpenAiAgents.make(Guard.make({ hooks, log: false, allowUnguarded: ["ask_child"] }))
    assert.doesNotThrow(() => lead(child, open))
  })

  it("does not run in Strands, unless it is guarded", async () => {
    const guard = Guard.make({ log: false })
    const guarded = Strands.make(guard)
    const { before } = events(guarded)
    const agent = (plugin?: Strands.StrandsPlugin) => {
      const made = { addHook: () => {}, initialize: () => Promise.resolve(plugin?.initAgent(made)) }
      return made
    }
    assert.include(String((await before("ask", {}, "1", undefined, { agent: agent() })).cancel), "is not guarded")
    const below = Strands.make(guard, { parent: guarded.session }).plugin(sdk)
    assert.isFalse((await before("ask", {}, "2", undefined, { agent: agent(below) })).cancel)
  })
})
