/** What programs without types can pass to providers, servers, stores and cassettes. */
import { createAgent } from "@belay/core"
import * as AiSdk from "@belay/providers/AiSdk"
import * as Cassette from "@belay/providers/Cassette"
import * as EffectAi from "@belay/providers/EffectAi"
import * as McpServers from "@belay/providers/McpServers"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Prices from "@belay/providers/Prices"
import * as SqliteStore from "@belay/providers/SqliteStore"
import { Scripted } from "@belay/testing"
import { assert, describe, it } from "vitest"

const makers: ReadonlyArray<
  readonly [name: string, make: (options: never) => unknown, misspelt: string, right: string]
> = [
  ["OpenAiCompatible", OpenAiCompatible.make, "baseURL", "baseUrl"],
  ["OpenAiCompatible", OpenAiCompatible.make, "api_key", "apiKey"],
  ["SqliteStore", SqliteStore.make, "paths", "path"],
  ["McpServers", (options) => McpServers.make({}, options), "maxResultLenght", "maxResultLength"],
  ["AiSdk", (options) => AiSdk.fromLanguageModel({} as never, options), "nam", "name"],
  ["EffectAi", (options) => EffectAi.fromLanguageModel({} as never, options), "modell", "model"],
  ["Cassette", (options) => Cassette.open(options), "files", "file"]
]

const errorOf = async (make: () => unknown): Promise<unknown> => {
  try {
    await make()
    return undefined
  } catch (error) {
    return error
  }
}

describe("options from programs without types", () => {
  it.each(makers)("of %s are errors with a suggestion if they are misspelt", async (_name, make, misspelt, right) => {
    const error = await errorOf(() => make({ [misspelt]: "x" } as never))
    assert.deepInclude(error as object, { _tag: "ConfigError" })
    assert.include(String(error), `there is no option "${misspelt}"; did you mean "${right}"?`)
  })

  it.each(makers)("of %s are errors if they are not an object", async (_name, make) => {
    for (const options of [null, 3, "x", []]) {
      assert.deepInclude((await errorOf(() => make(options as never))) as object, { _tag: "ConfigError" })
    }
  })

  const inside: ReadonlyArray<readonly [where: string, options: object, message: RegExp]> = [
    ["api", { api: "response" }, /OpenAiCompatible\.api: .*did you mean "responses"\?.*found "response"/],
    ["timeouts", { timeouts: { headerMs: 1 } }, /OpenAiCompatible\.timeouts\.headerMs: .*did you mean "headersMs"\?/],
    ["timeouts", { timeouts: { idleMs: "1 s" } }, /OpenAiCompatible\.timeouts\.idleMs: expected a number/],
    ["compat", { compat: { maxTokenField: "x" } }, /OpenAiCompatible\.compat\.maxTokenField: .*"maxTokensField"\?/],
    ["compat", { compat: { reasoning: "thinkin" } }, /compat\.reasoning: .*did you mean "thinking"\?/],
    ["compat", { compat: { sampling: "no" } }, /compat\.sampling: expected true or false, found "no"/],
    ["prices", { prices: { m: { costPerInputTokens: 1 } } }, /prices\.m\.costPerInputTokens: .*"costPerInputToken"\?/],
    ["prices", { prices: { m: { costPerInputToken: 1 } } }, /prices\.m\.costPerOutputToken: is missing/],
    ["prices", { prices: { m: { costPerInputToken: -1, costPerOutputToken: 0 } } }, /a number from 0, found -1/],
    ["prices", { prices: { m: false } }, /OpenAiCompatible\.prices\.m: expected an object/]
  ]
  it.each(inside)("are checked inside of %s", (_where, options, message) => {
    assert.throws(() => OpenAiCompatible.make(options as never), message)
  })

  it("are checked inside of a table of prices", () => {
    assert.throws(() => Prices.table({ m: { costPerInput: 1 } as never }), /Prices\.table\.m\.costPerInput: /)
  })

  it("name the property that was meant if a store is passed whole", () => {
    using store = SqliteStore.make({ path: ":memory:" })
    const make = () => createAgent({ provider: Scripted.make([]), store: store as never })
    assert.throws(make, /agent\.store: expected .* did you mean its property "sessions"\?/)
  })
})
