/** Checks of the options of hosts and engines. */
import type { Expectation } from "@belay/core/OptionCheck"

/** Whether a text is the address of a Postgres database. */
export const isAddress = (url: string): boolean => URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)

/** Whether a text can be part of the names of tables. */
export const isPrefix = (prefix: string): boolean => /^[a-z][a-z0-9_]{0,39}$/.test(prefix)

/** Requires an object with these methods. */
export const part = (key: string, value: unknown, methods: ReadonlyArray<string>, expected: string): Expectation => [
  key,
  value ?? null,
  (given: unknown) => methods.every((method) => typeof Object(given)[method] === "function"),
  expected
]
