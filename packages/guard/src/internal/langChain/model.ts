/** Models of LangChain inside the guard: those of an agent, and those that a graph calls itself. */
import { ConfigError } from "@belay/core/AgentError"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { BindToolsInput } from "@langchain/core/language_models/chat_models"
import { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { AIMessage, type BaseMessage, SystemMessage } from "@langchain/core/messages"
import type { ChatResult } from "@langchain/core/outputs"
import type { Runnable } from "@langchain/core/runnables"
import type { createMiddleware } from "langchain"
import { answer, passText } from "../answer.ts"
import type { Place } from "../place.ts"
import { TurnInput } from "../turnInput.ts"
import { refuseUnguarded } from "../unguarded.ts"
import { withChanges, writeUnits } from "../units.ts"
import { hosted } from "../unseen.ts"
import { withCost } from "../withCost.ts"
import { isInstructions, readMessages, responseOf, writeAnswer, writeMessage } from "./messages.ts"
import type { KnownTools } from "./tools.ts"

type WrapModelCall = NonNullable<Parameters<typeof createMiddleware>[0]["wrapModelCall"]>

/** What a driver asks, and how. */
interface Asked {
  readonly instructions: string | undefined
  readonly messages: ReadonlyArray<BaseMessage>
  readonly tools: ReadonlyArray<unknown>
  /** Asks the model. The instructions are there if a hook has changed them. */
  readonly call: (messages: Array<BaseMessage>, instructions: string | undefined) => Promise<AIMessage>
}

/** LangGraph shows nothing of a model with this tag before its node has ended. */
const quiet = ["nostream"]

/** A class, because it knows which messages of the conversation have been received. */
export class GuardedCalls {
  private readonly place: Place
  private readonly known: KnownTools
  private readonly input: TurnInput

  constructor(place: Place, known: KnownTools) {
    this.place = place
    this.known = known
    this.input = new TurnInput(place)
  }

  /** Wraps the model calls of an agent. */
  readonly wrapModelCall: WrapModelCall = async (request, handler) => {
    const { messages, model, systemMessage, tools } = request
    if (model instanceof GuardedChat) throw twice("model")
    for (const tool of tools) this.known.add(tool)
    // What hooks may still change or refuse as a whole is not shown before they have decided.
    const isGated = this.place.acts("postLlmCall", "postTurn", "revealText", "onLlmDelta", "hold")
    let last: unknown
    const text = systemMessage.text
    const answered = await this.ask({
      instructions: text === "" ? undefined : text,
      messages,
      tools,
      call: async (allowed, instructions) => {
        last = await handler({
          ...request,
          messages: instructions === undefined ? allowed : withoutInstructions(allowed),
          // A model with a tag answers as the model does.
          ...(isGated ? { model: (model as BaseChatModel).withConfig({ tags: quiet }) as typeof model } : {}),
          ...(instructions === undefined ? {} : { systemPrompt: instructions })
        })
        return plainAnswer(last)
      }
    })
    if (!isStructured(last)) return answered
    if (answered.text === JSON.stringify(last.structuredResponse)) return last as never
    throw new Error("a hook changed an answer with a schema, which LangChain cannot pass on: change its text instead")
  }

  /** Returns a model for graphs that call it themselves. */
  model(given: BaseChatModel): BaseChatModel {
    if (given instanceof GuardedChat) throw twice("model")
    if (!(given instanceof BaseChatModel)) {
      throw new ConfigError({ key: "model", message: "model: expected a chat model of LangChain, without bound tools" })
    }
    return new GuardedChat(this, given, [])
  }

  /** Asks a model that a graph has called. */
  async askPlain(
    messages: ReadonlyArray<BaseMessage>,
    tools: ReadonlyArray<BindToolsInput>,
    call: (messages: Array<BaseMessage>) => Promise<AIMessage>
  ): Promise<AIMessage> {
    for (const tool of tools) this.known.add(tool)
    const system = messages.find(({ type }) => type === "system")
    const answered = await this.ask({
      instructions: system?.text,
      messages,
      tools,
      call: async (allowed, instructions) =>
        await call(
          instructions === undefined
            ? allowed
            : [new SystemMessage(instructions), ...withoutInstructions(allowed)]
        )
    })
    for (const { name } of answered.tool_calls ?? []) {
      const isRunHere = tools.some((tool) => nameOf(tool) === name && typeof Object(tool).invoke === "function")
      if (isRunHere && !this.known.guarded.has(name)) refuseUnguarded(this.place, name, "wrap it with guarded.tools()")
    }
    return answered
  }

  private async ask({ call, instructions, messages, tools }: Asked): Promise<AIMessage> {
    const { input, place } = this
    const read = readMessages(messages)
    const begun = await input.receive(read.units.map(({ message }) => message))
    if (begun !== undefined) return new AIMessage(begun.text)
    const units = withChanges(place, read.units, writeMessage)
    const said = [instructions, read.instructions].filter((text) => text !== undefined)
    const request: LlmRequest = {
      ...(said.length === 0 ? {} : { instructions: [...new Set(said)].join("\n\n") }),
      messages: units.map(({ message }) => message),
      tools: this.known.described(tools.filter(isOwn)),
      parameters: hosted(tools.filter((tool) => !isOwn(tool)).map(nameOf))
    }
    let last: AIMessage | undefined
    const answered = await answer({
      place,
      input,
      request,
      call: async (allowed) => {
        last = await call(
          [...writeUnits(units, allowed.messages, writeMessage), ...read.rest],
          allowed.instructions === request.instructions ? undefined : allowed.instructions ?? ""
        )
        const response = responseOf(last)
        const text = response.text === "" ? "" : await passText(place, response.text)
        return withCost(place.guard, { ...response, text })
      }
    })
    if (answered.type === "own") return new AIMessage(answered.answer.text)
    const { response } = answered
    for (const { id } of response.toolCalls) this.known.seen.add(id)
    return writeAnswer(last, response)
  }
}

/** Hooks have changed the instructions: the new ones take the place of all. */
const withoutInstructions = (messages: ReadonlyArray<BaseMessage>): Array<BaseMessage> =>
  messages.filter((message) => !isInstructions(message))

/** Whether a tool runs here. The vendor runs those that are only described, in its own form. */
const isOwn = (tool: unknown): boolean => {
  const { invoke, type } = Object(tool) as { readonly invoke?: unknown; readonly type?: unknown }
  return typeof invoke === "function" || type === "function"
}

const nameOf = (tool: unknown): string => {
  const { name, type } = Object(tool) as { readonly name?: unknown; readonly type?: unknown }
  return typeof name === "string" ? name : typeof type === "string" ? type : "tool"
}

interface Structured {
  readonly structuredResponse: unknown
  readonly messages: ReadonlyArray<BaseMessage>
}

const isStructured = (value: unknown): value is Structured =>
  typeof value === "object" && value !== null && "structuredResponse" in value && "messages" in value

/** An answer with a schema is the end of the turn. Hooks read its JSON. */
const plainAnswer = (given: unknown): AIMessage => {
  if (AIMessage.isInstance(given)) return given
  if (!isStructured(given)) throw new Error("another middleware answered with something that the guard cannot read")
  const first = given.messages.find((message) => AIMessage.isInstance(message))
  return new AIMessage({
    content: JSON.stringify(given.structuredResponse),
    ...(first?.usage_metadata === undefined ? {} : { usage_metadata: first.usage_metadata })
  })
}

const twice = (key: string): ConfigError =>
  new ConfigError({ key, message: `${key}: it is guarded already: wrap each ${key} once` })

/** A class, because LangChain knows models by their class. Its answers are shown when the hooks have accepted them. */
class GuardedChat extends BaseChatModel {
  private readonly calls: GuardedCalls
  private readonly inner: BaseChatModel | Runnable
  private readonly bound: ReadonlyArray<BindToolsInput>

  constructor(calls: GuardedCalls, inner: BaseChatModel | Runnable, bound: ReadonlyArray<BindToolsInput>) {
    super({})
    this.calls = calls
    this.inner = inner
    this.bound = bound
    // The default of LangChain reads pieces of answers, which hooks have not accepted yet.
    const withStructuredOutput = () => {
      throw new ConfigError({
        key: "model",
        message: "model: withStructuredOutput is not there for guarded models: use responseFormat of createAgent, " +
          "or bind a tool that has the schema"
      })
    }
    Object.defineProperty(this, "withStructuredOutput", { value: withStructuredOutput })
  }

  override _llmType(): string {
    return "belay-guard"
  }

  override bindTools(tools: Array<BindToolsInput>, options?: Partial<this["ParsedCallOptions"]>): GuardedChat {
    if (!(this.inner instanceof BaseChatModel) || this.inner.bindTools === undefined) {
      throw new ConfigError({ key: "model", message: "model: it cannot have tools, or has them already" })
    }
    return new GuardedChat(this.calls, this.inner.bindTools(tools, options), tools)
  }

  override async _generate(messages: Array<BaseMessage>, options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const message = await this.calls.askPlain(messages, this.bound, async (allowed) => {
      const said: unknown = await this.inner.invoke(allowed, { ...options, tags: quiet, callbacks: [] })
      return plainAnswer(said)
    })
    return { generations: [{ text: message.text, message }] }
  }
}
