/**
 * A turn for hooks that are tested without an agent: run a `HookChain` in it, and read what the hooks did. To test one
 * hook with its capabilities, use `testHook`.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import type { HookScope } from "@belay/core/HookContext"
import type { HookFailure, HookRecord } from "@belay/core/HookRecord"
import * as HookState from "@belay/core/HookState"

/** A scope, and everything that hooks and the chain did in it. @category models @since 0.1.0 */
export interface TestScope extends HookScope {
  readonly failures: Array<HookFailure>
  readonly records: Array<HookRecord>
  /** `hook what` of everything that came after a timeout. */
  readonly late: Array<string>
  /** `hook kind: text` of everything that hooks did in addition to their answers. */
  readonly actions: Array<string>
  /** Texts of `ctx.warn`. */
  readonly warnings: Array<string>
}

/** What to change of a scope. @category models @since 0.1.0 */
export interface TestScopeOptions extends Partial<HookScope> {
  /** Whether to keep decision records. A chain takes a shorter way without them. Default true. */
  readonly record?: boolean
}

/**
 * Makes a scope.
 *
 * @example
 * ```ts
 * import * as HookAction from "@belay/core/HookAction"
 * import * as HookChain from "@belay/core/HookChain"
 * import * as TestScope from "@belay/testing/TestScope"
 * import * as Effect from "effect/Effect"
 *
 * const scope = TestScope.make({ sessionId: "s1" })
 * const chain = HookChain.makeUnsafe([{ name: "no-hello", preTurn: () => HookAction.reject("no") }])
 * const { action } = await Effect.runPromise(chain.run("preTurn", { message: "hello" }, scope))
 * console.log(action, scope.records)
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = checked(
  "TestScope.make",
  ["options"],
  ({ record = true, ...changes }: TestScopeOptions = {}): TestScope => {
    const failures: Array<HookFailure> = []
    const records: Array<HookRecord> = []
    const late: Array<string> = []
    const actions: Array<string> = []
    const warnings: Array<string> = []
    const note = (hook: string, what: string) => void actions.push(`${hook} ${what}`)
    return {
      sessionId: "session-1",
      turnNumber: 3,
      stepNumber: 2,
      coreType: "tool-loop",
      agent: { name: "tester", depth: 0, invokedBy: "main" },
      cwd: "/tmp/nowhere",
      signal: new AbortController().signal,
      state: HookState.make(),
      local: HookState.make(),
      contexts: [],
      freeze: true,
      active: () => true,
      emit: (name, payload, hook) => note(hook, `event: ${name} ${JSON.stringify(payload)}`),
      inject: (text, _options, hook) => note(hook, `inject: ${text}`),
      warn: (message, hook) => {
        warnings.push(message)
        note(hook, `warn: ${message}`)
      },
      notifyUser: (message, hook) => note(hook, `notify: ${message}`),
      followUp: (message, hook) => note(hook, `followUp: ${message}`),
      ...(record ? { onRecord: (one: HookRecord) => void records.push(one) } : {}),
      onFailure: (failure) => void failures.push(failure),
      onLate: (hook, what) => void late.push(`${hook} ${what}`),
      ...changes,
      failures,
      records,
      late,
      actions,
      warnings
    }
  }
)
