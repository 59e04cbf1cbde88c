/**
 * What a hook that is shared with others should keep to, as cases for any test runner.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { type Common, hookLaws, type Options } from "./internal/laws/hooks.ts"
import type { Law } from "./internal/laws/law.ts"

/** One law: `run` rejects when it does not hold. @category models @since 0.1.0 */
export type Case = Law

export type { Common, Options }

/**
 * Lists the laws of hooks. Every point that the hook implements is tried with hostile events: prototype names, deep and
 * wide JSON, long and broken texts, empty lists, numbers without measure.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import * as HookLaws from "@belay/testing/HookLaws"
 * import { test } from "node:test"
 *
 * const polite = () => defineHook({ name: "polite", preTurn: ({ message }) => message === "" ? HookAction.reject("say something") : undefined })
 * for (const { name, run } of HookLaws.cases(polite, { deterministic: true, perSession: true })) test(name, run)
 * ```
 * @category laws
 * @since 0.1.0
 */
export const cases = (hook: AgentHook | (() => AgentHook), options: Options = {}): ReadonlyArray<Case> =>
  hookLaws(hook, options)
