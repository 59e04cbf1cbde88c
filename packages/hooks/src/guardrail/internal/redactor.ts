/**
 * A hook that replaces values in messages, answers, tool calls, results and history. `Redaction`, `Secrets` and
 * `RegexFilter` are built on it.
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import type { LlmDelta, LlmResponse } from "@belay/core/LlmCall"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, oneOf, within } from "@belay/core/OptionCheck"
import { failure, type ToolResult } from "@belay/core/Tool"
import type { TurnInput } from "@belay/core/Turn"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HookDefaults from "../../HookDefaults.ts"
import { withoutUndefined } from "../../internal/withoutUndefined.ts"
import * as Pattern from "../Pattern.ts"
import type { Detector } from "./detector.ts"
import { kindLabel } from "./placeholderStore.ts"
import { revealJson, revealText } from "./reveal.ts"
import { isWithoutSigns, minimumHold, openFindingIn, type Scan, type ScanRules } from "./scan.ts"
import { type Detection, type Place, placeNames, SessionScanner } from "./sessionScanner.ts"

export type { Detection, Place } from "./sessionScanner.ts"

/** The options that the hooks share. */
interface SharedOptions extends HookDefaults.HookDefaults {
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

const always = () => true
const never = () => false

const inputMethods = (scanner: SessionScanner): Pick<AgentHook, "concealMessages" | "preTurn"> => ({
  concealMessages: (messages, ctx) =>
    scanner.scan("input", ctx, never, (scan) => scan.list(messages, (message) => scan.message(message))).value,
  preTurn: (turn, ctx) => {
    const { scannedTurns } = scanner.sessionOf(ctx)
    // Each part of an input comes from outside: what looks like a placeholder in it is none.
    const wasScanned = turn.part === undefined && scannedTurns.has(ctx)
    const { blocked, value } = scanner.scan(
      "input",
      ctx,
      // The message of a sub-agent's turn comes from another agent, so known placeholders in it are placeholders.
      (placeholder, known) => wasScanned || (ctx.agent.depth > 0 && known.isKnown(placeholder)),
      (scan) => scanTurn(turn, scan)
    )
    if (blocked !== undefined) return scanner.reject(blocked, "input")
    if (turn.part === undefined) scannedTurns.add(ctx)
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

const resultMethods = (
  scanner: SessionScanner,
  tools: SharedOptions["tools"]
): Pick<AgentHook, "postDelegation" | "postToolCall"> => {
  const isScanned = tools === undefined ? always : matcher(tools)
  return {
    // `wrapToolCall` has scanned the result of a tool. The results of hooks are scanned here; every lookalike in them
    // is a placeholder.
    postToolCall: ({ call, result }, ctx) => {
      if (result.ok && isWithoutSigns(scanner.rules, result.output)) return undefined
      const { blocked, value } = scanner.scan("toolResults", ctx, always, (scan) => scanResult(result, scan))
      if (blocked !== undefined) return HookAction.transform(withheldResult(scanner, call.name, blocked))
      return value === result ? undefined : HookAction.transform(value)
    },
    postDelegation: ({ delegation, result }, ctx) => {
      const { blocked, value: text } = scanner.scan(
        "toolResults",
        ctx,
        // The other agent may repeat the placeholders in its task, and the placeholders of values that were found in
        // its messages.
        (placeholder, known) =>
          delegation.message.toUpperCase().includes(placeholder.toUpperCase()) || known.isKnown(placeholder),
        (scan) => scan.text(result.text)
      )
      if (blocked !== undefined) return scanner.reject(blocked, "toolResults")
      if (isScanned(delegation.agent)) scanner.sessionOf(ctx).delegated.add(text)
      return text === result.text ? undefined : HookAction.transform({ ...result, text })
    }
  }
}

const wrapToolCall = (
  scanner: SessionScanner,
  options: SharedOptions,
  scansResults: boolean
): NonNullable<AgentHook["wrapToolCall"]> => {
  const isScanned = options.tools === undefined ? always : matcher(options.tools)
  const isRevealed = options.revealTo === undefined ? never : matcher(options.revealTo)
  return (call, next, ctx) => {
    if (!isScanned(call.name)) return next(call)
    const args = isRevealed(call.name)
      ? scanner.store.use(ctx, (placeholders) => revealJson(scanner.rules, placeholders, call.args))
      : call.args
    const result = next(args === call.args ? call : { ...call, args })
    return scansResults
      ? Effect.map(result, (value) => scanToolResult(scanner, value, call.args, call.name, ctx))
      : result
  }
}

const scanToolResult = (
  scanner: SessionScanner,
  result: ToolResult,
  args: Json,
  tool: string,
  ctx: HookContext
): ToolResult => {
  if (result.ok && typeof result.output !== "string" && isWithoutSigns(scanner.rules, result.output)) return result
  let argsText: string | undefined
  const { delegated } = scanner.sessionOf(ctx)
  const isDelegated = delegated.size > 0 && result.ok && typeof result.output === "string" &&
    delegated.delete(result.output)
  const isPlaceholder = (placeholder: string) => {
    argsText ??= args === null ? "" : JSON.stringify(args).toUpperCase()
    return isDelegated || argsText.includes(placeholder.toUpperCase())
  }
  const { blocked, value } = scanner.scan("toolResults", ctx, isPlaceholder, (scan) => scanResult(result, scan))
  // A wrapper has no decision record, so this is how a report knows. A program may call the wrapper without events.
  const { events }: Partial<HookContext> = ctx
  if (blocked !== undefined || value !== result) events?.emit("redacted", { tool })
  return blocked === undefined ? value : withheldResult(scanner, tool, blocked)
}

const withheldResult = (scanner: SessionScanner, tool: string, kind: string): ToolResult =>
  failure(`the result of ${tool} was withheld: ${scanner.reason(kind, "toolResults")}`)

const scanResult = (result: ToolResult, scan: Scan): ToolResult => {
  if (result.ok) {
    const output = scan.json(result.output)
    return output === result.output ? result : { ok: true, output }
  }
  const error = scan.text(result.error)
  return error === result.error ? result : failure(error)
}
