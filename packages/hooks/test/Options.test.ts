/** What programs without types can pass to the constructors of hooks. */
import type { AgentHook } from "@belay/core/AgentHook"
import { messageOf } from "@belay/core/ErrorMessage"
import { assert, describe, it } from "@effect/vitest"
import * as Hooks from "../src/index.ts"
import { isConfigError } from "./support/options.ts"

type Make = (options: unknown) => AgentHook

/** The constructors that take one object with options. */
const constructors: ReadonlyArray<readonly [name: string, make: Make]> = Object.entries(Hooks).flatMap(
  ([name, module]) =>
    "make" in module && name !== "AuditFile" && name !== "Shadow" ? [[name, module.make as Make] as const] : []
)
const all: ReadonlyArray<readonly [name: string, make: Make]> = [
  ...constructors,
  ["Shadow", (options) => Hooks.Shadow.make({ name: "h" }, options as Hooks.Shadow.Options)],
  ["safeDefaults", (options) => Hooks.Hooks.safeDefaults(options as Hooks.Hooks.Options)[0]!],
  ["TerminalApproval", (options) => ({ name: "t", close: Hooks.TerminalApproval.ask(options as never) as never })],
  ["ToolArguments.forTool", (options) => Hooks.ToolArguments.forTool(options as never)]
]

const optionsOf = (name: string, make: Make): ReadonlyArray<string> => {
  const error = errorOf(() => make({ zzzzzzzzzzzzzzzzzzzz: 1 }))
  const names = /the options are (.*)$/.exec(String(Object(error).message))?.[1]?.split(", ")
  if (names === undefined) assert.fail(`${name} accepts an unknown option`)
  return names!
}

const errorOf = (f: () => unknown): unknown => {
  try {
    f()
    return undefined
  } catch (error) {
    return error
  }
}

const values: ReadonlyArray<unknown> = [
  null,
  42,
  -1,
  NaN,
  "x",
  true,
  {},
  [],
  [null],
  [42],
  { a: null },
  () => {},
  Symbol("s"),
  10n,
  new Date(0)
]

describe("options from programs without types", () => {
  it("are known in at least 30 constructors", () => assert.isAtLeast(constructors.length, 30))

  it.each(all)("are checked by %s: any value is accepted or is an error that names the option", (name, make) => {
    for (const value of [undefined, ...values]) {
      const error = errorOf(() => make(value))
      if (error !== undefined) assert.isTrue(isConfigError(error), `${name}(${typeof value}): ${messageOf(error)}`)
    }
    for (const option of optionsOf(name, make)) {
      for (const value of values) {
        const error = errorOf(() => make({ [option]: value }))
        if (error !== undefined) assert.isTrue(isConfigError(error), `${name}.${option}: ${messageOf(error)}`)
      }
    }
  })

  it.each<[string, () => unknown, RegExp]>([
    [
      "TokenLimit",
      () => Hooks.TokenLimit.make({ perTurn: { tokens: 40 } } as never),
      /perTurn\.tokens: there is no option/
    ],
    ["Budget", () => Hooks.Budget.make({ limits: [{ scope: "run", mony: 1 }] } as never), /limits\[0\]\.mony.*"money"/],
    [
      "Budget without a scope",
      () => Hooks.Budget.make({ limits: [{ money: 1 }] } as never),
      /limits\[0\]\.scope.*required/
    ],
    [
      "CostTracker",
      () => Hooks.CostTracker.make({ prices: { m: { costPerInputTokens: 1, costPerOutputToken: 1 } } } as never),
      /prices\.m\.costPerInputTokens.*"costPerInputToken"/
    ],
    ["LoopDetector", () => Hooks.LoopDetector.make({ ladder: { blok: 2 } } as never), /ladder\.blok.*"block"/],
    ["ResultOffloader", () => Hooks.ResultOffloader.make({ perTool: { a: { max: 2 } } } as never), /perTool\.a\.max/],
    ["PermissionRules", () => Hooks.PermissionRules.make({ sources: [{ denny: [] }] } as never), /denny.*"deny"/]
  ])("are also checked inside of options: %s", (_name, make, message) => assert.throws(make, message))

  it("name the hook that Shadow wraps, if its name is not a text", () => {
    for (const value of values) {
      const error = errorOf(() => Hooks.Shadow.make({ name: value } as never))
      if (typeof value !== "string") assert.match(messageOf(error), /^shadow\.hook\.name: expected a text/)
    }
  })

  it.each(all)("of %s that are misspelt are errors that suggest the right one", (name, make) => {
    for (const option of optionsOf(name, make)) {
      if (option.length < 6) continue
      const misspelt = option.slice(0, 3) + option.slice(4)
      const error = errorOf(() => make({ [misspelt]: undefined, [`${option}q`]: 1 }))
      assert.isTrue(isConfigError(error))
      assert.match(String(Object(error).message), /did you mean "/, `${name}.${option}q`)
    }
  })
})
