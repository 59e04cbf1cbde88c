/** Runs `belay backtest`. */
import type { AgentHook } from "@belay/core/AgentHook"
import { messageOf } from "@belay/core/ErrorMessage"
import { names } from "@belay/core/HookPoint"
import * as BacktestReport from "@belay/observe/BacktestReport"
import * as Backtest from "@belay/testing/Backtest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { exitWith, print, usageError } from "../flags.ts"
import { importModule } from "../guard/run/loadConfig.ts"
import { withTools } from "../guard/run/tools.ts"
import { count, plain, type Screen, styleOf } from "../screen.ts"
import { type CommandError, commandError, type Usage } from "../usage.ts"
import { readSource } from "./readSource.ts"

/** How many findings are shown. `--json` has all. */
const shownFindings = 20

/** The flags and arguments of the command. */
export interface BacktestFlags {
  readonly files: ReadonlyArray<string>
  readonly hook: ReadonlyArray<string>
  readonly maxStricter: Option.Option<string>
  readonly expect: Option.Option<string>
  readonly report: Option.Option<string>
  readonly session: Option.Option<string>
  readonly json: boolean
}

export const runBacktest = (
  { expect, files, hook, json, maxStricter, report: page, session }: BacktestFlags,
  screen: Screen
) =>
  Effect.gen(function*() {
    const limit = yield* shareOf(maxStricter)
    const expectations = Option.isSome(expect) ? yield* readExpectations(expect.value) : []
    const loaded = yield* Effect.forEach(hook, loadHooks)
    const hooks = loaded.flatMap((one) => one.hooks)
    const recordings = yield* Effect.forEach(files, (file) => readSource(file, Option.getOrUndefined(session)))
    const inputs = recordings.flatMap(({ entries }) => entries.filter((entry) => entry.type === "input"))
    const result = yield* Effect.promise(() =>
      Backtest.run(hooks, inputs, loaded.some(({ isConfig }) => isConfig) ? coding : {})
    )
    const unmet = Backtest.unmet(result, expectations)
    const report = { ...result, expectations: expectations.length, unmet }
    if (Option.isSome(page)) yield* writePage(page.value, BacktestReport.render(report))
    yield* print(json, () => report, () => textOf(report, limit, screen))
    if (Option.isSome(page)) yield* Console.error(`belay: the report is in ${plain(page.value)}`)
    const isTooStrict = limit !== undefined && result.stricterShare > limit
    yield* exitWith(isTooStrict || unmet.length > 0 ? 1 : 0)
  })

/** The tools of coding agents, which a recording of a guard does not have. */
const coding = {
  tools: withTools().map((tool) => ({ description: "", inputSchema: { type: "object" }, delegates: false, ...tool }))
}

const writePage = (path: string, html: string): Effect.Effect<void, CommandError> =>
  Effect.try({
    // It shows what users said, so only its owner may read it.
    try: () => writeFileSync(path, html, { mode: 0o600 }),
    catch: (error) => commandError(`--report: ${plain(path)} cannot be written: ${messageOf(error)}`)
  })

interface Report extends Backtest.Result {
  readonly expectations: number
  readonly unmet: ReturnType<typeof Backtest.unmet>
}

const percent = (share: number): string => `${(share * 100).toFixed(2).replace(/\.?0+$/, "")}%`

const textOf = (report: Report, limit: number | undefined, screen: Screen): string => {
  const { counts, expectations, findings, inputs, sessions, stricterShare, unmet } = report
  const { bold, dim, green, red, yellow } = styleOf(screen)
  const paint = { stricter: red, looser: yellow, changes: yellow, same: dim, fails: red }
  const examples = findings.filter(({ kind }) => kind !== "same")
  const hidden = examples.length - shownFindings
  const lines = [
    bold(`${count(inputs, "event")} of ${count(sessions, "session")}`),
    `  ${counts.stricter} would be stopped now, and were not (${percent(stricterShare)})`,
    `  ${counts.looser} were stopped by a hook of the same name, and would not be now`,
    `  ${counts.changes} would be changed`,
    `  ${counts.same} were stopped then too`,
    ...(counts.fails > 0 ? [red(`  at ${count(counts.fails, "event")} a hook failed`)] : []),
    ...(examples.length > 0 ? [""] : []),
    ...examples.slice(0, shownFindings).map((
      { answer, by = "", kind, point, reason = "", session, step, subject, turn }
    ) =>
      [
        paint[kind](kind.padEnd(8)),
        plain(`${session} turn ${turn} step ${step}`),
        plain(`${point}${subject === undefined ? "" : ` ${subject}`}:`),
        plain(`${answer} ${by} ${reason}`.trim().slice(0, 300))
      ].join(" ")
    ),
    ...(hidden > 0 ? [dim(`… and ${hidden} more (--json has all)`)] : [])
  ]
  if (limit !== undefined) {
    const isGood = stricterShare <= limit
    lines.push("", (isGood ? green : red)(`${percent(stricterShare)} stopped, at most ${percent(limit)} allowed`))
  }
  if (expectations > 0) {
    lines.push(
      "",
      (unmet.length === 0 ? green : red)(`${expectations - unmet.length} of ${expectations} expectations hold`)
    )
    for (const { expectation, found } of unmet) {
      lines.push(`  expected ${plain(JSON.stringify(expectation))}, found ${found.join(", ")}`)
    }
  }
  return lines.join("\n")
}

