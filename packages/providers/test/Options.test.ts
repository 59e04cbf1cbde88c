/** What programs without types can pass to providers, servers, stores and cassettes. */
import { createAgent } from "@belay/core"
import * as AiSdk from "@belay/providers/AiSdk"
import * as Cassette from "@belay/providers/Cassette"
import * as EffectAi from "@belay/providers/EffectAi"
import * as McpServers from "@belay/providers/McpServers"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
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

  it("name the property that was meant if a store is passed whole", () => {
    using store = SqliteStore.make({ path: ":memory:" })
    const make = () => createAgent({ provider: Scripted.make([]), store: store as never })
    assert.throws(make, /agent\.store: expected .* did you mean its property "sessions"\?/)
  })
})
