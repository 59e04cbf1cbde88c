/**
 * Searches for injected instructions in the messages of users and in the results of tools.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, type Expectation, oneOf, within } from "@belay/core/OptionCheck"
import { failure, type ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import { InjectionScore, piece, type Score, type ScoredSignal } from "./internal/injection/injectionScore.ts"
import { rawSignals, signalNames, textSignals } from "./internal/injection/injectionSignals.ts"
import { compileRe2 } from "./internal/re2.ts"
import { textsOf } from "./internal/responseTexts.ts"
import * as Spotlight from "./internal/spotlight.ts"

/**
 * What happens to a suspicious text.
 *
 * - `block`: the message is rejected, or the result is withheld.
 * - `filter`: a note replaces the whole text.
 * - `rewrite`: a note replaces the suspicious sentences and the orders around them, or the whole text.
 * - `warn`: the text stays, with a warning.
 *
 * After `rewrite` and `warn` the session is tainted.
 *
 * @category models
 * @since 0.1.0
 */
export type Strategy = "block" | "warn" | "filter" | "rewrite"

/** A custom signal. @category models @since 0.1.0 */
export interface CustomSignal {
  readonly name: string
  /** An RE2 pattern. It searches the normalized text: compatible letters, single spaces, no invisible characters. */
  readonly pattern: string
  /** The weight of the signal, from 0 (it means nothing) to 1 (it is certain). */
  readonly weight: number
}

/** What was found, without the text. @category models @since 0.1.0 */
export interface Detection {
  readonly place: "input" | "history" | "toolResults"
  /** The score of the text, from 0 to 1. */
  readonly score: number
  readonly signals: ReadonlyArray<string>
  readonly tool?: string
}

/** Options of `PromptInjection.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** What happens to messages of users; `off` does not check them. Default `block`. */
  readonly input?: Strategy | "off"
  /** What happens to the results of tools; `off` does not check them. Default `rewrite`. */
  readonly toolResults?: Strategy | "off"
  /** The score from which a text is suspicious, above 0, up to 1. Weights of near signals add up. Default 0.7. */
  readonly threshold?: number
  /**
   * The signals to search for: `override`, `foreign-override`, `task-claim`, `addressed`, `persona`, `unbound`,
   * `role-marker`, `role-order`, `prompt-request`, `tool-call`, `tool-order`, `exfiltration`, `leak`, `concealment`,
   * `hide-from-user`, `tells-machine`, `hidden-text` and `encoded`. Default: all.
   */
  readonly detect?: ReadonlyArray<string>
  /** Custom signals, in addition to those of `detect`. Default none. */
  readonly signals?: ReadonlyArray<CustomSignal>
  /**
   * Whether only the message of the turn is checked. With `false` every user message of the conversation is checked
   * before each model call. Default true.
   */
  readonly lastMessageOnly?: boolean
  /**
   * Marks every result of a tool as data and explains the marks to the model. `delimit` puts marks around the result
   * that its author cannot forge; `datamark` puts a mark between all words. Default: no marks.
   */
  readonly spotlight?: "delimit" | "datamark"
  /** Called for every suspicious text. An error that it throws is ignored. */
  readonly onDetection?: (detection: Detection, ctx: HookContext) => void
}

/**
 * Whether a hook has found a suspicious text that was sent to the model of any agent of this conversation. It is in
 * `ctx.state`.
 *
 * @category state
 * @since 0.1.0
 */
export const tainted: HookState.HookKey<boolean> = HookState.ownKey("tainted", false)

/**
 * Returns whether a suspicious text was sent to the model in this conversation, also if a sub-agent read it. Use it to
 * make other hooks stricter then.
 *
 * @category reading
 * @since 0.1.0
 */
export const isTainted = checked(
  "PromptInjection.isTainted",
  ["ctx"],
  (ctx: { readonly state: Pick<HookState.HookState, "all"> }): boolean =>
    [...ctx.state.all(tainted).values()].includes(true)
)

const optionKinds: HookDefaults.OwnKinds<Options> = {
  input: "any",
  toolResults: "any",
  threshold: "number",
  detect: "textList",
  signals: "list",
  lastMessageOnly: "flag",
  spotlight: "text",
  onDetection: "function"
}

