/**
 * Reports what a session used, by model, tool and agent, and what its hooks decided.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import * as Deadline from "@belay/core/Deadline"
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { isProviderError } from "@belay/core/ProviderError"
import type { Usage } from "@belay/core/Usage"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { textTable } from "../internal/textTable.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import { formatDollars, toDollars } from "./internal/money.ts"
import { compilePrices, costOf, type Price, priceTable } from "./internal/prices.ts"
import { addRow, noTokens, Report, type TokenCounts } from "./internal/usageRows.ts"

/**
 * Options of `UsageReport.make`. The prices of `Price` beside `prices` hold for all models that are not in the table.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HookDefaults.HookDefaults, Partial<Price> {
  /** Prices by the name of the model, as the vendor reports it or as it was requested. Default none. */
  readonly prices?: { readonly [model: string]: Price }
  /** Receives the report when the session ends. Default: nothing receives it. */
  readonly sink?: (report: Report, sessionId: string) => Eventual<void>
}

export { Report } from "./internal/usageRows.ts"

const optionKinds: HookDefaults.OwnKinds<Options> = {
  prices: priceTable,
  sink: "function",
  costPerInputToken: "number",
  costPerOutputToken: "number",
  costPerCachedToken: "number",
  costPerCacheWriteToken: "number"
}

/**
 * Counts what a conversation uses, with its sub-agents and the calls of hooks. The counts are in `ctx.state`. The hook
 * is an observer. Use `merge` to add up the reports of several conversations. Throws a `ConfigError` for an invalid
 * price.
 *
 * @example
 * ```ts
 * import * as UsageReport from "@belay/hooks/UsageReport"
 *
 * const reports: Array<UsageReport.Report> = []
 * const usage = UsageReport.make({
 *   prices: { "small-1": { costPerInputToken: 1.5e-7, costPerOutputToken: 6e-7 } },
 *   sink: (report) => void reports.push(report)
 * })
 * const print = () => console.log(UsageReport.render(UsageReport.merge(reports)))
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("usage-report", options, optionKinds)
  const { name = "usage-report", sink } = options
  const { priceOf } = Result.getOrThrow(compilePrices(options, name))
  const update = (ctx: HookContext, change: (report: Report) => Report): void =>
    void ctx.state.update(keyOf(ctx.hook), change)
  const tokensOf = (usage: Usage | undefined, models: ReadonlyArray<string | undefined>): TokenCounts => {
    const price = costOf(usage, priceOf(models))
    const isKnown = typeof price !== "string"
    return {
      inputTokens: validTokens(usage?.inputTokens),
      outputTokens: validTokens(usage?.billableOutputTokens ?? usage?.outputTokens),
      cachedTokens: validTokens(usage?.cachedTokens),
      reasoningTokens: validTokens(usage?.reasoningTokens),
      pico: isKnown ? String(price) : "0",
      unpriced: isKnown ? 0 : 1
    }
  }
  const countModelCall = (
    request: LlmRequest,
    exit: Exit.Exit<LlmResponse, unknown>,
    durationMs: number,
    ctx: HookContext
  ): void => {
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    const providerError = isProviderError(error) ? error : undefined
    const answer = Exit.isSuccess(exit) ? exit.value : providerError?.partial
    const models = [answer?.model, providerError?.model, request.model]
    const model = models.find((one) => typeof one === "string" && one !== "") ?? "unknown"
    // A call that failed before it began has no known cost.
    const tokens = Exit.isFailure(exit) && answer?.usage === undefined ? noTokens : tokensOf(answer?.usage, models)
    const failures = Exit.isFailure(exit) ? 1 : 0
    update(ctx, (report) => ({
      ...report,
      models: addRow(report.models, { name: model, calls: 1, failures, durationMs, ...tokens }),
      agents: addRow(report.agents, { name: ctx.agent.name, turns: 0, calls: 1, toolCalls: 0, ...tokens })
    }))
  }
  /** Counts what the hooks decided at a point. */
  const countDecision = (ctx: HookContext): void => {
    const { outcome } = ctx
    for (const name of outcome?.failedOpen ?? []) {
      const row = { name, changed: 0, answered: 0, refused: 0, asked: 0, failedOpen: 1 }
      update(ctx, (report) => ({ ...report, hooks: addRow(report.hooks, row) }))
    }
    const hook = outcome?.decidedBy
    if (outcome === undefined || hook === undefined) return
    const { action } = outcome
    const row = {
      name: hook,
      changed: action === "Transform" || action === "Replace" ? 1 : 0,
      answered: action === "Respond" ? 1 : 0,
      refused: action === "Reject" || action === "Abort" ? 1 : 0,
      asked: action === "Ask" ? 1 : 0
    }
    update(ctx, (report) => ({ ...report, hooks: addRow(report.hooks, row) }))
  }
  const onDecision = (_event: unknown, ctx: HookContext): void => countDecision(ctx)

  return HookDefaults.apply(
    options,
    withoutUndefined<AgentHook>({
      name,
      // Makes the hook the innermost wrapper, so that a call that a cache answers does not count.
      priority: 900,
      kind: "observer",
      allowReentry: true,
      preTurn: ({ part, steer }, ctx) => {
        countDecision(ctx)
        if (steer === true || part !== undefined) return
        update(ctx, (report) => ({
          ...report,
          agents: addRow(report.agents, { name: ctx.agent.name, turns: 1, calls: 0, toolCalls: 0, ...noTokens })
        }))
      },
      postTurn: onDecision,
      onTurnError: onDecision,
      preLlmCall: onDecision,
      postLlmCall: onDecision,
      onLlmError: onDecision,
      preToolCall: onDecision,
      onPermission: onDecision,
      preDelegation: onDecision,
      postDelegation: onDecision,
      preCompaction: onDecision,
      postStep: onDecision,
      preStop: onDecision,
      wrapLlmCall: (request, next, ctx) =>
        Effect.flatMap(
          Deadline.now,
          (start) =>
            Effect.onExit(next(request), (exit) =>
              Effect.map(Deadline.now, (end) => countModelCall(request, exit, Math.round(end - start), ctx)))
        ),
      postToolCall: ({ call, elapsedMs, executed, result }, ctx) => {
        countDecision(ctx)
        if (!executed) {
          return
        }
        const row = { name: call.name, calls: 1, failures: result.ok ? 0 : 1, denied: 0, durationMs: elapsedMs }
        update(ctx, (report) => ({
          ...report,
          tools: addRow(report.tools, row),
          agents: addRow(report.agents, { name: ctx.agent.name, turns: 0, calls: 0, toolCalls: 1, ...noTokens })
        }))
      },
      onToolDenied: ({ call }, ctx) => {
        const row = { name: call.name, calls: 0, failures: 0, denied: 1, durationMs: 0 }
        update(ctx, (report) => ({ ...report, tools: addRow(report.tools, row) }))
      },
      onSessionEnd: sink === undefined
        ? undefined
        : ({ sessionId }, ctx) => Effect.asVoid(eventual(() => sink(ctx.state.get(keyOf(ctx.hook)), sessionId)))
    })
  )
}

