/** One turn with one tool call, in each adapter. The long tests run the real packages of those that are played here. */
import { Agent } from "@openai/agents"
import { tool as openAiTool } from "@openai/agents"
import { generateText, isStepCount, tool as aiTool } from "ai"
import { tool as langChainTool } from "langchain"
import * as z from "zod"
import * as AiSdk from "../../src/AiSdk.ts"
import * as ClaudeAgent from "../../src/ClaudeAgent.ts"
import type * as Guard from "../../src/Guard.ts"
import * as LangChain from "../../src/LangChain.ts"
import * as Mastra from "../../src/Mastra.ts"
import * as OpenAiAgents from "../../src/OpenAiAgents.ts"
import * as OpenCode from "../../src/OpenCode.ts"
import * as Pi from "../../src/Pi.ts"
import * as Strands from "../../src/Strands.ts"
import { firing } from "./claudeAgent.ts"
import * as langChain from "./langChain.ts"
import * as ai from "./model.ts"
import * as openAi from "./openAiAgents.ts"
import { events as openCode } from "./openCode.ts"
import { events as pi } from "./pi.ts"
import { events as strands } from "./strands.ts"

/** The call that the model makes. */
export interface Call {
  readonly name?: string
  readonly id?: string
  readonly text?: string
}

/** Returns what the model reads as the result, or why the turn ended. `ran` counts the runs of the tool. */
export type Runner = (guard: Guard.Guard, call?: Call, options?: Guard.ConversationOptions) => Promise<{
  readonly ran: number
  readonly read: string
}>

const schema = z.object({ text: z.string() })

/** Counts the runs of the tool, and notes why a turn ended. */
const counting = async (turn: (run: () => string) => Promise<unknown>) => {
  let ran = 0
  const said = await turn(() => `the pin is 4711, run ${++ran}`).catch(String)
  return { ran, read: typeof said === "string" ? said : JSON.stringify(said) ?? "" }
}

const aiSdk: Runner = (guard, { id = "c", name = "act", text = "hi" } = {}, options = {}) =>
  counting(async (run) => {
    const guarded = AiSdk.make(guard, options)
    const model = ai.scripted(ai.calls([name, { text }, id]))
    const tools = Object.fromEntries([[name, aiTool({ inputSchema: schema, execute: run })]])
    await generateText(guarded.settings({ model, tools, stopWhen: isStepCount(3), prompt: "go" }))
    return ai.lastPrompt(model)
  })

const openAiAgents: Runner = (guard, { id = "c", name = "act", text = "hi" } = {}, options = {}) =>
  counting(async (run) => {
    const guarded = OpenAiAgents.make(guard, options)
    const model = new openAi.ScriptedModel(openAi.calls([name, { text }, id]))
    const tools = [openAiTool({ name, description: "Acts", parameters: schema, execute: run })]
    await guarded.runner().run(guarded.agent(new Agent({ name: "lead", model, tools })), "go")
    return model.lastInput
  })

const langChainRunner: Runner = (guard, { id = "c", name = "act", text = "hi" } = {}, options = {}) =>
  counting(async (run) => {
    const guarded = LangChain.make(guard, options)
    const model = langChain.scripted(langChain.calls([name, { text }, id]))
    const tools = [langChainTool(run, { name, description: "Acts", schema })]
    await guarded.createAgent({ model, tools }).invoke(langChain.user("go"))
    return langChain.lastInput(model)
  })

const mastra: Runner = (guard, { id = "c", name = "act", text = "hi" } = {}, options = {}) =>
  counting(async (run) => {
    const guarded = Mastra.make(guard, options)
    const model = guarded.model(ai.scripted(ai.calls([name, { text }, id])))
    const given = Object.fromEntries([[name, { id: name, inputSchema: schema, providerOptions: {}, execute: run }]])
    const [tool] = Object.values(guarded.tools(given))
    const { content } = await model.doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: "go" }] }],
      tools: [{ type: "function", name, inputSchema: {}, providerOptions: { ...tool!.providerOptions } }]
    })
    const execute = tool!.execute as (input: unknown, context: object) => unknown
    return content.some(({ type }) => type === "tool-call")
      ? await execute({ text }, { agent: { toolCallId: id, suspend: () => {} } })
      : content
  })

const strandsRunner: Runner = (guard, { id = "c", name = "act", text = "hi" } = {}, options = {}) =>
  counting(async (run) => {
    const fire = strands(Strands.make(guard, options))
    const refused = await fire.model("go")
    if (refused !== false) return refused
    const { cancel } = await fire.before(name, { text }, id)
    return cancel === false ? (await fire.after(name, run(), id)).content[0]?.text : cancel
  })

const claudeAgent: Runner = (guard, { id = "c", name = "act", text = "hi" } = {}, options = {}) =>
  counting(async (run) => {
    const fire = firing(ClaudeAgent.make(guard, options).options({}))
    const begun = await fire("UserPromptSubmit", { prompt: "go" }) as { readonly decision?: string }
    if (begun.decision === "block") return begun
    const call = { tool_name: name, tool_input: { text }, tool_use_id: id }
    const before = await fire("PreToolUse", call) as {
      readonly hookSpecificOutput?: { readonly permissionDecision?: string }
    }
    if (before.hookSpecificOutput?.permissionDecision === "deny") return before
    const tool_response = run()
    const { hookSpecificOutput } = await fire("PostToolUse", { ...call, tool_response }) as {
      readonly hookSpecificOutput?: { readonly updatedToolOutput?: string }
    }
    return hookSpecificOutput?.updatedToolOutput ?? tool_response
  })

const piRunner: Runner = (guard, { id = "c", name = "act", text = "hi" } = {}, options = {}) =>
  counting(async (run) => {
    const { hints = {}, id: session = "s" } = options
    const fire = pi(Pi.make(guard, { hints }), { context: { sessionManager: { getSessionId: () => session } } })
    const begun = await fire("input", { text: "go" }) as { readonly action: string }
    if (begun.action === "handled") return begun
    const call = { toolName: name, toolCallId: id, input: { text } }
    const before = await fire("tool_call", call)
    if (before !== undefined) return before
    const content = [{ type: "text", text: run() }]
    return await fire("tool_result", { ...call, content, isError: false }) ?? content
  })

const openCodeRunner: Runner = (guard, { id = "c", name = "act", text = "hi" } = {}, options = {}) =>
  counting(async (run) => {
    const { hints = {} } = options
    const fire = openCode(await OpenCode.make(guard, { hints })(openCode.input))
    await fire.message("go")
    await fire.before(name, { text }, id)
    const output = { output: run() }
    await fire.after(name, output, id)
    return output.output
  })

/** The adapters by name. */
export const runners: ReadonlyArray<readonly [name: string, run: Runner]> = [
  ["AiSdk", aiSdk],
  ["OpenAiAgents", openAiAgents],
  ["LangChain", langChainRunner],
  ["Mastra", mastra],
  ["Strands", strandsRunner],
  ["ClaudeAgent", claudeAgent],
  ["Pi", piRunner],
  ["OpenCode", openCodeRunner]
]
