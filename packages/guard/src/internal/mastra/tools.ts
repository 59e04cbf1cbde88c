/** Tools of Mastra inside the guard. A question is a suspended tool. */
import { ConfigError } from "@belay/core/AgentError"
import type { GivenCall } from "@belay/core/Driver"
import { canonical, type Json, type JsonObject } from "@belay/core/Json"
import type { Decision } from "@belay/core/RunState"
import { ToolWaits } from "@belay/core/ToolWaits"
import * as Result from "effect/Result"
import { GuardError } from "../../GuardError.ts"
import { decide } from "../decide.ts"
import { jsonOf, sameJson } from "../json.ts"
import type { Described, Place } from "../place.ts"
import { notOpen, questionText } from "../questionText.ts"
import { hintsOf } from "../toolHints.ts"
import { toolsOf } from "../unguarded.ts"

/** A tool of Mastra or of the AI SDK. */
interface AnyTool {
  readonly description?: unknown
  readonly inputSchema?: unknown
  readonly resumeSchema?: unknown
  readonly providerOptions?: { readonly [provider: string]: unknown }
  readonly mcp?: { readonly annotations?: { readonly [hint: string]: unknown } }
  readonly execute?: (input: unknown, context?: Context) => unknown
  readonly toModelOutput?: (output: unknown) => unknown
}

type Suspend = (payload: unknown, options?: { readonly [option: string]: unknown }) => unknown

/** What the SDK says about the agent that calls. Tools of the AI SDK get it as it is, others as `agent`. */
interface Calling {
  readonly toolCallId?: unknown
  readonly suspend?: Suspend
  readonly resumeData?: unknown
  readonly suspendPayload?: unknown
}
interface Context extends Calling {
  readonly agent?: Calling
  readonly abortSignal?: AbortSignal
  readonly writer?: unknown
}

/** With this name among the options for vendors, a request says which of its tools are guarded. */
export const mark = "belay-guard"

/** A class, because it keeps what was wrapped and which calls the guard has seen. */
export class GuardedTools {
  /** The ids of the calls in answers that the guard has seen. */
  readonly seen = new Set<string>()
  readonly place: Place
  private readonly own = new WeakSet<object>()
  /** Results that hooks have changed, as text. Their tools do not know how to show them. */
  private readonly changed = new Set<string>()
  private readonly known = new Map<string, Described>()
  private readonly canAsk: boolean

  constructor(place: (describe: (name: string) => Promise<Described>) => Place) {
    this.place = place((name) => Promise.resolve(this.known.get(name) ?? {}))
    this.canAsk = this.place.guard.chain.hooks.some((hook) =>
      hook.preToolCall !== undefined || hook.onPermission !== undefined
    )
  }

  /** Makes a tool known that the SDK runs itself. */
  describe(name: string, described: Described): void {
    if (!this.known.has(name)) this.known.set(name, described)
  }

  /** Wraps the tools that have a function. */
  wrap<Tools extends object>(tools: Tools): Tools {
    // Each tool keeps its type, because only its function is replaced.
    return Object.fromEntries(
      Object.entries(toolsOf(tools)).map(([name, tool]) => [name, this.wrapOne(name, tool)])
    ) as Tools
  }

  private wrapOne(name: string, tool: AnyTool): AnyTool {
    if (this.own.has(tool)) {
      throw new ConfigError({
        key: `tools.${name}`,
        message: `tools.${name}: it is guarded already: wrap each tool once`
      })
    }
    if (typeof tool !== "object" || tool === null || typeof tool.execute !== "function") return tool
    this.known.set(name, describedOf(tool))
    const { toModelOutput } = tool
    const value = (execute: unknown) => ({ value: execute, configurable: true, enumerable: true, writable: true })
    const wrapped = Object.create(Object.getPrototypeOf(tool) as object, {
      ...Object.getOwnPropertyDescriptors(tool),
      // The function of the tool checks what it resumes with. The answer to a question of the guard is something else.
      resumeSchema: value(undefined),
      // With a schema, the SDK runs the calls of a step one after the other. So each of them can wait for a person.
      suspendSchema: value(this.canAsk ? anything : undefined),
      providerOptions: value({ ...tool.providerOptions, [mark]: { guarded: true } }),
      execute: value((input: unknown, context?: Context) => this.run(name, tool, input, context)),
      ...(toModelOutput === undefined ? {} : {
        toModelOutput: value((output: unknown) => {
          if (!this.changed.has(canonical(jsonOf(output)))) return toModelOutput.call(tool, output)
          return { type: typeof output === "string" ? "text" : "json", value: output }
        })
      })
    }) as AnyTool
    this.own.add(wrapped)
    return wrapped
  }

