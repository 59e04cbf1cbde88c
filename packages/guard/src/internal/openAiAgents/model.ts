/** A model of the OpenAI Agents SDK inside the guard. */
import type { LlmParameters, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import type { Usage as BelayUsage } from "@belay/core/Usage"
import { type AgentInputItem, type Model, type ModelRequest, type ModelResponse, Usage } from "@openai/agents"
import { answer, type Checked, passText } from "../answer.ts"
import type { Place } from "../place.ts"
import { TurnInput } from "../turnInput.ts"
import { withChanges as knownUnits } from "../units.ts"
import { hosted } from "../unseen.ts"
import { withCost } from "../withCost.ts"
import {
  assistantItems,
  callOf,
  isInstructions,
  type ReadItems,
  readItems,
  reasoningOf,
  said,
  withReasoning,
  writeItems,
  writeMessage
} from "./items.ts"

type StreamEvent = ReturnType<Model["getStreamedResponse"]> extends AsyncIterable<infer Event> ? Event : never

/** An answer of the model. */
interface Answered {
  readonly response: ModelResponse
  /** The text of the pieces that were shown, as the model has said them, and as the hooks have left them. */
  readonly pieces?: { readonly said: string; readonly passed: string }
}

/** Refuses the calls of an answer that hand the conversation over, if the guard does not allow that. */
export type CheckHandoffs = (request: ModelRequest, response: LlmResponse) => Promise<Checked>

/** A class, because it stands for another model and passes everything else on. */
export class GuardedModel implements Model {
  private readonly place: Place
  private readonly inner: Model
  private readonly input: TurnInput
  private readonly checkHandoffs: CheckHandoffs

  constructor(place: Place, input: TurnInput, inner: Model, checkHandoffs: CheckHandoffs) {
    this.place = place
    this.inner = inner
    this.input = input
    this.checkHandoffs = checkHandoffs
  }

  get supportsPromptModelSelection(): boolean {
    return this.inner.supportsPromptModelSelection === true
  }

  getRetryAdvice(args: Parameters<NonNullable<Model["getRetryAdvice"]>>[0]) {
    return this.inner.getRetryAdvice?.(args)
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    return await this.answer(request, async (allowed) => ({ response: await this.inner.getResponse(allowed) }))
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    // What hooks may still change or refuse as a whole is not shown before they have decided.
    const isGated = this.place.acts("postLlmCall", "postTurn", "revealText", "hold")
    const shown: Array<StreamEvent> = []
    let hasStarted = false
    let hasText = false
    let wake = () => {}
    let isDone = false
    const send = (event: StreamEvent) => {
      shown.push(event)
      wake()
    }
    const answered = this.answer(
      request,
      async (allowed) => await this.collect(this.inner.getStreamedResponse(allowed), isGated ? undefined : send)
    ).finally(() => {
      isDone = true
      wake()
    })
    // A failure is thrown below. Until then it must not count as unhandled.
    answered.catch(() => {})
    while (!isDone || shown.length > 0) {
      const event = shown.shift()
      if (event !== undefined) {
        hasStarted = true
        hasText ||= event.type === "output_text_delta"
        yield event
      } else if (!isDone) await new Promise<void>((resolve) => wake = resolve)
    }
    const response = await answered
    const { output, responseId = "guard", usage } = response
    if (!hasStarted) yield { type: "response_started" }
    const delta = textOf(output)
    // The reason why the turn has ended follows what was shown before.
    if (hasText && own.has(response)) yield { type: "output_text_delta", delta: `\n\n${delta}` }
    else if (!hasText && delta !== "") yield { type: "output_text_delta", delta }
    // The items of an answer and those of its stream are the same; their types are made from two schemas.
    yield { type: "response_done", response: { id: responseId, usage: usageJson(usage), output: output as never } }
  }

  /** Reads a stream to its end. Raw events of the vendor are left out: hooks have not seen what is in them. */
  private async collect(
    stream: AsyncIterable<StreamEvent>,
    send: ((event: StreamEvent) => void) | undefined
  ): Promise<Answered> {
    let done: Extract<StreamEvent, { readonly type: "response_done" }> | undefined
    const pieces = { said: "", passed: "" }
    for await (const event of stream) {
      if (event.type === "response_done") done = event
      else if (send !== undefined && event.type === "output_text_delta") {
        const delta = await passText(this.place, event.delta)
        pieces.said += event.delta
        pieces.passed += delta
        send({ ...event, delta })
      } else if (send !== undefined && event.type === "response_started") send(event)
    }
    if (done === undefined) throw new Error("the stream of the model ended before the answer was complete")
    const { response: { id, output, usage } } = done
    const response = { output: output as ModelResponse["output"], responseId: id, usage: new Usage(usage as never) }
    return { response, pieces }
  }

  /** Asks the model inside the guard, until the turn may go on or end with the answer. */
  private async answer(
    asked: ModelRequest,
    call: (allowed: ModelRequest) => Promise<Answered>
  ): Promise<ModelResponse> {
    const { input, place } = this
    const items: ReadonlyArray<AgentInputItem> = typeof asked.input === "string"
      ? [{ role: "user", content: asked.input }]
      : asked.input
    const plain = readItems(items)
    const begun = await input.receive(plain.units.map(({ message }) => message))
    if (begun !== undefined) return ownAnswer(begun.text)
    const read: ReadItems = { ...plain, units: knownUnits(place, plain.units, writeMessage) }
    const said = [asked.systemInstructions ?? "", ...plain.instructions].filter((text) => text !== "").join("\n\n")
    const request = requestOf(asked, said, read.units.map(({ message }) => message))
    let last: ModelResponse | undefined
    const answered = await answer({
      place,
      input,
      request,
      check: (response) => this.checkHandoffs(asked, response),
      call: async (allowed) => {
        const isSame = allowed.instructions === request.instructions
        const written = writeItems(read, allowed.messages)
        const answered = await call({
          ...asked,
          // The new instructions take the place of all.
          ...(isSame ? {} : { systemInstructions: allowed.instructions ?? "" }),
          modelSettings: { ...asked.modelSettings, ...changedParameters(request.parameters, allowed.parameters) },
          input: isSame ? written : written.filter((item) => !isInstructions(item))
        })
        last = answered.response
        const response = responseOf(last)
        return withCost(place.guard, { ...response, text: await this.passed(response.text, answered.pieces) })
      }
    })
    return answered.type === "own" ? ownAnswer(answered.answer.text) : withChanges(last, answered.response)
  }

  /** Returns a text as the hooks that look at pieces leave it. A text that was not shown is one piece. */
  private async passed(text: string, pieces: Answered["pieces"]): Promise<string> {
    if (pieces?.said === text) return pieces.passed
    return text === "" ? text : await passText(this.place, text)
  }
}

/** The answers that no model has given. */
const own = new WeakSet<ModelResponse>()

const ownAnswer = (text: string): ModelResponse => {
  const response: ModelResponse = { usage: new Usage(), output: [said(text)] }
  own.add(response)
  return response
}

const textOf = (output: ModelResponse["output"]): string =>
  readItems(output).units.map(({ message }) => message.role === "assistant" ? message.content : "").join("")

const callsOf = (output: ModelResponse["output"]) =>
  output.flatMap((item) => item.type === "function_call" ? [callOf(item)] : [])

const responseOf = ({ output, providerData, responseId, usage }: ModelResponse): LlmResponse => {
  const model: unknown = providerData?.["model"]
  const reasoning = reasoningOf(output)
  return {
    ...(responseId === undefined ? {} : { id: responseId }),
    model: typeof model === "string" ? model : "model",
    text: textOf(output),
    toolCalls: callsOf(output),
    finishReason: output.some(({ type }) => type === "function_call") ? "tool-calls" : "stop",
    usage: usageOf(usage),
    ...(reasoning === "" ? {} : { reasoning })
  }
}

const usageOf = ({ inputTokens, inputTokensDetails, outputTokens, outputTokensDetails }: Usage): BelayUsage => {
  const cached = inputTokensDetails.reduce((sum, one) => sum + (one["cached_tokens"] ?? 0), 0)
  const reasoning = outputTokensDetails.reduce((sum, one) => sum + (one["reasoning_tokens"] ?? 0), 0)
  return {
    inputTokens,
    outputTokens,
    ...(cached === 0 ? {} : { cachedTokens: cached }),
    ...(reasoning === 0 ? {} : { reasoningTokens: reasoning })
  }
}

const usageJson = (
  { inputTokens, inputTokensDetails, outputTokens, outputTokensDetails, requests, totalTokens }: Usage
) => ({
  requests,
  inputTokens,
  outputTokens,
  totalTokens,
  inputTokensDetails,
  outputTokensDetails
})

/** Puts what the hooks have changed into the output. */
const withChanges = (last: ModelResponse | undefined, response: LlmResponse): ModelResponse => {
  const { reasoning = "", text, toolCalls } = response
  const given = last ?? { usage: new Usage(), output: [] }
  const output = withReasoning(given.output, reasoning)
  const before = output === given.output ? given : { ...given, output }
  const isSame = textOf(before.output) === text && JSON.stringify(callsOf(before.output)) === JSON.stringify(toolCalls)
  if (isSame) return before
  const kept = before.output.filter((item) =>
    item.type !== "function_call" && !("role" in item && item.role === "assistant")
  )
  return { ...before, output: [...kept, ...assistantItems({ content: text, toolCalls }, before.output)] }
}

const requestOf = (
  { conversationId, handoffs, modelSettings, previousResponseId, prompt, tools }: ModelRequest,
  instructions: string,
  messages: ReadonlyArray<Message>
): LlmRequest => ({
  ...(instructions === "" ? {} : { instructions }),
  messages,
  tools: [
    ...tools.flatMap((tool) =>
      tool.type === "function"
        // Both are JSON Schemas.
        ? [{ name: tool.name, description: tool.description, inputSchema: tool.parameters as never }]
        : []
    ),
    ...handoffs.map(({ inputJsonSchema, toolDescription, toolName }) => ({
      name: toolName,
      description: toolDescription,
      inputSchema: inputJsonSchema as never
    }))
  ],
  parameters: {
    ...parametersOf(modelSettings),
    ...hosted([
      ...tools.flatMap((tool) => tool.type === "hosted_tool" ? [tool.name] : []),
      // What the vendor has stored is read too.
      ...Object.entries({ conversationId, previousResponseId, prompt }).flatMap(([name, value]) =>
        value === undefined ? [] : [name]
      )
    ])
  }
})

const parametersOf = ({ maxTokens, temperature, topP }: ModelRequest["modelSettings"]): LlmParameters => ({
  ...(maxTokens === undefined ? {} : { maxTokens }),
  ...(temperature === undefined ? {} : { temperature }),
  ...(topP === undefined ? {} : { topP })
})

const changedParameters = (before: LlmParameters, now: LlmParameters): ModelRequest["modelSettings"] => ({
  ...(before.maxTokens === now.maxTokens ? {} : { maxTokens: now.maxTokens! }),
  ...(before.temperature === now.temperature ? {} : { temperature: now.temperature! }),
  ...(before.topP === now.topP ? {} : { topP: now.topP! })
})