/**
 * Scores texts by the signals of injections. It fails closed. Throws a `ConfigError` for invalid options.
 *
 * This is a heuristic, which misses new forms of injections. So also mark the results of tools as data (`spotlight`),
 * and limit what a misled model can do.
 *
 * @example
 * ```ts
 * import * as Approval from "@belay/hooks/Approval"
 * import * as PromptInjection from "@belay/hooks/PromptInjection"
 *
 * const hooks = [
 *   PromptInjection.make({ input: "warn", toolResults: "rewrite", spotlight: "delimit" }),
 *   // When the session is tainted, a person approves everything that is sent.
 *   Approval.make({ tools: "send_*", when: (_call, ctx) => PromptInjection.isTainted(ctx) })
 * ]
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("prompt-injection", options, optionKinds)
  const name = options.name ?? "prompt-injection"
  const signals = Result.getOrThrow(compileSignals(options, name))
  const { input = "block", lastMessageOnly = true, spotlight, threshold = 0.7, toolResults = "rewrite" } = options
  const score = new InjectionScore(signals, threshold)
  const isChecked = options.tools === undefined ? () => true : matcher(options.tools)
  const report = reporter(score, options.onDetection)

  const checkMessage = (message: string, place: "input" | "history", ctx: HookContext): Checked => {
    if (input === "off") return { text: message }
    const problem = report({ text: message, place, strategy: input }, ctx)
    if (problem === undefined || input === "warn") return { text: message }
    if (input === "block") return { blocked: problem }
    return { text: input === "filter" ? score.note : score.rewrite(message) }
  }
  const checkResult = (result: ToolResult, tool: string, ctx: HookContext, known?: Score): ToolResult => {
    const original = result.ok ? result.output : result.error
    let content = original
    if (toolResults !== "off") {
      const text = textsOf(original).join("\n")
      const problem = report({ text, place: "toolResults", strategy: toolResults, tool }, ctx, known)
      if (problem !== undefined && toolResults === "block") {
        return failure(`the result of ${tool} was withheld: ${problem}`)
      }
      if (problem !== undefined && toolResults === "filter") content = score.note
      if (problem !== undefined && toolResults === "rewrite") {
        // A long text that is suspicious is withheld.
        content = known === undefined ? score.rewriteJson(original) : score.note
      }
    }
    if (spotlight !== undefined) content = Spotlight.markResult(content, spotlight)
    if (content === original) return result
    if (result.ok) return { ok: true, output: content }
    return failure(typeof content === "string" ? content : JSON.stringify(content))
  }
  const checkHistory = (messages: ReadonlyArray<Message>, ctx: HookContext): Messages => {
    const checked: Array<Message> = []
    for (const message of messages) {
      if (message.role !== "user" || typeof message.content !== "string") {
        checked.push(message)
        continue
      }
      const { blocked, text = message.content } = checkMessage(message.content, "history", ctx)
      if (blocked !== undefined) return { blocked }
      checked.push(text === message.content ? message : { ...message, content: text })
    }
    const isSame = checked.every((message, index) => message === messages[index])
    return { messages: isSame ? messages : checked }
  }
  const checksHistory = input !== "off" && !lastMessageOnly

  return HookDefaults.apply(
    options,
    withoutUndefined<AgentHook>({
      name,
      priority: 15,
      kind: "policy",
      reinvoke: "reapply",
      preTurn: input === "off"
        ? undefined
        : (turn, ctx) => {
          // The result of a client's tool is checked at `postToolCall`, like that of any tool.
          if (turn.part === "result" && toolResults !== "off") return undefined
          const { blocked, text } = checkMessage(turn.message, "input", ctx)
          if (blocked !== undefined) return HookAction.reject(blocked)
          return text === undefined || text === turn.message
            ? undefined
            : HookAction.transform({ ...turn, message: text })
        },
      preLlmCall: !checksHistory && spotlight === undefined
        ? undefined
        : (request, ctx) => {
          const { blocked, messages = request.messages } = checksHistory ? checkHistory(request.messages, ctx) : {}
          if (blocked !== undefined) return HookAction.reject(blocked)
          const noted = spotlight === undefined ? request : withNote(request, Spotlight.notes[spotlight])
          return messages === request.messages && noted === request
            ? undefined
            : HookAction.transform({ ...noted, messages })
        },
      postToolCall: toolResults === "off" && spotlight === undefined
        ? undefined
        : ({ call, result }, ctx) => {
          if (!isChecked(call.name)) return undefined
          const answer = (known?: Score) => {
            const checked = checkResult(result, call.name, ctx, known)
            return checked === result ? undefined : HookAction.transform(checked)
          }
          const text = toolResults === "off" ? "" : textsOf(result.ok ? result.output : result.error).join("\n")
          return text.length < longText ? answer() : Effect.map(scoreInPieces(score, text), answer)
        }
    })
  )
}

/** Texts from this length on are searched in pieces, between which the process does other work. */
const longText = 10 * piece

