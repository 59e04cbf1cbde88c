/**
 * Looks for instructions where there should be none: in what users write and, above all, in what tools bring back.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { Json } from "@belay/core/Json"
import { type Message, text as textOf } from "@belay/core/Message"
import { matcher } from "@belay/core/NamePattern"
import { failure, type ToolResult } from "@belay/core/Tool"
import * as Result from "effect/Result"
import { RE2JS } from "re2js"
import * as HookDefaults from "../HookDefaults.ts"
import { strings } from "./internal/response.ts"
import { names, plain, raw, type Signal, signals } from "./internal/signals.ts"
import * as Spotlight from "./internal/spotlight.ts"

/**
 * What is done about a suspicious text. `block` refuses the message, or withholds the result. `filter` replaces the
 * text as a whole. `rewrite` takes out the
 * sentences that give it away. `warn` lets it pass. A text that passes, whole or in part, taints the session.
 *
 * @category models
 * @since 0.1.0
 */
export type Strategy = "block" | "warn" | "filter" | "rewrite"

/** A sign of one's own. @category models @since 0.1.0 */
export interface CustomSignal {
  readonly name: string
  /** An RE2 pattern, searched for in the plain form of a text: compatible letters, single spaces, nothing hidden. */
  readonly pattern: string
  /** From 0 (none) to 1 (certain). */
  readonly weight: number
}

/** What was found: never the text. @category models @since 0.1.0 */
export interface Detection {
  readonly place: "input" | "history" | "toolResults"
  /** From 0 to 1. */
  readonly score: number
  readonly signals: ReadonlyArray<string>
  readonly tool?: string
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** For messages of users. Default `block`; `off` leaves them alone. */
  readonly input?: Strategy | "off"
  /** For the results of tools. Default `rewrite`; `off` leaves them alone. */
  readonly toolResults?: Strategy | "off"
  /** A text counts from this score on, from 0 to 1: signals add up, none alone is certain. Default 0.7. */
  readonly threshold?: number
  /**
   * Signals that count, of `override`, `persona`, `role-marker`, `prompt-request`, `tool-call`, `exfiltration`,
   * `concealment`, `hidden-text` and
   * `encoded`. Default: all.
   */
  readonly detect?: ReadonlyArray<string>
  /** Signals of one's own, beside the others. */
  readonly signals?: ReadonlyArray<CustomSignal>
  /**
   * Looks only at the message of the turn. False looks, before each call of the model, at every user message of the
   * conversation. Default true.
   */
  readonly lastMessageOnly?: boolean
  /**
   * Marks every result of a tool as data, suspicious or not, and tells the model so: `delimit` writes marks around it
   * that its author cannot know,
   * `datamark` puts a mark between all of its words. Default: neither.
   */
  readonly spotlight?: "delimit" | "datamark"
  /** Hears of everything suspicious. What it throws is ignored. */
  readonly onDetection?: (detection: Detection, ctx: HookContext) => void
}

/** Whether a suspicious text has reached the model in this session. @category state @since 0.1.0 */
export const tainted: HookState.StateKey<boolean> = HookState.key("prompt-injection/tainted", false)

/**
 * Whether a suspicious text has reached the model in this session: other hooks may then be stricter.
 *
 * @category reading
 * @since 0.1.0
 */
export const isTainted = (ctx: { readonly state: Pick<HookState.HookState, "get"> }): boolean => ctx.state.get(tainted)

