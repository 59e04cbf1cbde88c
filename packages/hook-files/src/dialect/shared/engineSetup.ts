/** The setup of an engine from the options that most systems have. */
import { checkOptions, type Expectation, oneOf, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import type { Refuse } from "../../engine/refusal.ts"
import type { Setup } from "../../engine/setup.ts"
import * as Runners from "../../runner/Runners.ts"

interface Options<E> {
  readonly handlers: ReadonlyArray<E>
  readonly runners?: Runners.Runners
  readonly onBroken?: "continue" | "block"
  readonly drainMs?: number
  readonly refuse?: Refuse<E>
}

/** Checks `onBroken`: a misspelled one would let calls through that should be blocked. */
export const ifBroken = (onBroken: unknown): Expectation => oneOf("onBroken", onBroken, ["continue", "block"])

/** Throws a `ConfigError` if an option is invalid. `defaultRunners` makes the runners if the options have none. */
export const engineSetup = <E>(
  name: string,
  { drainMs, handlers, onBroken, refuse, runners }: Options<E>,
  defaultRunners: () => Runners.Runners = Runners.make
): Setup<E> => {
  Result.getOrThrow(checkOptions(name, whole("drainMs", drainMs), ifBroken(onBroken)))
  return {
    name,
    entries: () => handlers,
    runners: runners ?? defaultRunners(),
    refuse,
    blockOnError: onBroken === "block",
    drainMs
  }
}
