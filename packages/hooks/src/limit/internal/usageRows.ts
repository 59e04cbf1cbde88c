/** The rows of a usage report, and how they are added up. */
import * as Schema from "effect/Schema"

const Tokens = {
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  cachedTokens: Schema.Finite,
  reasoningTokens: Schema.Finite,
  /** The cost in pico-dollars, in decimal digits. */
  pico: Schema.String.check(Schema.isPattern(/^\d{1,40}$/)),
  /** The number of calls whose cost is not known. */
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
  asked: Schema.Finite,
  /** How often the hook failed and the chain continued without it. Absent if it never did. */
  failedOpen: Schema.optionalKey(Schema.Finite)
})

/**
 * What a session used, as plain JSON. The rows are in the order of their first use. `calls` is the number of attempts,
 * `failures` the number of those that failed or were interrupted, `durationMs` the sum of their durations. `pico` is
 * the exact cost in pico-dollars (10^-12 dollars), without the `unpriced` calls.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report extends Schema.Schema.Type<typeof Report> {}
/** The schema of a report. @category schemas @since 0.1.0 */
export const Report = Schema.Struct({
  models: Schema.Array(Model),
  tools: Schema.Array(Tool),
  agents: Schema.Array(Agent),
  /** What hooks decided: values changed, operations answered, operations rejected or aborted, questions asked. */
  hooks: Schema.Array(Hook)
})

/** The token counts of a row. */
export type TokenCounts = Pick<
  Report["models"][number],
  "inputTokens" | "outputTokens" | "cachedTokens" | "reasoningTokens" | "pico" | "unpriced"
>

export const noTokens: TokenCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  pico: "0",
  unpriced: 0
}

/** How many rows of one kind there are. Further names are added up in the row `other`. */
const maxRows = 64

/** Adds a row to the row of the same name: numbers are added up. */
export const addRow = <Row extends { readonly name: string }>(
  rows: ReadonlyArray<Row>,
  row: Row
): ReadonlyArray<Row> => {
  const name = row.name.slice(0, 100)
  const known = rows.findIndex((one) => one.name === name)
  const hasRoom = known >= 0 || rows.length < maxRows
  const index = hasRoom ? known : rows.findIndex((one) => one.name === "other")
  const added = { ...row, name: hasRoom ? name : "other" }
  return index < 0 ? [...rows, added] : rows.with(index, sumOf(rows[index]!, added))
}

const sumOf = <Row extends object>(before: Row, added: Row): Row => {
  const sums = Object.entries(added).map(([field, value]): readonly [string, unknown] => {
    // Both rows have the same fields with the same types.
    const other: unknown = before[field as keyof Row]
    if (field === "pico") return [field, String(BigInt(String(other)) + BigInt(String(value)))]
    return [field, typeof value === "number" ? value + Number(other ?? 0) : value]
  })
  // The same fields as the rows.
  return { ...before, ...Object.fromEntries(sums) } as Row
}
