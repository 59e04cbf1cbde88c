/** A model of the AI SDK inside the guard. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult
} from "@ai-sdk/provider"
import { ConfigError } from "@belay/core/AgentError"
import type { LlmParameters, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import { answer, type Checked, passText } from "../answer.ts"
import type { Place } from "../place.ts"
import type { TurnInput } from "../turnInput.ts"
import { hosted } from "../unseen.ts"
import { withCost } from "../withCost.ts"
import { type ReadPrompt, readPrompt, writeMessage, writePrompt } from "./prompt.ts"
import { finishOf, ownAnswer, readAnswer, writeContent } from "./response.ts"
import { collect, replay, streamAnswer } from "./stream.ts"

/** Asks the model of the driver. */
type Call = (params: LanguageModelV4CallOptions) => PromiseLike<LanguageModelV4GenerateResult>

/** Looks at the calls of an answer before they run. */
export type CheckCalls = (response: LlmResponse, tools: LanguageModelV4CallOptions["tools"]) => Promise<Checked>

/** A class, because it stands for another model and passes everything else on. */
export class GuardedModel implements LanguageModelV4 {
  readonly specificationVersion = "v4"
  private readonly place: Place
  private readonly inner: LanguageModelV4
  private readonly input: TurnInput
  private readonly check: CheckCalls | undefined

  /** The models of a conversation share what has come in: one of them may continue the turn of another. */
  constructor(place: Place, input: TurnInput, inner: LanguageModelV4, check?: CheckCalls) {
    this.place = place
    this.input = input
    this.inner = inner
    this.check = check
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
            await collect(await this.inner.doStream(allowed), {
              send,
              pass: (text, type) => passText(this.place, text, type)
            }),
          true
        )
      )
    }
  }

  /** Asks the model inside the guard, until the turn may go on or end with the answer. */
  private async answer(
    given: LanguageModelV4CallOptions,
    call: Call,
    isShown = false
  ): Promise<LanguageModelV4GenerateResult> {
    const { check, input, place } = this
    if (Object(given)[asked] === place) throw guardedTwice()
    const params = { ...given, [asked]: place }
    const prompt = readPrompt(params.prompt)
    const begun = await input.receive(prompt.units.map(({ message }) => message))
    if (begun !== undefined) return ownAnswer(begun.text, begun.raw)
    let isChanged = false
    const read: ReadPrompt = {
      ...prompt,
      units: prompt.units.map((unit) => {
        const changed = place.changeOf(unit.message)
        if (changed === undefined) return unit
        isChanged = true
        return { message: changed, source: writeMessage(changed, unit.source) }
      })
    }
    let last: LanguageModelV4GenerateResult | undefined
    const messages = read.units.map(({ message }) => message)
    const request = requestOf(params, this.modelId, read.instructions, messages)
    const answered = await answer({
      place,
      input,
      request,
      ...(check === undefined ? {} : { check: (response) => check(response, params.tools) }),
      call: async (allowed) => {
        const result = await call({
          ...params,
          ...changedParameters(request.parameters, allowed.parameters),
          prompt: isChanged || allowed.messages !== messages || allowed.instructions !== read.instructions
            ? writePrompt(read, allowed.instructions, allowed.messages)
            : params.prompt
        })
        const said = readAnswer(result, result.response?.modelId ?? this.modelId)
        // The hooks that look at pieces see an answer that was not streamed as one piece.
        const text = isShown || said.text === "" ? said.text : await passText(place, said.text)
        last = text === said.text ? result : { ...result, content: writeContent(result.content, { ...said, text }) }
        return withCost(place.guard, { ...said, text }, this.provider)
      }
    })
    return answered.type === "own"
      ? ownAnswer(answered.answer.text, answered.answer.raw)
      : resultOf(last, answered.response)
  }
}

/** Notes in a request for which conversation the guard has read it. The copies that middleware makes have it too. */
const asked = Symbol("belay-guard")

/** The error for a model that is wrapped again. */
export const guardedTwice = (): ConfigError =>
  new ConfigError({ key: "model", message: "model: it is guarded already: wrap each model once" })

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
  parameters: {
    ...parametersOf(params),
    ...hosted((params.tools ?? []).flatMap((tool) => tool.type === "function" ? [] : [tool.name]))
  }
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
