/**
 * Test cases for hooks, for any test runner.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { type Common, hookLaws, type Options } from "./internal/laws/hooks.ts"
import type { Law } from "./internal/laws/law.ts"

/** One law. `run` rejects if it does not hold. @category models @since 0.1.0 */
export type Case = Law

export type { Common, Options }

/**
 * Returns the laws of hooks. Every point of the hook receives hostile events: prototype names, deep and wide JSON, long
 * and broken texts, empty lists, extreme numbers.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import * as HookLaws from "@belay/testing/HookLaws"
 * import { test } from "node:test"
 *
 * const polite = () =>
 *   defineHook({
 *     name: "polite",
 *     preTurn: ({ message }) => message === "" ? HookAction.reject("say something") : undefined
 *   })
 * for (const { name, run } of HookLaws.cases(polite, { deterministic: true, perSession: true })) test(name, run)
 * ```
 * @category laws
 * @since 0.1.0
 */
export const cases = (hook: AgentHook | (() => AgentHook), options: Options = {}): ReadonlyArray<Case> =>
  hookLaws(hook, options)
