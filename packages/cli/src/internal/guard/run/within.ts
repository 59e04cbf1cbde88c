/** Code that never returns is ended at the deadline. */
import type { AgentHook } from "@belay/core/AgentHook"
import { names } from "@belay/core/HookPoint"
import { Script } from "node:vm"
import { Refusal } from "./refusal.ts"

/**
 * Runs a function until its first pause. If it does not get there before the deadline, it is ended, with a `Refusal`.
 */
export type Within = <A>(act: () => A) => A

const script = new Script("globalThis[Symbol.for(\"@belay/cli/guard-act\")]()")

/** Returns the function for a deadline, in milliseconds of `performance.now`. */
export const withinUntil = (deadline: number): Within => {
  let isInside = false
  return <A>(act: () => A): A => {
    // Node starts a thread for each end. What runs inside of something has the same end.
    if (isInside) return act()
    isInside = true
    Object.assign(globalThis, { [Symbol.for("@belay/cli/guard-act")]: act })
    try {
      // The script calls the function and returns what it returns.
      return script.runInThisContext({ timeout: Math.max(1, Math.floor(deadline - performance.now())) }) as A
    } catch (error) {
      if (Object(error).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error
      throw new Refusal(tooLong)
    } finally {
      isInside = false
    }
  }
}

/** The reason for a guard that did not decide in time. */
export const tooLong = "the guard took too long to decide: a hook or the config hangs"

/** Whether code goes on later, when nothing ends it. */
const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

const methods = [...names, "wrapLlmCall", "wrapToolCall", "revealText", "concealMessages"] as const

/** Returns a hook whose methods are ended at the deadline. `watch` is called when one of them pauses. */
export const watched = (hook: AgentHook, within: Within, watch: () => void): AgentHook => {
  if (typeof hook !== "object" || hook === null) return hook
  const made = Object.create(Object.getPrototypeOf(hook) as object, Object.getOwnPropertyDescriptors(hook)) as AgentHook
  for (const name of methods) {
    const method: unknown = hook[name]
    if (typeof method !== "function") continue
    const value = (...args: ReadonlyArray<unknown>): unknown => {
      const result = within(() => Reflect.apply(method, hook, args) as unknown)
      if (isPromise(result)) watch()
      return result
    }
    Object.defineProperty(made, name, { value, enumerable: true })
  }
  return made
}
