/** Less common ways through the AI SDK: tools that ask themselves, tools of the client, and what the history has. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import {
  dynamicTool,
  generateText,
  type ModelMessage,
  streamText,
  tool,
  ToolLoopAgent,
  type ToolSet,
  wrapLanguageModel
} from "ai"
import { MockLanguageModelV4 } from "ai/test"
import * as z from "zod"
import { kit, stopWhen } from "./support/aiSdk.ts"
import { calls, lastPrompt, says, scripted } from "./support/model.ts"

const cuts = defineHook({
  name: "cuts",
  kind: "policy",
  postToolCall: ({ result }) =>
    JSON.stringify(result).includes("4711") ? HookAction.transform({ ok: true, output: "[cut]" }) : undefined
})
const noPlace = defineHook({
  name: "no-place",
  kind: "policy",
  tools: "where",
  preToolCall: () => HookAction.reject("not where")
})
// The types of the SDK are not made for exact optional properties.
const where = tool({ inputSchema: z.object({ exact: z.boolean().default(false) }) }) as ToolSet[string]
const user = (content: string): ModelMessage => ({ role: "user", content })
const result = (toolCallId: string, value: string): ModelMessage => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "where", output: { type: "text", value } }]
})

describe("a tool of an MCP server", () => {
  it("has the hints of its server, unless the program says something else", async () => {
    const seen: Array<unknown> = []
    const reads = defineHook({
      name: "reads",
      preToolCall: ({ tool: { destructive, readOnly } }) => void seen.push([destructive, readOnly])
    })
    const metadata = { annotations: { destructiveHint: false, readOnlyHint: true } }
    const act = dynamicTool({ inputSchema: z.object({}), metadata, execute: () => "done" })
    for (const hints of [{}, { act: { readOnly: false } }]) {
      const { guarded } = kit([reads], { hints })
      await generateText(
        guarded.settings({ model: scripted(calls(["act", {}])), tools: { act }, stopWhen, prompt: "go" })
      )
    }
    assert.deepStrictEqual(seen, [[false, true], [false, false]])
  })
})

describe("approvals of the program beside a guard", () => {
  for (const other of [undefined, { read_page: "denied" as const }]) {
    it(`lets a tool ask that needs approval itself, with ${other === undefined ? "nothing" : "a map"} beside it`, async () => {
      const { guarded, ran } = kit([cuts])
      const execute = () => ran.push("wiped")
      const tools = { wipe: tool({ inputSchema: z.object({}), needsApproval: true, execute }) }
      const model = scripted(calls(["wipe", {}, "w"]), says("done"))
      const settings = { model, tools, stopWhen, ...(other === undefined ? {} : { toolApproval: other as never }) }
      const first = await generateText(guarded.settings({ ...settings, prompt: "go" }))
      const request = first.content.find(({ type }) => type === "tool-approval-request")
      assert.deepStrictEqual(ran, [])
      assert.isDefined(request)
      const answer: ModelMessage = {
        role: "tool",
        content: [{ type: "tool-approval-response", approvalId: Object(request).approvalId, approved: true }]
      }
      const messages = [user("go"), ...first.response.messages, answer]
      await generateText(guarded.settings({ ...settings, messages }))
      assert.deepStrictEqual(ran, ["wiped"])
    })
  }

  it("does not run what the program denies", async () => {
    const { guarded, ran, tools } = kit([cuts])
    const model = scripted(calls(["send_mail", { to: "ann" }]), says("done"))
    const toolApproval = { send_mail: "denied" } as never
    await generateText(guarded.settings({ model, tools, stopWhen, toolApproval, prompt: "go" }))
    assert.deepStrictEqual(ran, [])
  })

  it("asks with approvals that prepareCall chooses", async () => {
    const asks = defineHook({ name: "asks", tools: "send_mail", preToolCall: () => HookAction.ask("really?") })
    const { guarded, tools, ran } = kit([asks])
    const model = scripted(calls(["send_mail", { to: "ann" }]), says("done"))
    const prepareCall = (call: object) => ({ ...call, toolApproval: { read_page: "denied" } }) as never
    const agent = new ToolLoopAgent(guarded.settings({ model, tools, stopWhen, prepareCall }))
    const { content } = await agent.generate({ prompt: "go" })
    assert.isTrue(content.some(({ type }) => type === "tool-approval-request"))
    assert.deepStrictEqual(ran, [])
  })
})

describe("a stream", () => {
  it("has what the vendor says about it, with the signature of reasoning, also if a hook reads the whole first", async () => {
    const signed = { vendor: { signature: "s1" } }
    const providerMetadata = { vendor: { responseId: "r1" } }
    for (const hooks of [[], [defineHook({ name: "reads", postLlmCall: () => undefined })]]) {
      const model = scripted({
        ...says("hi"),
        content: [{ type: "reasoning", text: "hm", providerMetadata: signed }, { type: "text", text: "hi" }],
        providerMetadata,
        response: { id: "answer-1", modelId: "model-2" }
      })
      const stream = streamText(kit(hooks).guarded.settings({ model, prompt: "go" }))
      assert.deepStrictEqual(await stream.providerMetadata, providerMetadata)
      const { id, modelId } = await stream.response
      assert.deepStrictEqual({ id, modelId }, { id: "answer-1", modelId: "model-2" })
      assert.deepStrictEqual((await stream.reasoning).map((part) => Object(part).providerMetadata), [signed])
    }
  })
})

describe("a tool that the client runs", () => {
  it("is not shown if a hook denies it, and the model reads why", async () => {
    const { guarded } = kit([noPlace])
    const model = scripted(calls(["where", {}]), says("sorry"))
    const stream = streamText(guarded.settings({ model, tools: { where }, stopWhen, prompt: "go" }))
    const shown: Array<string> = []
    for await (const { type } of stream.toUIMessageStream()) shown.push(type)
    assert.notInclude(shown, "tool-input-available")
    assert.include(lastPrompt(model), "not where")
    const again = scripted(calls(["where", {}, "one"]), calls(["where", {}, "two"]), says("sorry"))
    await generateText(guarded.settings({ model: again, tools: { where }, stopWhen, prompt: "go" }))
    for (const id of ["one", "two"]) assert.include(lastPrompt(again), `"${id}"`)
  })

  it("is shown with the arguments that a hook has changed, and can ask", async () => {
    const changes = defineHook({
      name: "changes",
      tools: "where",
      preToolCall: (call) => HookAction.transform({ ...call, args: { exact: true } })
    })
    const asks = defineHook({ name: "asks", tools: "where", preToolCall: () => HookAction.ask("may I?") })
    const once = async (hook: typeof asks) => {
      const { guarded } = kit([hook])
      const model = scripted(calls(["where", {}]), says("done"))
      return (await generateText(guarded.settings({ model, tools: { where }, stopWhen, prompt: "go" }))).content
    }
    assert.deepInclude((await once(changes))[0]!, { input: { exact: true } })
    assert.isTrue((await once(asks)).some(({ type }) => type === "tool-approval-request"))
  })

  it("has its result checked, also if a message of the user follows it", async () => {
    const { guarded } = kit([cuts])
    const model = scripted(calls(["where", {}, "w"]), says("ok"))
    const settings = { model, tools: { where }, stopWhen }
    const { response } = await generateText(guarded.settings({ ...settings, messages: [user("go")] }))
    const messages = [user("go"), ...response.messages, result("w", "pin 4711"), user("and now?")]
    await generateText(guarded.settings({ ...settings, messages }))
    assert.notInclude(lastPrompt(model), "4711")
    assert.include(lastPrompt(model), "[cut]")
  })

  it("has its result checked if an earlier call with the same id was denied", async () => {
    let isDenied = true
    const once = defineHook({
      name: "once",
      tools: "where",
      preToolCall: () => isDenied ? HookAction.reject("not now") : undefined
    })
    const { guarded } = kit([once, cuts])
    const model = scripted(calls(["where", {}, "w"]), says("sorry"), calls(["where", {}, "w"]), says("ok"))
    const settings = { model, tools: { where }, stopWhen }
    const first = await generateText(guarded.settings({ ...settings, messages: [user("go")] }))
    isDenied = false
    const messages = [user("go"), ...first.response.messages, user("again")]
    const second = await generateText(guarded.settings({ ...settings, messages }))
    await generateText(
      guarded.settings({ ...settings, messages: [...messages, ...second.response.messages, result("w", "pin 4711")] })
    )
    assert.notInclude(lastPrompt(model), "4711")
  })
})

describe("a failure of a tool that the client has run", () => {
  it("stays a failure when a hook changes its text", async () => {
    const { guarded } = kit([defineHook({
      name: "cuts-failures",
      postToolCall: ({ result }) => result.ok ? undefined : HookAction.transform({ ok: false, error: "[cut]" })
    })])
    const model = scripted(calls(["where", {}, "w"]), says("sorry"))
    const settings = { model, tools: { where }, stopWhen }
    const first = await generateText(guarded.settings({ ...settings, messages: [user("go")] }))
    const failed: ModelMessage = {
      role: "tool",
      content: [{
        type: "tool-result",
        toolCallId: "w",
        toolName: "where",
        output: { type: "error-text", value: "no place: pin 4711" }
      }]
    }
    await generateText(guarded.settings({ ...settings, messages: [user("go"), ...first.response.messages, failed] }))
    assert.include(lastPrompt(model), `"output":{"type":"error-text","value":"[cut]"}`)
  })
})

describe("a request that a hook changes", () => {
  it("has the parameters of the hook, and those of the program that it left as they were", async () => {
    const parameters = { maxTokens: 5, seed: 7, stop: ["end"], temperature: 0.5 }
    const { guarded } = kit([defineHook({
      name: "limits",
      preLlmCall: (request) =>
        HookAction.transform({ ...request, parameters: { ...request.parameters, ...parameters } })
    })])
    const model = scripted(says("ok"))
    await generateText(guarded.settings({ model, prompt: "go", maxOutputTokens: 100, topP: 0.9 }))
    assert.deepInclude(model.doGenerateCalls[0], {
      maxOutputTokens: 5,
      seed: 7,
      stopSequences: ["end"],
      temperature: 0.5,
      topP: 0.9
    })
  })
})

describe("a hook in shadow mode", () => {
  it("does not hold back what the user reads", async () => {
    const pieces = async (mode: "enforce" | "shadow") => {
      const { guarded } = kit([{ name: "reads", mode, postLlmCall: () => undefined }])
      const { textStream } = streamText(guarded.settings({ model: scripted(says("one two three")), prompt: "go" }))
      const read: Array<string> = []
      for await (const piece of textStream) read.push(piece)
      assert.strictEqual(read.join(""), "one two three")
      return read.length
    }
    assert.deepStrictEqual([await pieces("enforce"), await pieces("shadow")], [1, 3])
  })
})

describe("a turn", () => {
  it("begins once, also when its first request is sent again after a turn with calls", async () => {
    const begun: Array<string> = []
    const { guarded } = kit([
      defineHook({ name: "counts", preTurn: ({ message, part }) => void (part === undefined && begun.push(message)) })
    ])
    const answers = [calls(["where", {}, "w"]), new Error("the network is away"), says("two")]
    const model = guarded.model(
      new MockLanguageModelV4({
        doGenerate: () => {
          const next = answers.shift()!
          return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
        }
      })
    )
    const said = (role: "user" | "assistant", text: string) => ({ role, content: [{ type: "text" as const, text }] })
    const go = said("user", "go")
    await model.doGenerate({ prompt: [go] as never })
    // The user says something else in place of the result.
    const prompt = [go, said("assistant", "hm"), said("user", "more")] as never
    assert.include(await model.doGenerate({ prompt }).then(() => "nothing", String), "the network is away")
    await model.doGenerate({ prompt })
    assert.deepStrictEqual(begun, ["go", "more"])
  })
})

describe("a call that was denied", () => {
  it("has no result for hooks", async () => {
    const seen: Array<string> = []
    const notes = defineHook({ name: "notes", postToolCall: ({ call }) => void seen.push(call.name) })
    const { guarded } = kit([noPlace, notes])
    const tools = { where: tool({ inputSchema: z.object({}), execute: () => "here" }) }
    const model = scripted(calls(["where", {}, "w"]), says("sorry"))
    await generateText(guarded.settings({ model, tools, stopWhen, prompt: "go" }))
    assert.include(lastPrompt(model), "not where")
    assert.deepStrictEqual(seen, [])
  })
})

describe("what the model reads", () => {
  it("is checked as toModelOutput gives it", async () => {
    const { guarded } = kit([cuts])
    const cat = tool({
      inputSchema: z.object({}),
      execute: () => ({ path: "notes.txt" }),
      toModelOutput: () => ({ type: "text" as const, value: "pin 4711" })
    })
    const model = scripted(calls(["cat", {}]), says("done"))
    await generateText(guarded.settings({ model, tools: { cat }, stopWhen, prompt: "go" }))
    assert.notInclude(lastPrompt(model), "4711")
  })

  it("has the marks of the vendor where they were, if a hook leaves out a message before two equal ones", async () => {
    const forgets = defineHook({
      name: "forgets",
      preLlmCall: (request) => HookAction.transform({ ...request, messages: request.messages.slice(1) })
    })
    const { guarded } = kit([forgets])
    const providerOptions = { vendor: { cache: "here" } }
    const messages: Array<ModelMessage> = [
      user("old"),
      user("yes"),
      { role: "assistant", content: "really?" },
      { ...user("yes"), providerOptions }
    ]
    const model = scripted(says("ok"))
    await generateText(guarded.settings({ model, messages }))
    const prompt = model.doGenerateCalls[0]!.prompt
    assert.deepStrictEqual(prompt.map((message) => message.providerOptions), [undefined, undefined, providerOptions])
  })

  it("keeps the order and the marks of the vendor if a hook changes a message", async () => {
    const hides = defineHook({
      name: "hides",
      preLlmCall: (request) =>
        HookAction.transform({
          ...request,
          messages: request.messages.map((message) =>
            message.role === "assistant" ? { ...message, content: message.content.replace("4711", "[pin]") } : message
          )
        })
    })
    const { guarded, tools } = kit([hides])
    const model = scripted(says("done"))
    const google = { google: { thoughtSignature: "signed" } }
    await generateText(guarded.settings({
      model,
      tools,
      messages: [
        user("go"),
        {
          role: "assistant",
          content: [
            { type: "tool-call", toolCallId: "s", toolName: "search", input: {}, providerExecuted: true },
            { type: "tool-result", toolCallId: "s", toolName: "search", output: { type: "json", value: {} } },
            { type: "text", text: "pin 4711" },
            { type: "tool-call", toolCallId: "r", toolName: "read_page", input: { url: "a" }, providerOptions: google }
          ]
        },
        {
          role: "tool",
          content: [{
            type: "tool-result",
            toolCallId: "r",
            toolName: "read_page",
            output: { type: "text", value: "a" }
          }]
        }
      ]
    }))
    const [, assistant] = model.doGenerateCalls[0]!.prompt
    const parts = assistant!.content as unknown as ReadonlyArray<
      { readonly type: string; readonly [key: string]: unknown }
    >
    assert.deepStrictEqual(parts.map(({ type }) => type), ["tool-call", "tool-result", "text", "tool-call"])
    assert.deepInclude(parts[0]!, { providerExecuted: true })
    assert.deepInclude(parts[2]!, { text: "pin [pin]" })
    assert.deepInclude(parts[3]!, { providerOptions: google })
  })

  it("begins a new turn if the same message comes after a turn that nobody continued", async () => {
    let turns = 0
    const counts = defineHook({
      name: "counts",
      preTurn: () => {
        turns++
      }
    })
    const { guarded, tools } = kit([counts])
    const model = scripted(calls(["read_page", { url: "a" }]), calls(["read_page", { url: "b" }]))
    const settings = guarded.settings({ model, tools, prompt: "go" })
    await generateText(settings)
    await generateText(settings)
    assert.strictEqual(turns, 2)
  })

  it("is guarded once: a guarded model inside of middleware is an error", async () => {
    const { guarded, tools } = kit([cuts])
    const model = wrapLanguageModel({ model: guarded.model(scripted()), middleware: { specificationVersion: "v4" } })
    const said = await generateText(guarded.settings({ model, tools, prompt: "go", maxRetries: 0 }))
      .then(({ text }) => text, String)
    assert.include(said, "it is guarded already")
  })
})