const shareOf = (given: Option.Option<string>): Effect.Effect<number | undefined, Usage> => {
  if (Option.isNone(given)) return Effect.succeed(undefined)
  const [, number, unit] = /^(\d+(?:\.\d+)?)(%?)$/.exec(given.value.trim()) ?? []
  const share = Number(number) / (unit === "%" ? 100 : 1)
  if (!(share <= 1)) {
    return Effect.fail(
      usageError(`--max-stricter: expected a share such as 0.5% or 0.005, found ${plain(given.value)}`)
    )
  }
  return Effect.succeed(share)
}

const readExpectations = (path: string): Effect.Effect<ReadonlyArray<Backtest.Expectation>, Usage> =>
  Effect.gen(function*() {
    const text = yield* Effect.try({
      try: () => readFileSync(path, "utf8"),
      catch: (error) => usageError(`--expect: ${plain(path)} cannot be read: ${String(Object(error).message)}`)
    })
    const lines = text.split("\n").map((line, index) => [line.trim(), index + 1] as const)
    return yield* Effect.forEach(lines.filter(([line]) => line !== ""), ([line, number]) => {
      const parsed = Result.try(() => JSON.parse(line) as unknown)
      if (Result.isSuccess(parsed) && isExpectation(parsed.success)) return Effect.succeed(parsed.success)
      return Effect.fail(usageError(
        `--expect: line ${number} of ${plain(path)}: expected an object with "session" and "expect", such as ` +
          "{\"session\":\"s1\",\"step\":3,\"expect\":\"Reject\"}"
      ))
    })
  })

const isExpectation = (value: unknown): value is Backtest.Expectation => {
  const { expect, session } = Object(value) as Partial<Backtest.Expectation>
  return typeof session === "string" && typeof expect === "string"
}

/** The hooks of a module, and whether it is the config of a guard. */
interface Loaded {
  readonly hooks: ReadonlyArray<AgentHook>
  readonly isConfig: boolean
}

/** Loads the hooks that a module exports: hooks, lists of hooks, or functions without parameters that make them. */
const loadHooks = (given: string): Effect.Effect<Loaded, Usage | CommandError> =>
  Effect.gen(function*() {
    const path = resolve(given)
    if (!existsSync(path)) return yield* usageError(`--hook: there is no file ${plain(given)}`)
    const module = yield* Effect.tryPromise({
      try: () => importModule(path),
      catch: (error) => commandError(`--hook: ${plain(given)} cannot be loaded: ${String(Object(error).message)}`)
    })
    const exported = "default" in module ? [module["default"]] : Object.values(module)
    const made = yield* Effect.forEach(exported, (value) =>
      typeof value === "function" && value.length === 0
        ? Effect.try({
          try: () => (value as () => unknown)(),
          catch: (error) => commandError(`--hook: ${plain(given)}: ${String(Object(error).message)}`)
        })
        : Effect.succeed(value))
    const hooks = made.flatMap(hooksIn).filter(isHook)
    const isConfig = made.some((value) => Array.isArray(Object(value).hooks))
    return hooks.length > 0 ? { hooks, isConfig } : yield* usageError(
      `--hook: ${plain(given)} exports no hook: export an object with a name and a method for a point, ` +
        "or a function without parameters that makes one"
    )
  })

/** A hook, a list of hooks, or the config of a guard. */
const hooksIn = (value: unknown): ReadonlyArray<unknown> => {
  const { hooks } = Object(value) as { readonly hooks?: unknown }
  return Array.isArray(hooks) ? hooks : [value].flat()
}

const isHook = (value: unknown): value is AgentHook =>
  typeof value === "object" && value !== null && "name" in value && typeof value.name === "string" &&
  [...names, "wrapLlmCall", "wrapToolCall"].some((point) => point in value)