/**
 * Scores texts by what gives injections away. This is a heuristic: it misses what is new, so treat all that tools bring
 * back as data (`spotlight`), and
 * guard what a misled model could do. Fail-closed. Throws a `ConfigError` for options that make no sense.
 *
 * @example
 * ```ts
 * import * as Approval from "@belay/hooks/Approval"
 * import * as PromptInjection from "@belay/hooks/PromptInjection"
 *
 * const hooks = [
 *   PromptInjection.make({ input: "warn", toolResults: "rewrite", spotlight: "delimit" }),
 *   // Whatever a tainted agent wants to send, somebody looks at first.
 *   Approval.make({ tools: "send_*", when: (_call, ctx) => PromptInjection.isTainted(ctx) })
 * ]
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const name = options.name ?? "prompt-injection"
  const all = Result.getOrThrow(check(options, name))
  const { input = "block", lastMessageOnly = true, onDetection, spotlight, threshold = 0.7, toolResults = "rewrite" } =
    options
  const wanted = options.tools === undefined ? () => true : matcher(options.tools)

  const scoreOf = (text: string): { readonly score: number; readonly found: ReadonlyArray<string> } => {
    const read = plain(text)
    const found = all.filter((signal) => signal.test(signal.raw ? text : read))
    return {
      score: 1 - found.reduce((rest, { weight }) => rest * (1 - weight), 1),
      found: found.map((signal) => signal.name)
    }
  }

  /** Nothing when the text is harmless; what is wrong with it otherwise. */
  const suspicion = (
    text: string,
    place: Detection["place"],
    strategy: Strategy,
    ctx: HookContext,
    tool?: string
  ): string | undefined => {
    const { found, score } = scoreOf(text)
    if (score < threshold) return undefined
    const rounded = Math.round(score * 100) / 100
    Result.try(() =>
      onDetection?.({ place, score: rounded, signals: found, ...(tool === undefined ? {} : { tool }) }, ctx)
    )
    const what = `${tool === undefined ? "a message" : `the result of ${tool}`} looks like an injection (${
      found.join(", ")
    }; score ${rounded})`
    if (strategy === "warn" || strategy === "rewrite") ctx.state.set(tainted, true)
    ctx.warn(`${what}: ${strategy}`)
    return what
  }

  /** The text without the sentences that give it away; nothing of it when that does not help. */
  const rewritten = (text: string): string => {
    const left = (text.match(/[^.!?\n]*(?:[.!?\n]+|$)/g) ?? []).map((sentence) => {
      const read = plain(sentence)
      if (!all.some((signal) => signal.test(signal.raw ? sentence : read))) return sentence
      return `${sentence.slice(0, sentence.length - sentence.trimStart().length)}${removed}${
        sentence.endsWith("\n") ? "\n" : ""
      }`
    }).join("")
    return scoreOf(left).score < threshold ? left : removed
  }

  const ofMessage = (
    message: string,
    strategy: Strategy,
    place: "input" | "history",
    ctx: HookContext
  ): string | { readonly blocked: string } => {
    const what = suspicion(message, place, strategy, ctx)
    if (what === undefined || strategy === "warn") return message
    return strategy === "block" ? { blocked: what } : strategy === "filter" ? removed : rewritten(message)
  }

  const ofResult = (result: ToolResult, tool: string, ctx: HookContext): ToolResult => {
    const content: Json = result.ok ? result.output : result.error
    let made = content
    if (toolResults !== "off") {
      const what = suspicion(strings(content).join("\n"), "toolResults", toolResults, ctx, tool)
      if (what !== undefined && toolResults === "block") return failure(`the result of ${tool} was withheld: ${what}`)
      if (what !== undefined && toolResults === "filter") made = removed
      if (what !== undefined && toolResults === "rewrite") {
        made = Spotlight.mapped(content, rewritten)
        // What is spread over several texts is in none of them.
        if (scoreOf(strings(made).join("\n")).score >= threshold) made = removed
      }
    }
    if (spotlight !== undefined) made = Spotlight.marked(made, spotlight)
    return made === content
      ? result
      : result.ok
      ? { ok: true, output: made }
      : failure(typeof made === "string" ? made : JSON.stringify(made))
  }

  return HookDefaults.apply(options, {
    name,
    priority: 15,
    kind: "policy",
    reinvoke: "ifChanged",
    ...(input === "off" ? {} : {
      preTurn: (turn, ctx) => {
        const message = ofMessage(turn.message, input, "input", ctx)
        if (typeof message !== "string") return HookAction.reject(message.blocked)
        return message === turn.message ? undefined : HookAction.transform({ ...turn, message })
      }
    }),
    ...((input === "off" || lastMessageOnly) && spotlight === undefined ? {} : {
      preLlmCall: (request, ctx) => {
        let changed = false
        const messages: Array<Message> = []
        for (const message of request.messages) {
          if (input === "off" || lastMessageOnly || message.role !== "user" || typeof message.content !== "string") {
            messages.push(message)
            continue
          }
          const content = ofMessage(textOf(message), input, "history", ctx)
          if (typeof content !== "string") return HookAction.reject(content.blocked)
          changed ||= content !== message.content
          messages.push(content === message.content ? message : { ...message, content })
        }
        const note = spotlight === undefined || request.instructions?.includes(Spotlight.notes[spotlight])
          ? undefined
          : Spotlight.notes[spotlight]
        if (!changed && note === undefined) return undefined
        const instructions = note === undefined
          ? request.instructions
          : [request.instructions, note].filter(Boolean).join("\n\n")
        return HookAction.transform({ ...request, messages, ...(instructions === undefined ? {} : { instructions }) })
      }
    }),
    ...(toolResults === "off" && spotlight === undefined ? {} : {
      postToolCall: ({ call, result }, ctx) => {
        if (!wanted(call.name)) return undefined
        const made = ofResult(result, call.name, ctx)
        return made === result ? undefined : HookAction.transform(made)
      }
    })
  })
}

