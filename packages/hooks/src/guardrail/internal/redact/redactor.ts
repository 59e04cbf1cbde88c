/**
 * A hook that replaces values in messages, answers, tool calls, results and history. `Redaction`, `Secrets` and
 * `RegexFilter` are built on it.
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { LlmDelta, LlmResponse } from "@belay/core/LlmCall"
import { checkOptions, oneOf, within } from "@belay/core/OptionCheck"
import type { TurnInput } from "@belay/core/Turn"
import * as Result from "effect/Result"
import * as HookDefaults from "../../../HookDefaults.ts"
import { withoutUndefined } from "../../../internal/withoutUndefined.ts"
import * as Pattern from "../../Pattern.ts"
import type { Detector } from "../detector.ts"
import { kindLabel } from "../placeholderStore.ts"
import type { Scan } from "../scan/scan.ts"
import { minimumHold, openFindingIn, type ScanRules } from "../scan/scanRules.ts"
import { type Detection, type Place, placeNames, SessionScanner } from "../scan/sessionScanner.ts"
import { always, never, resultMethods, wrapToolCall } from "./resultMethods.ts"
import { revealText } from "./reveal.ts"

export type { Detection, Place } from "../scan/sessionScanner.ts"

/** The options that the hooks share. */
export interface SharedOptions extends HookDefaults.HookDefaults {
  /** Default: everywhere. */
  readonly places?: ReadonlyArray<Place>
  /** Tools that receive the values. Default none. */
  readonly revealTo?: string | ReadonlyArray<string>
  readonly revealToUser?: boolean
  readonly vault?: { readonly key: Uint8Array }
  readonly hold?: "untilPass" | { readonly chars: number }
  readonly onDetection?: (detection: Detection) => void
}

/** The options in which these hooks differ. */
interface Settings {
  readonly name: string
  readonly priority: number
  readonly rules: ScanRules
  /**
   * Returns where a streamed text may still become a value when it continues, or its length. Default: any value may
   * begin within the reach of its detector.
   */
  readonly openValueIn?: (text: string) => number
  /** The name of a kind in a reason. Default: its label. */
  readonly kindName?: (kind: string) => string
}

/** Checks the options that the hooks share, and compiles `allow`. Fails with a `ConfigError`. */
export const checkSharedOptions = (
  hook: string,
  detectors: ReadonlyArray<Detector>,
  options: Pick<SharedOptions, "hold" | "places" | "vault"> & { readonly allow?: ReadonlyArray<Pattern.Pattern> }
): Result.Result<(value: string) => boolean, ConfigError> => {
  const { allow = [], hold, places, vault } = options
  return Result.gen(function*() {
    yield* checkOptions(
      hook,
      ["places", places, (list: ReadonlyArray<Place>) => list.length > 0, "at least one place"],
      ...(places ?? []).map((place) => oneOf("places", place, Object.keys(placeNames))),
      ["vault.key", vault?.key, (key: unknown) => key instanceof Uint8Array && key.length === 32, "32 bytes"]
    )
    if (typeof hold === "object") {
      yield* checkOptions(hook, within("hold.chars", hold.chars, minimumHold(detectors)))
    }
    const { test } = yield* Pattern.compile(allow, `${hook}.allow`)
    return test
  })
}

/** Makes the hook. */
export const makeRedactor = (options: SharedOptions, settings: Settings): AgentHook => {
  const { rules } = settings
  const { places } = options
  const scansAt = (place: Place): boolean => places === undefined || places.includes(place)
  const isShadow = options.mode === "shadow"
  const scanner = new SessionScanner(rules, settings.kindName ?? kindLabel, options)
  const hold = options.hold ?? holdFor(settings)
  const revealsToUser = options.revealToUser === true && !isShadow && rules.placeholders !== undefined
  const wrapsTools = !isShadow && (scansAt("toolResults") || options.revealTo !== undefined)
  return HookDefaults.apply(
    options,
    withoutUndefined<AgentHook>({
      name: settings.name,
      priority: settings.priority,
      kind: "policy",
      reinvoke: "reapply",
      confidential: true,
      ...(scansAt("input") ? inputMethods(scanner) : {}),
      ...(scansAt("history") ? historyMethods(scanner) : {}),
      ...(scansAt("output") ? outputMethods(scanner, hold, scansAt("toolArguments")) : {}),
      ...(scansAt("toolArguments") ? argumentMethods(scanner) : {}),
      ...(scansAt("toolResults") ? resultMethods(scanner, options.tools) : {}),
      hold: scansAt("output") && !isShadow ? hold : undefined,
      wrapToolCall: wrapsTools ? wrapToolCall(scanner, options, scansAt("toolResults")) : undefined,
      revealText: revealsToUser
        ? (text, ctx) => scanner.store.use(ctx, (placeholders) => revealText(rules, placeholders, text))
        : undefined,
      onSessionStart: ({ previous }, ctx) => previous === undefined ? undefined : scanner.store.move(previous, ctx),
      onSessionEnd: ({ reason, sessionId }) => scanner.endSession(sessionId, reason)
    })
  )
}

