/** Answers questions of servers to the user (elicitation), with hooks and with a function of the host. */
import { defined } from "@belay/core/Fields"
import type { Json, JsonObject } from "@belay/core/Json"
import { whyNot } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { RunningCall } from "./runningCalls.ts"

/** A question of a server to the user. @category elicitation @since 0.2.0 */
export interface Question {
  readonly server: string
  /** `form` asks for values that fit `schema`. `url` asks the user to open `url`, such as a page to log in. */
  readonly mode: "form" | "url"
  /** The text for the user. It is a claim of the server, as everything here. */
  readonly message: string
  /** JSON Schema of the values: an object whose properties are texts, numbers, flags and choices. */
  readonly schema?: JsonObject
  /** An address that begins with `http://` or `https://`. */
  readonly url?: string
  /** The tool that runs, by its name on the server. */
  readonly tool: string
  /** The session whose call the server works for. Absent if a hook made the call. */
  readonly sessionId?: string
  /** Aborts when the call is cancelled. */
  readonly signal?: AbortSignal
}

/** What the user says. `content` has the values of a form. @category elicitation @since 0.2.0 */
export type Answer =
  | { readonly action: "accept"; readonly content?: { readonly [name: string]: AnswerValue } }
  | { readonly action: "decline" | "cancel" }

/** A value of a form. @category elicitation @since 0.2.0 */
export type AnswerValue = string | number | boolean | ReadonlyArray<string>

/**
 * Who answers questions. `hooks`: only `onSignal` hooks. A function: hooks first, and if none answers, the function.
 *
 * @category elicitation
 * @since 0.2.0
 */
export type OnElicit =
  | "hooks"
  | ((question: Question) => Answer | PromiseLike<Answer> | Effect.Effect<Answer, unknown>)

const Params = Schema.Struct({
  mode: Schema.optional(Schema.Literals(["form", "url"])),
  message: Schema.String,
  requestedSchema: Schema.optional(Schema.Unknown),
  url: Schema.optional(Schema.String),
  elicitationId: Schema.optional(Schema.String)
})

const AnswerSchema = Schema.Union([
  Schema.Struct({
    action: Schema.Literal("accept"),
    content: Schema.optionalKey(Schema.Record(
      Schema.String,
      Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String)])
    ))
  }),
  Schema.Struct({ action: Schema.Literals(["decline", "cancel"]) })
])

/** Asks hooks, then the function. Fails with the reason if the question or an answer cannot be read. */
export const answerQuestion = (
  server: string,
  params: unknown,
  onElicit: OnElicit,
  call: RunningCall
): Effect.Effect<Answer, string> =>
  Effect.gen(function*() {
    const read = Schema.decodeUnknownResult(Params)(params)
    if (Result.isFailure(read)) return yield* Effect.fail(`the question cannot be read: ${read.failure.message}`)
    const { elicitationId, message, mode = "form", requestedSchema: schema, url } = read.success
    const why = mode === "url" ? whyNoUrl(url) : whyNot(schema)
    if (why !== undefined) return yield* Effect.fail(`the question cannot be read: ${why}`)
    const about = { mcp_server_name: server, mode, message, tool_name: call.tool }
    const asked = yield* askHooks(call, "Elicitation", {
      ...about,
      ...(mode === "url"
        ? defined({ url, elicitation_id: elicitationId })
        // `whyNot` has checked that it is JSON.
        : { requested_schema: schema as Json })
    })
    const { sessionId, signal, tool } = call
    const answer = asked ?? (onElicit === "hooks" ? { action: "decline" as const } : yield* readAnswer(
      askFunction(onElicit, {
        server,
        mode,
        message,
        tool,
        ...defined({ sessionId, signal }),
        ...(mode === "url" ? defined({ url }) : { schema: schema as JsonObject })
      })
    ))
    const given = mode === "form" && answer.action === "accept" ? { content: answer.content ?? {} } : {}
    const last = yield* askHooks(call, "ElicitationResult", { ...about, action: answer.action, ...given as object })
    return last ?? { ...answer, ...given }
  })

const whyNoUrl = (url: string | undefined): string | undefined =>
  url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url)
    ? undefined
    : `expected an http or https URL, found ${JSON.stringify(url)?.slice(0, 100)}`

/** Returns nothing if no hook answers. A hook that rejects declines. */
const askHooks = (call: RunningCall, name: string, payload: JsonObject): Effect.Effect<Answer | undefined, string> => {
  if (call.sendSignal === undefined) return Effect.undefined
  return Effect.flatMap(call.sendSignal({ name, payload, blockable: true }), ({ allowed, answer }) => {
    if (!allowed) return Effect.succeed<Answer>({ action: "decline" })
    return answer === undefined ? Effect.undefined : readAnswer(Effect.succeed(answer))
  })
}

const askFunction = (onElicit: Exclude<OnElicit, "hooks">, question: Question): Effect.Effect<unknown, string> =>
  Effect.flatMap(
    Effect.try({ try: () => onElicit(question), catch: (error) => `onElicit failed: ${String(error)}` }),
    (answer) =>
      Effect.isEffect(answer)
        ? Effect.mapError(answer, (error) => `onElicit failed: ${String(error)}`)
        : Effect.tryPromise({ try: async () => answer, catch: (error) => `onElicit failed: ${String(error)}` })
  )

const readAnswer = (answer: Effect.Effect<unknown, string>): Effect.Effect<Answer, string> =>
  Effect.flatMap(answer, (one) => {
    const read = Schema.decodeUnknownResult(AnswerSchema)(one)
    return Result.isSuccess(read)
      ? Effect.succeed(read.success as Answer)
      : Effect.fail(
        `the answer must be { action: "accept" | "decline" | "cancel", content }, with texts, numbers, flags and ` +
          `lists of texts: ${read.failure.message}`
      )
  })
