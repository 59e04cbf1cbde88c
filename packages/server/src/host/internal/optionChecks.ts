/** Checks of the options of hosts and engines. */
import { type Delegatable, delegationTarget } from "@belay/core/agentTool"
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

/** Requires an object with these methods, or nothing. */
export const optional = (...[key, value, ...rest]: Parameters<typeof part>): Expectation =>
  value === undefined ? [key, value, () => true, ""] : part(key, value, ...rest)

/** Requires an agent with a session store. A wrapper that hides the configuration of its agent is trusted. */
export const storing = (agent: object): Expectation => {
  const target = Object(agent)[delegationTarget] as Partial<Delegatable[typeof delegationTarget]> | undefined
  const config = target?.agent?.config
  return [
    "agent",
    agent,
    () => config === undefined || config.store !== undefined,
    "an agent with a session store: createAgent({ store: store.sessions, … })"
  ]
}