/** How much of a streamed text to buffer. A text is shown as soon as it cannot be part of a value any more. */
const holdFor = (
  { openValueIn, rules }: Settings
): { readonly chars: number; readonly from?: (text: string) => number } => {
  const chars = minimumHold(rules.detectors)
  // Values that have a placeholder are searched for in every text, and custom detectors may find anything.
  if (openValueIn === undefined || rules.placeholders !== undefined || !rules.searchesBatches) return { chars }
  return { chars, from: (text) => Math.min(openValueIn(text), openFindingIn(rules, text)) }
}

const inputMethods = (scanner: SessionScanner): Pick<AgentHook, "concealMessages" | "preTurn"> => ({
  concealMessages: (messages, ctx) =>
    scanner.scan("input", ctx, never, (scan) => scan.list(messages, (message) => scan.message(message))).value,
  preTurn: (turn, ctx) => {
    // Each part of an input comes from outside: what looks like a placeholder in it is none.
    const wasScanned = turn.part === undefined && ctx.askedAgain
    const { blocked, value } = scanner.scan(
      "input",
      ctx,
      // The message of a sub-agent's turn comes from another agent, so known placeholders in it are placeholders.
      (placeholder, known) => wasScanned || (ctx.agent.depth > 0 && known.isKnown(placeholder)),
      (scan) => scanTurn(turn, scan)
    )
    if (blocked !== undefined) return scanner.reject(blocked, "input")
    return value === turn ? undefined : HookAction.transform(value)
  }
})

const scanTurn = (turn: TurnInput, scan: Scan): TurnInput => {
  const message = scan.text(turn.message)
  if (turn.attachments === undefined) return message === turn.message ? turn : { ...turn, message }
  const attachments = scan.list(turn.attachments, (file) => scan.file(file))
  return message === turn.message && attachments === turn.attachments ? turn : { ...turn, message, attachments }
}

const historyMethods = (scanner: SessionScanner): Pick<AgentHook, "postStep" | "preLlmCall"> => ({
  preLlmCall: (request, ctx) => {
    const messages = scanner.history(request.messages, ctx)
    const instructions = scanner.instructions(request.instructions, ctx)
    if (messages === request.messages && instructions === request.instructions) return undefined
    return HookAction.transform(
      instructions === undefined ? { ...request, messages } : { ...request, messages, instructions }
    )
  },
  postStep: (step, ctx) => {
    const messages = scanner.history(step.messages, ctx)
    return messages === step.messages ? undefined : HookAction.transform(messages)
  }
})

const outputMethods = (
  scanner: SessionScanner,
  hold: "untilPass" | { readonly chars: number },
  scansArguments: boolean
): Pick<AgentHook, "onLlmDelta" | "postLlmCall" | "postTurn"> => ({
  onLlmDelta: (delta: LlmDelta, ctx) => {
    // Parts of reasoning and arguments are not shown. They are shown as a whole when they are complete.
    if (delta.type === "reasoning") return HookAction.transform({ ...delta, text: "" })
    if (delta.type === "tool-call") return HookAction.transform({ ...delta, argsText: "" })
    if (typeof hold !== "object" || !scanner.rules.mayHaveValue(delta.text)) return undefined
    const { blocked, value } = scanner.scan("output", ctx, always, (scan) => scan.stream(delta.text, hold.chars))
    if (blocked !== undefined) return scanner.reject(blocked, "output")
    return value === delta.text ? undefined : HookAction.transform({ ...delta, text: value })
  },
  postLlmCall: ({ response }, ctx) => {
    const { blocked, value } = scanner.scan(
      "output",
      ctx,
      always,
      (scan) => scanResponse(response, scan, scansArguments)
    )
    if (blocked !== undefined) return scanner.reject(blocked, "output")
    return value === response ? undefined : HookAction.transform(value)
  },
  postTurn: ({ output }, ctx) => {
    const { blocked, value: text } = scanner.scan("output", ctx, always, (scan) => scan.text(output.text))
    if (blocked !== undefined) return scanner.reject(blocked, "output")
    return text === output.text ? undefined : HookAction.transform({ ...output, text })
  }
})

const scanResponse = (response: LlmResponse, scan: Scan, scansArguments: boolean): LlmResponse => {
  const text = scan.streamed(response.text)
  const reasoning = scan.optionalText(response.reasoning)
  const refusal = scan.optionalText(response.refusal)
  const toolCalls = scansArguments
    ? scan.list(response.toolCalls, (call) => scan.call(call))
    : response.toolCalls
  const isSame = text === response.text && reasoning === response.reasoning && refusal === response.refusal &&
    toolCalls === response.toolCalls
  return isSame ? response : withoutUndefined<LlmResponse>({ ...response, text, reasoning, refusal, toolCalls })
}

const argumentMethods = (scanner: SessionScanner): Pick<AgentHook, "preDelegation" | "preToolCall"> => ({
  preToolCall: (call, ctx) => {
    const { blocked, value: args } = scanner.scan("toolArguments", ctx, always, (scan) => scan.json(call.args))
    if (blocked !== undefined) return scanner.reject(blocked, "toolArguments")
    return args === call.args ? undefined : HookAction.transform({ id: call.id, name: call.name, args })
  },
  preDelegation: (delegation, ctx) => {
    const { blocked, value: message } = scanner.scan(
      "toolArguments",
      ctx,
      always,
      (scan) => scan.text(delegation.message)
    )
    if (blocked !== undefined) return scanner.reject(blocked, "toolArguments")
    return message === delegation.message ? undefined : HookAction.transform({ ...delegation, message })
  }
})