/**
 * Reads the report of a conversation from the state of its session, up to now. `name` is the name of the hook.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = checked(
  "UsageReport.read",
  ["state", "name"],
  (state: Pick<HookState.HookState, "get">, name = "usage-report"): Report => state.get(keyOf(name))
)

/** Adds up several reports, for example of several conversations. @category combining @since 0.1.0 */
export const merge = checked(
  "UsageReport.merge",
  ["reports"],
  (reports: ReadonlyArray<Report>): Report =>
    reports.reduce((sum, report) => ({
      models: report.models.reduce(addRow, sum.models),
      tools: report.tools.reduce(addRow, sum.tools),
      agents: report.agents.reduce(addRow, sum.agents),
      hooks: report.hooks.reduce(addRow, sum.hooks)
    }), emptyReport)
)

/**
 * Returns the cost of a report in US dollars: the nearest number, and the exact sum as a text such as `$4.20`.
 * `unpriced` is the number of calls that the sum does not contain, because their cost is not known.
 *
 * @category reading
 * @since 0.1.0
 */
export const cost = checked("UsageReport.cost", ["report"], (
  { models }: Report
): { readonly usd: number; readonly text: string; readonly unpriced: number } => {
  const sum = models.reduce((all, { pico }) => all + BigInt(pico), 0n)
  return {
    usd: toDollars(sum),
    text: formatDollars(sum),
    unpriced: models.reduce((all, { unpriced }) => all + unpriced, 0)
  }
})

/** Renders a report as tables for a terminal. Tables without rows are left out. @category rendering @since 0.1.0 */
export const render = checked("UsageReport.render", ["report"], ({ agents, hooks, models, tools }: Report): string => {
  const tables = [
    textTableOf(["model", "calls", "failed", "input", "cached", "output", "time", "cost"], models, (row) => [
      count(row.calls),
      count(row.failures),
      count(row.inputTokens),
      count(row.cachedTokens),
      count(row.outputTokens),
      time(row.durationMs),
      costText(row)
    ]),
    textTableOf(["tool", "calls", "failed", "denied", "time"], tools, (row) => [
      count(row.calls),
      count(row.failures),
      count(row.denied),
      time(row.durationMs)
    ]),
    textTableOf(["agent", "turns", "model calls", "tool calls", "input", "output", "cost"], agents, (row) => [
      count(row.turns),
      count(row.calls),
      count(row.toolCalls),
      count(row.inputTokens),
      count(row.outputTokens),
      costText(row)
    ]),
    textTableOf(["hook", "changed", "answered", "refused", "asked", "failed open"], hooks, (row) => [
      count(row.changed),
      count(row.answered),
      count(row.refused),
      count(row.asked),
      count(row.failedOpen ?? 0)
    ])
  ]
  return tables.filter((table) => table !== "").join("\n\n")
})

/** A table with the name of each row and its cells; empty when there are no rows. */
const textTableOf = <Row extends { readonly name: string }>(
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<Row>,
  cells: (row: Row) => ReadonlyArray<string>
): string => rows.length === 0 ? "" : textTable(header, rows.map((row) => [row.name, ...cells(row)]))

const costText = (row: { readonly pico: string; readonly unpriced: number; readonly calls: number }): string => {
  if (row.calls > 0 && row.unpriced >= row.calls) return "?"
  return `${formatDollars(BigInt(row.pico))}${row.unpriced > 0 ? "+?" : ""}`
}

const count = (value: number): string => Math.round(value).toLocaleString("en-US")

const time = (ms: number): string => ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`

const emptyReport: Report = { models: [], tools: [], agents: [], hooks: [] }

const keyOf = HookState.ownKey("report", Report, emptyReport)

/** Some vendors report numbers that are negative or not finite. */
const validTokens = (tokens: number | undefined): number =>
  tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0
