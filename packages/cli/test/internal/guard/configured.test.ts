/** What a config of the guard may export. */
import { assert, describe, it } from "vitest"
import { configuredBy } from "../../../src/internal/guard/run/configured.ts"

const hooks = [{ name: "h" }]
const defaults = { onFailure: "deny", keepDays: 30 }

describe("a config of the guard", () => {
  it.each<readonly [exported: unknown, expected: object]>([
    [hooks, { guard: { hooks }, ...defaults }],
    [[], { guard: { hooks: [] }, ...defaults }],
    [{ hooks }, { guard: { hooks }, ...defaults }],
    [() => hooks, { guard: { hooks }, ...defaults }],
    [async () => ({ hooks }), { guard: { hooks }, ...defaults }],
    [{ hookSources: [] }, { guard: { hookSources: [] }, ...defaults }],
    [{ hooks, tools: [], onFailure: "allow", keepDays: 0.5 }, {
      guard: { hooks, tools: [] },
      onFailure: "allow",
      keepDays: 0.5
    }],
    [{ hooks, session: 1 }, { guard: { hooks, session: 1 }, ...defaults }],
    [{ hooks, coverage: 1 }, { guard: { hooks, coverage: 1 }, ...defaults }]
  ])("may be %j", async (exported, expected) => {
    assert.deepEqual(await configuredBy("f", exported), expected as never)
  })

  const none = "f has no default export with hooks: write `export default { hooks: [...] }`"
  it.each<readonly [exported: unknown, wrong: string]>([
    [undefined, none],
    [null, none],
    ["hooks", none],
    [() => null, none],
    [{ session: 1, coverage: 1 }, "f exports a guard: export its options, `export default { hooks: [...] }`"],
    [{}, "f has no hooks: write `export default { hooks: [...] }`"],
    [{ hooks: {} }, "f has no hooks: write `export default { hooks: [...] }`"],
    [{ hooks, onFailure: "ask" }, "f: onFailure is \"deny\" or \"allow\""],
    [{ hooks, keepDays: 0 }, "f: keepDays is a number above 0"],
    [{ hooks, keepDays: -1 }, "f: keepDays is a number above 0"],
    [{ hooks, keepDays: NaN }, "f: keepDays is a number above 0"],
    [{ hooks, keepDays: "30" }, "f: keepDays is a number above 0"]
  ])("cannot be %j", async (exported, wrong) => {
    const error: unknown = await configuredBy("f", exported).then(() => undefined, (failed: unknown) => failed)
    assert.strictEqual(Object(error).message, wrong)
  })
})
