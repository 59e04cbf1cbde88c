/** A model of the AI SDK inside the guard. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult
} from "@ai-sdk/provider"
import type { LlmParameters, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import { GuardError } from "../../GuardError.ts"
import { withCost } from "../withCost.ts"
import type { Place } from "./place.ts"
import { type ReadPrompt, readPrompt, writeMessage, writePrompt } from "./prompt.ts"
import { finishOf, ownAnswer, readAnswer, writeContent } from "./response.ts"
import { collect, replay, streamAnswer } from "./stream.ts"
import { TurnInput } from "./turnInput.ts"

/** Asks the model of the driver. */
type Call = (params: LanguageModelV4CallOptions) => PromiseLike<LanguageModelV4GenerateResult>

/** A class, because it stands for another model and passes everything else on. */
export class GuardedModel implements LanguageModelV4 {
  readonly specificationVersion = "v4"
  private readonly place: Place
  private readonly inner: LanguageModelV4
  private readonly input: TurnInput

  constructor(place: Place, inner: LanguageModelV4) {
    this.place = place
    this.inner = inner
    this.input = new TurnInput(place)
  }

  get provider(): string {
    return this.inner.provider
  }
  get modelId(): string {
    return this.inner.modelId
  }
  get supportedUrls(): LanguageModelV4["supportedUrls"] {
    return this.inner.supportedUrls
  }

  async doGenerate(params: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    return await this.answer(params, async (allowed) => await this.inner.doGenerate(allowed))
  }

  async doStream(params: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    // What hooks may still change or refuse as a whole is not shown before they have decided.
    const isGated = this.place.acts("postLlmCall", "postTurn", "revealText", "hold")
    if (isGated) {
      const answer = await this.answer(params, async (allowed) => await collect(await this.inner.doStream(allowed)))
      return { stream: replay(answer) }
    }
    return {
      stream: streamAnswer(async (send: (part: LanguageModelV4StreamPart) => void) =>
        await this.answer(
          params,
          async (allowed) =>
            await collect(await this.inner.doStream(allowed), { send, pass: (text) => this.pass(text) }),
          true
        )
      )
    }
  }

  /** Passes a piece of text through the hooks. */
  private async pass(text: string): Promise<string> {
    if (!this.place.acts("onLlmDelta")) return text
    const verdict = await this.place.session.modelDelta({ type: "text", text })
    if (verdict.type !== "allow") throw new GuardError(verdict)
    return verdict.delta.type === "text" ? verdict.delta.text : text
  }

  /** Asks the model inside the guard, until the turn may go on or end with the answer. */
  private async answer(
    params: LanguageModelV4CallOptions,
    call: Call,
    isShown = false
  ): Promise<LanguageModelV4GenerateResult> {
    const { place, place: { session } } = this
    const prompt = readPrompt(params.prompt)
    const begun = await this.input.receive(prompt)
    if (begun !== undefined) return ownAnswer(begun.text, begun.raw)
    const read: ReadPrompt = {
      ...prompt,
      units: prompt.units.map((unit) => {
        const changed = place.changeOf(unit.message)
        return changed === undefined ? unit : { message: changed, source: writeMessage(changed, unit.source) }
      })
    }
    const more: Array<Message> = []
    for (;;) {
      const messages = [...read.units.map(({ message }) => message), ...more]
      let last: LanguageModelV4GenerateResult | undefined
      const request = requestOf(params, this.modelId, read.instructions, messages)
      const verdict = await session.callModel(request, async (allowed) => {
        const result = await call({
          ...params,
          ...changedParameters(request.parameters, allowed.parameters),
          prompt: writePrompt(read, allowed.instructions, allowed.messages)
        })
        const text = isShown ? undefined : await this.passWhole(result)
        last = text === undefined ? result : { ...result, content: writeContent(result.content, text) }
        const model = result.response?.modelId ?? this.modelId
        return withCost(place.guard, readAnswer(last, model), this.provider)
      })
      if (verdict.type === "deny") throw new GuardError(verdict)
      if (verdict.type === "stop") return ownAnswer(verdict.reason, "guard: stopped")
      const { response } = verdict
      if (response.toolCalls.length > 0) return resultOf(last, response)
      messages.push({ role: "assistant", content: response.text })
      const end = await session.beforeStop({ text: response.text, messages })
      if (end.type === "deny") throw new GuardError(end)
      if (end.type === "stop") return ownAnswer(end.reason, "guard: stopped")
      if (end.type === "allow") {
        this.input.end()
        // The user reads what hooks reveal. The model does not: later requests have the text without it.
        place.noteChange({ role: "assistant", content: end.shown }, { role: "assistant", content: end.text })
        return resultOf(last, { ...response, text: end.shown })
      }
      more.push({ role: "assistant", content: response.text }, { role: "user", content: end.message })
    }
  }

  /** The hooks that look at pieces see an answer that was not streamed as one piece. */
  private async passWhole(
    result: LanguageModelV4GenerateResult
  ): Promise<Pick<LlmResponse, "text" | "toolCalls"> | undefined> {
    if (!this.place.acts("onLlmDelta")) return undefined
    const { text, toolCalls } = readAnswer(result, this.modelId)
    if (text === "") return undefined
    const passed = await this.pass(text)
    return passed === text ? undefined : { text: passed, toolCalls }
  }
}

const resultOf = (
  last: LanguageModelV4GenerateResult | undefined,
  response: LlmResponse
): LanguageModelV4GenerateResult => {
  const base = last ?? { ...ownAnswer("", "guard: answered"), content: [] }
  return {
    ...base,
    content: writeContent(base.content, response),
    finishReason: finishOf(base.finishReason, response)
  }
}

const requestOf = (
  params: LanguageModelV4CallOptions,
  model: string,
  instructions: string | undefined,
  messages: ReadonlyArray<Message>
): LlmRequest => ({
  model,
  ...(instructions === undefined ? {} : { instructions }),
  messages,
  tools: (params.tools ?? []).flatMap((tool) =>
    // Both are JSON Schemas.
    tool.type === "function"
      ? [{ name: tool.name, description: tool.description ?? "", inputSchema: tool.inputSchema as never }]
      : []
  ),
  parameters: parametersOf(params)
})

const parametersOf = (
  { maxOutputTokens, seed, stopSequences, temperature, topP }: LanguageModelV4CallOptions
): LlmParameters => ({
  ...(maxOutputTokens === undefined ? {} : { maxTokens: maxOutputTokens }),
  ...(seed === undefined ? {} : { seed }),
  ...(stopSequences === undefined ? {} : { stop: stopSequences }),
  ...(temperature === undefined ? {} : { temperature }),
  ...(topP === undefined ? {} : { topP })
})

/** Returns the parameters that hooks have changed, with the names of the AI SDK. */
const changedParameters = (before: LlmParameters, now: LlmParameters): Partial<LanguageModelV4CallOptions> => ({
  ...(before.maxTokens === now.maxTokens ? {} : { maxOutputTokens: now.maxTokens! }),
  ...(before.seed === now.seed ? {} : { seed: now.seed! }),
  ...(JSON.stringify(before.stop) === JSON.stringify(now.stop) ? {} : { stopSequences: [...now.stop ?? []] }),
  ...(before.temperature === now.temperature ? {} : { temperature: now.temperature! }),
  ...(before.topP === now.topP ? {} : { topP: now.topP! })
})
