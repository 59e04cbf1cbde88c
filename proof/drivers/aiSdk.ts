/** The AI SDK, with the guard of Belay or with its own approvals. */
import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { Guard } from "@belay/guard"
import * as AiSdk from "@belay/guard/AiSdk"
import { generateText, isStepCount, type ModelMessage, streamText, tool, type ToolSet } from "ai"
import { MockLanguageModelV4, simulateReadableStream } from "ai/test"
import * as z from "zod"
import { Absent, type Driver, type Setup, type Step } from "../driver.ts"

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined }
}

let ids = 0
const resultOf = (step: Step): LanguageModelV4GenerateResult => {
  if ("fails" in step) throw Object.assign(new Error("busy"), { isRetryable: true })
  const content: LanguageModelV4GenerateResult["content"] = "says" in step
    ? [{ type: "text", text: step.says }]
    : step.calls.map(({ args = {}, id = `c${++ids}`, name }) => ({
      type: "tool-call",
      toolCallId: id,
      toolName: name,
      input: JSON.stringify(args)
    }))
  const unified = "says" in step ? "stop" : "tool-calls"
  return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] }
}

const modelOf = (script: ReadonlyArray<Step>) => {
  let at = 0
  const next = () => resultOf(script[at++] ?? { says: "done" })
  return new MockLanguageModelV4({
    doGenerate: async () => next(),
    doStream: async () => {
      const { content, finishReason } = next()
      const chunks: Array<LanguageModelV4StreamPart> = [
        { type: "stream-start", warnings: [] },
        ...content.flatMap((part) => part.type === "tool-call" ? [part] : []),
        { type: "finish", finishReason, usage }
      ]
      return { stream: simulateReadableStream({ chunks }) }
    }
  })
}

const own = ({ toolCall }: { readonly toolCall: { readonly toolName: string } }) => {
  if (toolCall.toolName === "leak") return "denied" as const
  return toolCall.toolName === "mail" ? "user-approval" as const : undefined
}

/** Retries once, as the SDK does for failures that may pass. */
const withRetry = async <A>(run: () => Promise<A>): Promise<A> => await run().catch(run)

const toolsOf = (
  setup: Setup,
  guard: Guard.Guard | undefined,
  parent: AiSdk.AiSdk | undefined,
  depth: number
): ToolSet => {
  const { helpers = [], ran } = setup
  const inner = helpers[depth]
  return {
    leak: tool({ inputSchema: z.object({}), execute: () => void ran.push("leak") }),
    read: tool({ inputSchema: z.object({}), execute: () => void ran.push("read") }),
    mail: tool({ inputSchema: z.object({ to: z.string() }), execute: ({ to }) => void ran.push(`mail ${to}`) }),
    ...(inner === undefined ? {} : {
      helper: tool({
        inputSchema: z.object({}),
        execute: async (_input, { toolCallId }) => {
          const below = guard === undefined
            ? undefined
            : AiSdk.make(guard, { parent: parent!.session, parentCall: toolCallId })
          const { text } = await ask(setup, guard, below, modelOf(inner), depth + 1, [{
            role: "user",
            content: "help"
          }])
          await below?.session.end()
          return text
        }
      })
    })
  }
}

const ask = async (
  setup: Setup,
  guard: Guard.Guard | undefined,
  guarded: AiSdk.AiSdk | undefined,
  model: MockLanguageModelV4,
  depth: number,
  messages: Array<ModelMessage>
) => {
  const plain = {
    model,
    tools: toolsOf(setup, guard, guarded, depth),
    stopWhen: isStepCount(8),
    messages,
    ...(setup.cancelAfterMs === undefined ? {} : { abortSignal: AbortSignal.timeout(setup.cancelAfterMs) })
  }
  const settings = guarded === undefined
    ? { ...plain, toolApproval: own, experimental_toolApprovalSecret: "a secret of the proof" }
    : guarded.settings(plain)
  if (setup.stream !== true) {
    const { content, response, text } = await withRetry(() => generateText(settings))
    return { content, messages: response.messages, text }
  }
  const result = streamText({ ...settings, onError: () => {} })
  const [content, response, text] = await Promise.all([result.content, result.response, result.text])
  return { content, messages: response.messages, text }
}

export const aiSdk: Driver = {
  name: "AI SDK 7",
  hasOwn: true,
  start: (setup) => {
    if (setup.handsOver === true) throw new Absent("it has no handoffs")
    const { guard: given, store } = setup
    const place = () => {
      if (given === "own") return { guard: undefined, guarded: undefined }
      const guard = Guard.make({ hooks: given, log: false, ...(store === undefined ? {} : { store }) })
      return { guard, guarded: AiSdk.make(guard, { id: "proof", approvedBy: "ada" }) }
    }
    const { guard, guarded } = place()
    const model = modelOf(setup.script)
    let history: Array<ModelMessage> = []
    let requests: ReadonlyArray<string> = []
    return {
      send: async (text) => {
        history = [{ role: "user", content: text }]
        const first = await ask(setup, guard, guarded, model, 0, history)
        history = [...history, ...first.messages]
        const asked = first.content.flatMap((part) => part.type === "tool-approval-request" ? [part] : [])
        requests = asked.map(({ approvalId }) => approvalId)
        return asked.map(({ toolCall }) => toolCall.toolCallId)
      },
      approve: async ({ elsewhere = false, to } = {}) => {
        const next = elsewhere ? place() : { guard, guarded }
        const messages: Array<ModelMessage> = [...history, {
          role: "tool",
          content: requests.map((approvalId) => ({ type: "tool-approval-response", approvalId, approved: true }))
        }]
        const told = to === undefined
          ? messages
          : JSON.parse(JSON.stringify(messages).replaceAll("\"ann\"", JSON.stringify(to))) as Array<ModelMessage>
        await ask(setup, next.guard, next.guarded, model, 0, told).catch(() => {})
      }
    }
  }
}
