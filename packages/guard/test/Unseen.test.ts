/**
 * Values of calls that were made before anything untrusted was read need no question, if the guard sees everything that
 * the model reads. Where it does not, each value that nobody has named is asked about.
 */
import { DataFlow } from "@belay/hooks"
import { assert, describe, it } from "@effect/vitest"
import { Agent, tool as openAiTool, webSearchTool } from "@openai/agents"
import { generateText, isStepCount, tool } from "ai"
import { tool as langChainTool } from "langchain"
import * as z from "zod"
import * as AiSdk from "../src/AiSdk.ts"
import * as Guard from "../src/Guard.ts"
import * as LangChain from "../src/LangChain.ts"
import * as Mastra from "../src/Mastra.ts"
import * as OpenAiAgents from "../src/OpenAiAgents.ts"
import * as langChain from "./support/langChain.ts"
import * as ai from "./support/model.ts"
import * as openAi from "./support/openAiAgents.ts"
import { runners } from "./support/runners.ts"

const guard = () => Guard.make({ hooks: [DataFlow.make()], log: false })
const to = "petra@firm.example"
const seesAll = new Set(["AiSdk", "OpenAiAgents", "LangChain", "Mastra"])
const schema = z.object({ to: z.string() })

describe("a first call with a value that nobody has named", () => {
  it.each(runners)("is asked about unless the guard sees everything that is read: %s", async (name, run) => {
    const { ran, read } = await run(guard(), { name: "send_mail", text: to })
    assert.notInclude(read, "cannot enforce")
    assert.strictEqual(ran, seesAll.has(name) ? 1 : 0)
  })

  it("is asked about if the vendor searches: AiSdk", async () => {
    const search = {
      type: "provider",
      id: "vendor.search",
      isProviderExecuted: true,
      args: {},
      inputSchema: z.object({})
    }
    const tools = { send_mail: tool({ inputSchema: schema, execute: () => "sent" }) }
    const ask = (more: object) => {
      const guarded = AiSdk.make(guard())
      const model = ai.scripted(ai.calls(["send_mail", { to }]))
      const settings = guarded.settings({
        model,
        tools: { ...tools, ...more },
        stopWhen: isStepCount(3),
        prompt: "Go on."
      })
      return generateText(settings)
    }
    const asks = (content: ReadonlyArray<{ readonly type: string }>) =>
      content.some(({ type }) => type === "tool-approval-request")
    assert.isFalse(asks((await ask({})).content))
    assert.isTrue(asks((await ask({ search: tool(search as never) })).content))
  })

  it("is asked about if the vendor searches, or knows an earlier conversation: OpenAiAgents", async () => {
    const mail = openAiTool({ name: "send_mail", description: "Sends", parameters: schema, execute: () => "sent" })
    const ask = async (search: boolean, options: object = {}) => {
      const guarded = OpenAiAgents.make(guard())
      const model = new openAi.ScriptedModel(openAi.calls(["send_mail", { to }]))
      const agent = new Agent({ name: "lead", model, tools: [mail, ...search ? [webSearchTool()] : []] })
      return (await guarded.runner().run(guarded.agent(agent), "Go on.", options)).interruptions.length
    }
    assert.deepStrictEqual(
      [await ask(false), await ask(true), await ask(false, { previousResponseId: "r" })],
      [0, 1, 1]
    )
  })

  it("is asked about if the vendor searches: LangChain", async () => {
    const ask = async (more: ReadonlyArray<Record<string, unknown>>) => {
      const ran: Array<string> = []
      const mail = langChainTool(({ to }) => String(ran.push(to)), { name: "send_mail", schema })
      const guarded = LangChain.make(guard())
      const model = langChain.scripted(langChain.calls(["send_mail", { to }]))
      await guarded.createAgent({ model, tools: [mail, ...more] }).invoke(langChain.user("Go on.")).catch(() => {})
      return ran
    }
    assert.deepStrictEqual(await ask([]), [to])
    assert.deepStrictEqual(await ask([{ type: "web_search", name: "web_search" }]), [])
  })

  it("is asked about if the vendor searches: Mastra", async () => {
    const guarded = Mastra.make(guard())
    const { send_mail } = guarded.tools({
      send_mail: { inputSchema: schema, execute: (_input: object, _context: object): unknown => "sent" }
    })
    const model = guarded.model(ai.scripted(ai.calls(["send_mail", { to }, "1"])))
    await model.doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: "Go on." }] }],
      tools: [{ type: "provider", id: "vendor.search", name: "search", args: {} }]
    })
    const suspended: Array<unknown> = []
    const suspend = (payload: unknown) => void suspended.push(payload)
    await send_mail.execute({ to }, { agent: { toolCallId: "1", suspend } })
    assert.lengthOf(suspended, 1)
  })
})
