/**
 * What a driver can do at each point: enforce what hooks decide there, only let them observe, or not reach it at all.
 *
 * @since 0.2.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { HookPointName } from "@belay/core/HookPoint"

/** Where a hook can act: at the points, and with its other methods. @category models @since 0.2.0 */
export type Place = HookPointName | "wrapLlmCall" | "wrapToolCall" | "revealText" | "concealMessages"

/**
 * What a driver can do at a place. `absent` means that its system never does what the place is about: if it delegates
 * nothing, no delegation gets around a hook.
 *
 * @category models
 * @since 0.2.0
 */
export type Reach = "enforced" | "observed" | "unreachable" | "absent"

/** A driver with what it can do. Places that it does not name are unreachable. @category models @since 0.2.0 */
export interface Driver {
  readonly name: string
  readonly places: { readonly [P in Place]?: Reach }
}

/** One row of the table. @category models @since 0.2.0 */
export interface Row {
  readonly place: Place
  readonly reach: Reach
  /** The hooks that act there. */
  readonly hooks: ReadonlyArray<string>
}

/**
 * Shows a table as text, one line for each place that has hooks. Throws a `ConfigError` if it is not a table of
 * `guard.coverage`.
 *
 * @category reading
 * @since 0.2.0
 */
export const show = (rows: ReadonlyArray<Row>): string => {
  if (!Array.isArray(rows) || rows.some((row) => !Array.isArray(row?.hooks))) {
    throw new ConfigError({ key: "rows", message: "rows: expected what guard.coverage returns" })
  }
  return rows.filter(({ hooks }) => hooks.length > 0)
    .map(({ hooks, place, reach }) => `${place.padEnd(16)} ${reach.padEnd(12)} ${hooks.join(", ")}`)
    .join("\n")
}
