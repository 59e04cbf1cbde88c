/**
 * Adds up what a session used: by model, by tool, by agent, and what its hooks decided.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { isProviderError } from "@belay/core/ProviderError"
import type { Usage } from "@belay/core/Usage"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { dollars, show } from "./internal/money.ts"
import { check, costOf, type Price } from "./internal/prices.ts"
import { table } from "./internal/table.ts"
import { whole } from "./internal/whole.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Partial<Price> {
  /**
   * Prices by model, as the vendor names it or as it was asked for. Other models cost what stands beside this table.
   */
  readonly prices?: { readonly [model: string]: Price }
  /** Receives the report when the session ends. */
  readonly sink?: (report: Report, sessionId: string) => Eventual<void>
}

const Tokens = {
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  cachedTokens: Schema.Finite,
  reasoningTokens: Schema.Finite,
  /** Pico-dollars, in decimal digits. */
  pico: Schema.String.check(Schema.isPattern(/^\d{1,40}$/)),
  /** Calls whose cost is not known. */
  unpriced: Schema.Finite
}
const Model = Schema.Struct({
  name: Schema.String,
  calls: Schema.Finite,
  failures: Schema.Finite,
  durationMs: Schema.Finite,
  ...Tokens
})
const Tool = Schema.Struct({
  name: Schema.String,
  calls: Schema.Finite,
  failures: Schema.Finite,
  denied: Schema.Finite,
  durationMs: Schema.Finite
})
const Agent = Schema.Struct({
  name: Schema.String,
  turns: Schema.Finite,
  calls: Schema.Finite,
  toolCalls: Schema.Finite,
  ...Tokens
})
const Hook = Schema.Struct({
  name: Schema.String,
  changed: Schema.Finite,
  answered: Schema.Finite,
  refused: Schema.Finite,
  asked: Schema.Finite
})

/**
 * Rows in the order in which they came up; plain JSON. `calls` are attempts, `failures` those among them that failed or
 * were cut off, `durationMs`
 * is their time together. `pico` is the exact cost in pico-dollars; `unpriced` calls are not in it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report extends Schema.Schema.Type<typeof Report> {}
/** @category schemas @since 0.1.0 */
export const Report = Schema.Struct({
  models: Schema.Array(Model),
  tools: Schema.Array(Tool),
  agents: Schema.Array(Agent),
  /** What hooks decided: values changed, operations answered, refused (with what was aborted), and questions asked. */
  hooks: Schema.Array(Hook)
})

/**
 * Counts as an observer, whatever other hooks decide. Sub-agents have sessions of their own: give them the hook too,
 * and `merge` what
 * their `sink` receives. Throws a `ConfigError` for a bad price.
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
  const { name = "usage-report", sink } = options
  const { priceOf } = Result.getOrThrow(check(options, name))
  const state = keyOf(name)
  const change = (ctx: HookContext, f: (report: Report) => Report): void => void whole(ctx).update(state, f)

  const spent = (usage: Usage | undefined, models: ReadonlyArray<string | undefined>): TokenCounts => {
    const cost = costOf(usage, priceOf(models))
    return {
      inputTokens: sane(usage?.inputTokens),
      outputTokens: sane(usage?.billableOutputTokens ?? usage?.outputTokens),
      cachedTokens: sane(usage?.cachedTokens),
      reasoningTokens: sane(usage?.reasoningTokens),
      pico: typeof cost === "string" ? "0" : String(cost),
      unpriced: typeof cost === "string" ? 1 : 0
    }
  }
  const called = (
    request: LlmRequest,
    exit: Exit.Exit<LlmResponse, unknown>,
    durationMs: number,
    ctx: HookContext
  ): void => {
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    const answer = Exit.isSuccess(exit) ? exit.value : isProviderError(error) ? error.partial : undefined
    const models = [answer?.model, isProviderError(error) ? error.model : undefined, request.model]
    const model = models.find((one) => typeof one === "string" && one !== "") ?? "unknown"
    // What failed before it began costs nothing that anybody knows of.
    const tokens = Exit.isFailure(exit) && answer?.usage === undefined ? noTokens : spent(answer?.usage, models)
    change(ctx, (report) => ({
      ...report,
      models: into(report.models, {
        name: model,
        calls: 1,
        failures: Exit.isFailure(exit) ? 1 : 0,
        durationMs,
        ...tokens
      }),
      agents: into(report.agents, { name: ctx.agent.name, turns: 0, calls: 1, toolCalls: 0, ...tokens })
    }))
  }
  /** What the chain decided at a point that the report looks at. */
  const decided = ({ outcome, state: entries }: HookContext): void => {
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
    entries.update(state, (report) => ({ ...report, hooks: into(report.hooks, row) }))
  }
  const noted = (_event: unknown, ctx: HookContext): void => decided(ctx)

  return HookDefaults.apply(options, {
    name,
    // The innermost wrapper: what a cache answered is no call.
    priority: 900,
    kind: "observer",
    allowReentry: true,
    preTurn: (_input, ctx) => {
      decided(ctx)
      change(ctx, (report) => ({
        ...report,
        agents: into(report.agents, { name: ctx.agent.name, turns: 1, calls: 0, toolCalls: 0, ...noTokens })
      }))
    },
    postTurn: noted,
    onTurnError: noted,
    preLlmCall: noted,
    postLlmCall: noted,
    onLlmError: noted,
    preToolCall: noted,
    onPermission: noted,
    preDelegation: noted,
    postDelegation: noted,
    preCompaction: noted,
    wrapLlmCall: (request, next, ctx) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (began) =>
          Effect.onExit(next(request), (exit) =>
            Effect.map(Clock.currentTimeMillis, (now) => called(request, exit, Math.max(0, now - began), ctx)))
      ),
    postToolCall: ({ call, elapsedMs, executed, result }, ctx) => {
      decided(ctx)
      if (!executed) return
      change(ctx, (report) => ({
        ...report,
        tools: into(report.tools, {
          name: call.name,
          calls: 1,
          failures: result.ok ? 0 : 1,
          denied: 0,
          durationMs: elapsedMs
        }),
        agents: into(report.agents, { name: ctx.agent.name, turns: 0, calls: 0, toolCalls: 1, ...noTokens })
      }))
    },
    onToolDenied: ({ call }, ctx) =>
      change(
        ctx,
        (report) => ({
          ...report,
          tools: into(report.tools, { name: call.name, calls: 0, failures: 0, denied: 1, durationMs: 0 })
        })
      ),
    ...(sink === undefined
      ? {}
      : { onSessionEnd: ({ sessionId }, ctx) => Effect.asVoid(eventual(() => sink(whole(ctx).get(state), sessionId))) })
  })
}

