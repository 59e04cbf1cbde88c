/**
 * Refuses hooks that must hold where a driver cannot enforce them.
 *
 * @since 0.2.0
 */
import type { Driver } from "./Coverage.ts"
import type { Guard } from "./Guard.ts"
import { checkCovered } from "./internal/coverage.ts"

/**
 * Throws a `ConfigError` that names each hook which must hold at a place where the driver cannot enforce it. Hooks that
 * the guard names in `allowUnguarded` are accepted. The adapters of this package check that themselves.
 *
 * @example
 * ```ts
 * import { Guard } from "@belay/guard"
 * import { check } from "@belay/guard/CoverageCheck"
 *
 * check(Guard.make(), { name: "my-loop", places: { preToolCall: "enforced" } })
 * ```
 * @category checks
 * @since 0.2.0
 */
export const check = (guard: Pick<Guard, "chain" | "allowUnguarded">, driver: Driver): void =>
  checkCovered(guard, driver)