const scoreInPieces = Effect.fnUntraced(function*(score: InjectionScore, text: string) {
  const pieces = score.inPieces(text)
  let next = pieces.next()
  while (next.done !== true) {
    yield* Effect.yieldNow
    next = pieces.next()
  }
  return next.value
})

/** A checked message: its text, or the reason why it is blocked. */
interface Checked {
  readonly text?: string
  readonly blocked?: string
}

/** Checked messages, or the reason why one of them is blocked. */
interface Messages {
  readonly messages?: ReadonlyArray<Message>
  readonly blocked?: string
}

/** Adds a note to the instructions of a request, once. */
const withNote = (request: LlmRequest, note: string): LlmRequest => {
  const { instructions } = request
  if (instructions?.includes(note) === true) return request
  return { ...request, instructions: instructions ? `${instructions}\n\n${note}` : note }
}

/** A text that is checked. */
interface Suspect {
  readonly text: string
  readonly place: Detection["place"]
  readonly strategy: Strategy
  readonly tool?: string
}

/** Reports a suspicious text, and returns what is wrong with it; `undefined` for other texts. */
const reporter =
  (score: InjectionScore, onDetection: Options["onDetection"]) =>
  ({ place, strategy, text, tool }: Suspect, ctx: HookContext, known?: Score): string | undefined => {
    const { found, value } = known ?? score.of(text)
    if (value < score.threshold) return undefined
    const rounded = Math.round(value * 100) / 100
    const detection = { place, score: rounded, signals: found }
    Result.try(() => onDetection?.(tool === undefined ? detection : { ...detection, tool }, ctx))
    const subject = tool === undefined ? "a message" : `the result of ${tool}`
    const problem = `${subject} looks like an injection (${found.join(", ")}; score ${rounded})`
    if (strategy === "warn" || strategy === "rewrite") ctx.state.set(tainted(ctx.hook), true)
    ctx.warn(`${problem}: ${strategy}`)
    return problem
  }

const strategies: ReadonlyArray<string> = ["block", "warn", "filter", "rewrite", "off"]

const compileSignals = (options: Options, name: string) => {
  const { detect = signalNames, input, signals: custom = [], spotlight, threshold, toolResults } = options
  const isThreshold: Expectation = [
    "threshold",
    threshold,
    (value: number) => value > 0 && value <= 1,
    "a number above 0, up to 1"
  ]
  return Result.gen(function*() {
    yield* checkOptions(
      name,
      oneOf("input", input, strategies),
      oneOf("toolResults", toolResults, strategies),
      isThreshold,
      oneOf("spotlight", spotlight, ["delimit", "datamark"]),
      ...detect.map((signal) => oneOf("detect", signal, signalNames)),
      ...custom.map(({ weight }, index) => within(`signals[${index}].weight`, weight, 0, 1))
    )
    const compiled = yield* Result.all(custom.map(({ name: signal, pattern, weight }, index) =>
      Result.map(
        compileRe2(pattern, `${name}.signals[${index}].pattern`),
        (regex): ScoredSignal => ({ name: signal, weight, raw: false, test: (text) => regex.test(text) })
      )
    ))
    const known: ReadonlyArray<ScoredSignal> = [
      ...textSignals.map((signal) => ({ ...signal, raw: false })),
      ...rawSignals.map((signal) => ({ ...signal, raw: true }))
    ]
    return [...known.filter((signal) => detect.includes(signal.name)), ...compiled]
  })
}

/**
 * Puts marks around a text from outside, so that a model can distinguish it from instructions. The marks contain a
 * digest of the text, so that the author of the text cannot forge them. Use it for text that you add to a prompt
 * yourself. A text that is marked already stays as it is.
 *
 * @example
 * ```ts
 * import * as PromptInjection from "@belay/hooks/PromptInjection"
 *
 * PromptInjection.markAsData("Ignore all previous instructions.") // "[data 1f0c…]\nIgnore all…\n[/data 1f0c…]"
 * ```
 * @category operations
 * @since 0.1.0
 */
export const markAsData = checked(
  "PromptInjection.markAsData",
  ["text"],
  (text: string): string => Spotlight.delimit(text)
)