  /** Runs a tool if the guard allows it. */
  private async run(name: string, tool: AnyTool, input: unknown, context: Context = {}): Promise<unknown> {
    const { place, place: { session }, seen } = this
    const calling = context.agent ?? context
    const { suspend, toolCallId } = calling
    const id = typeof toolCallId === "string" && toolCallId !== "" ? toolCallId : crypto.randomUUID()
    // When a call is resumed, its arguments are those of the model. The first time, they were read with the schema.
    const read = calling.resumeData === undefined ? input : await decoded(tool.inputSchema, input)
    const call: GivenCall = { id, name, args: jsonOf(read), tool: await place.toolOf(name) }
    const isOpen = (await session.pending()).some(({ callId }) => callId === id)
    if (id === toolCallId && !isOpen && !seen.has(id) && calling.suspendPayload === undefined) {
      throw refused("the guard has not seen the model of this agent. Make the agent with guarded.config()")
    }
    const question = await this.question(call, calling, isOpen)
    if (question !== undefined) {
      if (suspend === undefined) throw refused(`nobody can be asked here: ${question}`)
      return await suspend({ tool: name, reason: question })
    }
    let ended: { readonly output: unknown; readonly json: Json } | { readonly error: unknown } | undefined
    const own = ownContext(context, tool, isOpen)
    // What a tool writes is part of its result, and hooks read the whole of it.
    if (context.writer !== undefined && place.acts("postToolCall", "wrapToolCall")) {
      Object.assign(context, { writer: silentWriter() })
    }
    const verdict = await session.callTool(call, async (allowed) => {
      place.ran.add(id)
      try {
        // The turn may have been cancelled while the guard was deciding.
        context.abortSignal?.throwIfAborted()
        const isSame = sameJson(allowed, call.args ?? {})
        // The function of the tool reads its arguments with its schema, unless the SDK has done that for this context.
        const isRead = isSame && !isOpen
        const output = await tool.execute!(isSame ? input : allowed, isRead ? own.context : { ...own.context })
        // The SDK runs the tool again when the person has answered.
        if (own.isSuspended()) throw new ToolWaits()
        const json = jsonOf(output)
        ended = { output, json }
        return json
      } catch (error) {
        ended = { error }
        throw error
      }
    })
    place.ran.add(id)
    if (own.isSuspended()) return undefined
    if (verdict.type === "ask") throw refused(verdict.question.reason)
    if (verdict.type !== "allow") throw new GuardError(verdict)
    const { result } = verdict
    if (!result.ok) {
      if (ended !== undefined && "error" in ended && messageOf(ended.error) === result.error) throw ended.error
      throw new Error(result.error)
    }
    if (tool.toModelOutput !== undefined) place.noteResult(id, result.output)
    // What no hook has changed goes on as the tool gave it, whatever its type is.
    if (ended !== undefined && "output" in ended && sameJson(ended.json, result.output)) return ended.output
    this.changed.add(canonical(result.output))
    return result.output
  }

