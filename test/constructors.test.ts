/** Public functions with wrong values: a `ConfigError` or another error with a type, and never one from inside. */
import { globSync } from "node:fs"
import { assert, describe, it } from "vitest"

const wrongValues: ReadonlyArray<unknown> = [
  null,
  0,
  -1,
  NaN,
  "",
  "x",
  true,
  [],
  [null],
  [5],
  {},
  { name: 5 },
  () => 1,
  Symbol("s"),
  10n,
  new Date(NaN),
  Object.create(null),
  { tools: 5, models: 5, limits: 5, patterns: 5, rules: 5, prices: 5, hooks: 5, provider: 5 }
]

/** Returns the name of an error that comes from the inside of a function. */
const rawError = (error: unknown): string | undefined =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
    ? `${error.name}: ${error.message}`
    : undefined

/** The name with which an error about arguments begins. */
const nameIn = (error: unknown): string | undefined =>
  /^(.*?): it cannot use these values/.exec(String(Object(error).message))?.[1]

/** What has become of a call: what went wrong inside of it, and which function an error about arguments names. */
interface Attempt {
  readonly raw?: string | undefined
  readonly named?: string | undefined
  readonly ok: boolean
}

const attempt = async (call: () => unknown): Promise<Attempt> => {
  try {
    const made: unknown = call()
    if (made instanceof Promise) await made
    const close: unknown = typeof made === "object" && made !== null && "close" in made ? made.close : undefined
    if (typeof close === "function") void Promise.resolve(close.call(made)).catch(() => undefined)
    return { ok: true }
  } catch (error) {
    return { ok: false, raw: rawError(error), named: nameIn(error) }
  }
}

type Callable = (...args: ReadonlyArray<unknown>) => unknown

type Named = readonly [name: string, call: Callable]

const isClass = (value: Callable): boolean => String(value).startsWith("class ")

/** Finds the functions of a package: in its index, and in the modules that the index exports. */
const functionsOf = async (folder: string): Promise<ReadonlyArray<Named>> => {
  const index = await import(`../packages/${folder}/src/index.ts`) as Record<string, unknown>
  const all = Object.entries(index).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> =>
    typeof value === "function"
      ? [[name, value]]
      : Object.entries(Object(value)).map(([inner, one]) => [`${name}.${inner}`, one])
  )
  return all.flatMap(([name, value]): ReadonlyArray<Named> =>
    typeof value === "function" && !isClass(value as Callable) ? [[name, value as Callable]] : []
  )
}

const isConstructor = ([name]: Named): boolean =>
  /^(?:\w+\.)?(?:make|define|create|agentTool$|key$|ownKey$|from[A-Z])/.test(name)

const constructorsOf = async (folder: string): Promise<ReadonlyArray<Named>> =>
  (await functionsOf(folder)).filter(isConstructor)

/** The arguments of the calls: one wrong value at each place, beside missing ones, and pairs with a wrong second. */
const wrongArguments = [
  ...[0, 1, 2, 3].flatMap((place) => wrongValues.map((value) => [...Array<undefined>(place), value])),
  ...wrongValues.flatMap((first) => [null, 5, "x", {}].map((second) => [first, second])),
  []
]

/** An internal function, and one that has another name in another module. */
const otherNames = new Set(["ClaudeCode.makeFor", "HookConfig.show"])

const packages = [
  "core",
  "hooks",
  "tools",
  "providers",
  "guard",
  "observe",
  "server",
  "hook-files",
  "testing"
]

describe("public functions", () => {
  it("are those of every package", () => {
    const known = globSync("packages/*/src/index.ts").map((path) => path.split("/")[1])
    assert.deepStrictEqual(packages.filter((name) => !known.includes(name)), [])
  })

  for (const folder of packages) {
    it(`of ${folder} never fail from inside, whatever they get, and name themselves`, async () => {
      const functions = await functionsOf(folder)
      assert.isNotEmpty(functions)
      const found: Array<string> = []
      for (const [name, call] of functions) {
        for (const values of wrongArguments) {
          const { named = name, raw } = await attempt(() => call(...values))
          if (raw !== undefined) found.push(`${name}: ${raw}`)
          // Some functions are in the index as well as in their module.
          if (named !== name && !name.endsWith(`.${named}`) && !otherNames.has(name)) {
            found.push(`${name} has the name ${named}`)
          }
        }
      }
      assert.deepStrictEqual([...new Set(found)], [])
    }, 60_000)

    it(`of ${folder} need no options if all of them have defaults`, async () => {
      const found: Array<string> = []
      for (const [name, call] of await constructorsOf(folder)) {
        // The first parameter of the others is not an object with options.
        if (!/^(async )?\(?(options|\{)/.test(String(call))) continue
        const withEmpty = await attempt(() => call({}))
        const without = await attempt(() => call())
        if (withEmpty.ok && !without.ok) found.push(name)
      }
      assert.deepStrictEqual(found, [])
    }, 60_000)
  }
})