/**
 * Reads the report so far from a session's state, as the hook of this name has written it.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = (state: Pick<HookState.HookState, "get">, name = "usage-report"): Report => state.get(keyOf(name))

/** Adds reports up: of several sessions, of an agent and its sub-agents. @category combining @since 0.1.0 */
export const merge = (reports: ReadonlyArray<Report>): Report =>
  reports.reduce((sum, report) => ({
    models: report.models.reduce(into, sum.models),
    tools: report.tools.reduce(into, sum.tools),
    agents: report.agents.reduce(into, sum.agents),
    hooks: report.hooks.reduce(into, sum.hooks)
  }), empty)

/**
 * What everything cost together, in US dollars: the nearest number, and the exact sum as text such as `$4.20`.
 *
 * @category reading
 * @since 0.1.0
 */
export const cost = (
  { models }: Report
): { readonly usd: number; readonly text: string; readonly unpriced: number } => {
  const sum = models.reduce((all, { pico }) => all + BigInt(pico), 0n)
  return { usd: dollars(sum), text: show(sum), unpriced: models.reduce((all, { unpriced }) => all + unpriced, 0) }
}

/** Renders a report as tables for a terminal; what was not used is left out. @category rendering @since 0.1.0 */
export const render = (report: Report): string => {
  const { agents, hooks, models, tools } = report
  const priced = (row: { readonly pico: string; readonly unpriced: number; readonly calls: number }) =>
    row.calls > 0 && row.unpriced >= row.calls ? "?" : `${show(BigInt(row.pico))}${row.unpriced > 0 ? "+?" : ""}`
  const tables = [
    [
      ["model", "calls", "failed", "input", "cached", "output", "time", "cost"],
      models.map((
        row
      ) => [
        row.name,
        n(row.calls),
        n(row.failures),
        n(row.inputTokens),
        n(row.cachedTokens),
        n(row.outputTokens),
        time(row.durationMs),
        priced(row)
      ])
    ],
    [
      ["tool", "calls", "failed", "denied", "time"],
      tools.map((row) => [row.name, n(row.calls), n(row.failures), n(row.denied), time(row.durationMs)])
    ],
    [
      ["agent", "turns", "model calls", "tool calls", "input", "output", "cost"],
      agents.map((
        row
      ) => [
        row.name,
        n(row.turns),
        n(row.calls),
        n(row.toolCalls),
        n(row.inputTokens),
        n(row.outputTokens),
        priced(row)
      ])
    ],
    [
      ["hook", "changed", "answered", "refused", "asked"],
      hooks.map((row) => [row.name, n(row.changed), n(row.answered), n(row.refused), n(row.asked)])
    ]
  ] as const
  return tables.flatMap(([head, rows]) => rows.length === 0 ? [] : [table(head, rows)]).join("\n\n")
}

const empty: Report = { models: [], tools: [], agents: [], hooks: [] }

const keyOf = (name: string): HookState.StateKey<Report> => HookState.key(`${name}/report`, Report, empty)

type TokenCounts = Pick<
  Report["models"][number],
  "inputTokens" | "outputTokens" | "cachedTokens" | "reasoningTokens" | "pico" | "unpriced"
>

const noTokens: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  pico: "0",
  unpriced: 0
}

/** Most rows of one kind; the rest is added up as `other`. */
const maxRows = 64

/** Adds a row to the one of its name, number by number; `pico` is exact. */
const into = <Row extends { readonly name: string }>(rows: ReadonlyArray<Row>, given: Row): ReadonlyArray<Row> => {
  const short = { ...given, name: given.name.slice(0, 100) }
  const isKnown = rows.some(({ name }) => name === short.name)
  const row = isKnown || rows.length < maxRows ? short : { ...short, name: "other" }
  const at = rows.findIndex(({ name }) => name === row.name)
  if (at < 0) return [...rows, row]
  const sum = Object.entries(row).map(([field, value]) => {
    const before = (rows[at] as { readonly [field: string]: unknown })[field]
    return [
      field,
      field === "pico"
        ? String(BigInt(before as string) + BigInt(value as string))
        : typeof value === "number"
        ? value + (before as number)
        : value
    ]
  })
  // The same fields as the row: numbers that were added up.
  return rows.with(at, Object.fromEntries(sum) as Row)
}

const sane = (tokens: number | undefined): number =>
  tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0

const n = (value: number): string => Math.round(value).toLocaleString("en-US")

const time = (ms: number): string => ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