const removed = "[removed: it looked like an instruction]"

type Compiled = Signal & { readonly raw: boolean }

const check = (options: Options, name: string) => {
  const { detect = names, input, signals: own = [], spotlight, threshold, toolResults } = options
  const wrong = (key: string, message: string) =>
    Result.fail(new ConfigError({ key: `${name}.${key}`, message: `${name}.${key}: ${message}` }))
  const strategies = ["block", "warn", "filter", "rewrite", "off"]
  return Result.gen(function*() {
    for (const [key, strategy] of [["input", input], ["toolResults", toolResults]] as const) {
      if (strategy !== undefined && !strategies.includes(strategy)) {
        return yield* wrong(key, `unknown strategy "${String(strategy)}": expected one of ${strategies.join(", ")}`)
      }
    }
    if (threshold !== undefined && !(threshold > 0 && threshold <= 1)) {
      return yield* wrong("threshold", `expected a number above 0, up to 1, found ${String(threshold)}`)
    }
    if (spotlight !== undefined && !["delimit", "datamark"].includes(spotlight)) {
      return yield* wrong("spotlight", "expected delimit or datamark")
    }
    const unknown = detect.find((signal) => !names.includes(signal))
    if (unknown !== undefined) {
      return yield* wrong("detect", `unknown signal "${unknown}": expected one of ${names.join(", ")}`)
    }
    const mine: Array<Compiled> = []
    for (const [index, { name: signal, pattern, weight }] of own.entries()) {
      if (!(weight >= 0 && weight <= 1)) {
        return yield* wrong(`signals[${index}]`, `weight must be from 0 to 1, found ${String(weight)}`)
      }
      const compiled = Result.try(() => RE2JS.compile(pattern))
      if (Result.isFailure(compiled)) {
        return yield* wrong(`signals[${index}]`, `${JSON.stringify(pattern)} is no RE2 pattern`)
      }
      mine.push({ name: signal, weight, raw: false, test: (text) => compiled.success.test(text) })
    }
    const known = [
      ...signals.map((signal) => ({ ...signal, raw: false })),
      ...raw.map((signal) => ({ ...signal, raw: true }))
    ]
    return [...known.filter((signal) => detect.includes(signal.name)), ...mine]
  })
}

/**
 * Puts text from outside between marks with a code of its own, so that a model can tell it from instructions.
 *
 * @category operations
 * @since 0.1.0
 */
export const markAsData = (text: string): string => Spotlight.marked(text, "delimit") as string