  /** Returns what a person has to decide about the call. If a person has answered, the session knows it. */
  private async question(
    call: GivenCall,
    { resumeData, suspendPayload }: Calling,
    isOpen: boolean
  ): Promise<string | undefined> {
    const { by, session } = this.place
    const verdict = await session.toolCall(call)
    if (verdict.type !== "ask") return undefined
    if (resumeData === undefined || resumeData === null) return questionText(verdict.question, call.args)
    if (!isOpen || suspendPayload === undefined) {
      await decide(session, call.id, {
        type: "deny",
        reason: isOpen ? "the SDK has asked nobody" : notOpen(this.place, call)
      })
      return undefined
    }
    try {
      const next = await session.decide(call.id, { ...decisionOf(resumeData), ...by })
      return next.type === "ask" ? questionText(next.question, call.args) : undefined
    } catch (error) {
      if (error instanceof Error && "problem" in error) throw refused(error.message)
      throw error
    }
  }
}

const refused = (reason: string): GuardError =>
  new GuardError({ type: "deny", by: "runtime", reason: `not run: ${reason}` })

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** Reads the answer to a question. What is not an approval is a refusal. */
const decisionOf = (answer: unknown): Decision => {
  const { approved, args, message, reason = message, type } = Object(answer) as { readonly [key: string]: unknown }
  if (type === "edit") return { type: "edit", args: jsonOf(args) }
  if (approved === true || type === "approve") return { type: "approve" }
  return { type: "deny", reason: typeof reason === "string" ? reason : "a person refused the call" }
}

/** The context without the answer to a question of the guard. It notes whether the tool suspends itself. */
const ownContext = (context: Context, tool: AnyTool, isAnswered: boolean) => {
  let suspended = false
  const calling = context.agent ?? context
  const { suspend } = calling
  const changed: Calling = {
    ...(isAnswered ? { resumeData: undefined, suspendPayload: undefined } : {}),
    ...(suspend === undefined ? {} : {
      suspend: (payload: unknown, options: object = {}) => {
        suspended = true
        const resumeSchema = schemaOf(tool.resumeSchema)
        return suspend(payload, {
          ...(resumeSchema === undefined ? {} : { resumeSchema: JSON.stringify(resumeSchema) }),
          ...options
        })
      }
    })
  }
  // The SDK knows by the identity of a context that it has read the arguments, so it is changed in place.
  if (context.agent === undefined) Object.assign(context, changed)
  else Object.assign(context, { agent: { ...context.agent, ...changed } })
  return { context, isSuspended: () => suspended }
}

/** A stream like that of the SDK, which shows nothing. */
const silentWriter = (): object => {
  const write = (): Promise<void> => Promise.resolve()
  return Object.assign(new WritableStream(), { write, custom: write })
}

const describedOf = ({ description, inputSchema, mcp }: AnyTool): Described => {
  const schema = schemaOf(inputSchema)
  return {
    ...(typeof description === "string" ? { description } : {}),
    ...(schema === undefined ? {} : { inputSchema: schema }),
    ...hintsOf(mcp?.annotations)
  }
}

/** Reads arguments with the schema of the tool, if they fit. */
const decoded = async (schema: unknown, input: unknown): Promise<unknown> => {
  const read = await (Object(schema) as Standard)["~standard"]?.validate?.(input)
  return read === undefined || read.issues !== undefined ? input : read.value
}

interface Standard {
  readonly jsonSchema?: unknown
  readonly "~standard"?: {
    readonly version?: 1
    readonly vendor?: string
    readonly validate?: (value: unknown) => Validated | Promise<Validated>
    readonly jsonSchema?: {
      readonly input?: (options: { readonly target: string }) => unknown
      readonly output?: (options: { readonly target: string }) => unknown
    }
  }
}

/** A schema that every value fits. */
const anything: Standard & object = {
  "~standard": {
    version: 1,
    vendor: "belay",
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({}), output: () => ({}) }
  }
}

interface Validated {
  readonly value?: unknown
  readonly issues?: unknown
}

/** Returns a schema as the model reads it, if it can be read. */
const schemaOf = (schema: unknown): JsonObject | undefined => {
  const { "~standard": standard, jsonSchema } = Object(schema) as Standard
  const read = Result.try(() => jsonOf(standard?.jsonSchema?.input?.({ target: "draft-07" }) ?? jsonSchema))
  if (Result.isFailure(read) || typeof read.success !== "object" || read.success === null) return undefined
  return read.success as JsonObject
}
