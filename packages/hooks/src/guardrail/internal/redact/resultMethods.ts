/** The methods of a redactor that change results of tools. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import { failure, type ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { HookDefaults } from "../../../HookDefaults.ts"
import type { Scan } from "../scan/scan.ts"
import { isWithoutSigns } from "../scan/scanRules.ts"
import { SessionScanner } from "../scan/sessionScanner.ts"
import { revealJson } from "./reveal.ts"

export const always = () => true
export const never = () => false

export const resultMethods = (
  scanner: SessionScanner,
  tools: HookDefaults["tools"]
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

export const wrapToolCall = (
  scanner: SessionScanner,
  options: Pick<HookDefaults, "tools"> & { readonly revealTo?: string | ReadonlyArray<string> },
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
