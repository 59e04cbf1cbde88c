/** A guarded model beside a tool or an agent that nobody has wrapped: it is an error, and nothing runs. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph"
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt"
import { Agent, run, RunState } from "@openai/agents"
import { generateText } from "ai"
import * as AiSdkGuard from "../src/AiSdk.ts"
import * as Guard from "../src/Guard.ts"
import * as Mastra from "../src/Mastra.ts"
import * as AiSdk from "./support/aiSdk.ts"
import * as LangChain from "./support/langChain.ts"
import * as ai from "./support/model.ts"
import * as OpenAi from "./support/openAiAgents.ts"

const hooks = [defineHook({ name: "none", preToolCall: () => HookAction.reject("no tools") })]
const accepts = { allowUnguarded: ["read_page", "lead"] }
const unguarded = /tools\.read_page: the guard has the model, but not this tool.*allowUnguarded: \["read_page"\]/

const failure = (running: Promise<unknown>) => running.then(() => "did not fail", String)

describe("a tool that is not wrapped", () => {
  it("does not run in the AI SDK, unless the program accepts the gap", async () => {
    const generate = async ({ guarded, tools }: ReturnType<typeof AiSdk.kit>) =>
      await generateText({
        ...guarded.settings({ model: ai.scripted(ai.calls(["read_page", { url: "a" }])) }),
        tools,
        stopWhen: AiSdk.stopWhen,
        prompt: "go"
      })
    const one = AiSdk.kit(hooks)
    assert.match(await failure(generate(one)), unguarded)
    assert.deepStrictEqual(one.ran, [])
    const model = one.guarded.model(ai.scripted(ai.calls(["read_page", { url: "a" }])))
    assert.match(await failure(generateText({ model, tools: one.tools, prompt: "go" })), unguarded)
    assert.deepStrictEqual(one.ran, [])
    const other = AiSdk.kit([], {}, accepts)
    await generate(other)
    assert.deepStrictEqual(other.ran, ["a"])
  })

  it("does not run in the OpenAI Agents SDK, unless the program accepts the gap", async () => {
    const agent = ({ guarded, tools }: ReturnType<typeof OpenAi.kit>) => {
      const model = guarded.model(new OpenAi.ScriptedModel(OpenAi.calls(["read_page", { url: "a" }])))
      return new Agent({ name: "lead", model, tools })
    }
    const one = OpenAi.kit(hooks)
    assert.match(await failure(run(agent(one), "go")), unguarded)
    assert.deepStrictEqual(one.ran, [])
    const other = OpenAi.kit([], {}, accepts)
    await run(agent(other), "go")
    assert.deepStrictEqual(other.ran, ["a"])
  })

  it("does not run in a graph of LangGraph, unless the program accepts the gap", async () => {
    const invoke = async ({ guarded, tools }: ReturnType<typeof LangChain.kit>) => {
      const script = LangChain.scripted(LangChain.calls(["read_page", { url: "a" }]))
      const model = guarded.model(script).bindTools!([...tools])
      const graph = new StateGraph(MessagesAnnotation)
        .addNode("agent", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
        .addNode("tools", new ToolNode([...tools]))
        .addEdge(START, "agent")
        .addConditionalEdges("agent", toolsCondition, ["tools", END])
        .addEdge("tools", "agent")
        .compile()
      await graph.invoke(LangChain.user("go"))
    }
    const one = LangChain.kit(hooks)
    assert.match(await failure(invoke(one)), unguarded)
    assert.deepStrictEqual(one.ran, [])
    const other = LangChain.kit([], {}, accepts)
    await invoke(other)
    assert.deepStrictEqual(other.ran, ["a"])
  })
})

describe("an agent that is not guarded", () => {
  const agent = (tools: ReturnType<typeof OpenAi.kit>["tools"]) =>
    new Agent({ name: "lead", model: new OpenAi.ScriptedModel(OpenAi.calls(["read_page", { url: "a" }])), tools })

  it("is not run by the guarded runner of the OpenAI Agents SDK", async () => {
    const one = OpenAi.kit(hooks)
    assert.match(await failure(one.guarded.runner().run(agent(one.tools), "go")), /agent lead: it is not guarded/)
    assert.deepStrictEqual(one.ran, [])
    const other = OpenAi.kit([], {}, accepts)
    await other.guarded.runner().run(agent(other.tools), "go")
    assert.deepStrictEqual(other.ran, ["a"])
  })

  it("is not continued either, if a state was read with it", async () => {
    const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })
    const { guarded, ran, tools } = OpenAi.kit([asks])
    const first = await guarded.runner().run(guarded.agent(agent(tools)), "go")
    const state = await RunState.fromString(agent(tools), first.state.toString())
    for (const one of state.getInterruptions()) state.approve(one)
    const failed = await failure(guarded.runner().run(guarded.agent(agent(tools)), state as never))
    assert.include(failed, "RunState.fromString(agent, text)")
    assert.deepStrictEqual(ran, [])
  })
})

describe("tools that are not an object of tools", () => {
  it.each([undefined, null, 42, "tools", []])("are refused by name: %o", (given) => {
    const guard = Guard.make({ log: false })
    const expected = "tools: expected an object with the tools by name"
    assert.throws(() => AiSdkGuard.make(guard).tools(given as never), expected)
    assert.throws(() => Mastra.make(guard).tools(given as never), expected)
  })
})
