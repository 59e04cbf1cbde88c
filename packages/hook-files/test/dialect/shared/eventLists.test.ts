/** What is read in a file that lists its entries by event, and the warnings about the rest. */
import { assert, describe, it } from "vitest"
import { readEventLists, warningsOf } from "../../../src/dialect/shared/eventLists.ts"

const read = (hooks: unknown, more: object = {}) => {
  const { warn, warnings } = warningsOf("f")
  const names = { names: ["Start", "Stop"], eventOf: (name: string) => ["Start", "Stop"].find((one) => one === name) }
  const found = readEventLists(
    hooks,
    { ...names, ...more },
    warn,
    (event, entry, key, name) => entry === null ? undefined : [`${event} ${key} ${name} ${JSON.stringify(entry)}`]
  )
  return { found, warnings: warnings.map(({ file, key, reason }) => `${file} ${key}: ${reason}`) }
}

describe("a list of entries by event", () => {
  it("is read in its order, and without the entries that do not count", () => {
    assert.deepEqual(read({ Stop: [1, null, { a: 1 }], Start: [] }), {
      found: ["Stop hooks.Stop[0] Stop 1", "Stop hooks.Stop[2] Stop {\"a\":1}"],
      warnings: []
    })
    assert.deepEqual(read(undefined), { found: [], warnings: [] })
  })

  it.for<readonly [hooks: unknown, warning: string, more?: object]>([
    [[], "f hooks: expected an object of events"],
    [null, "f hooks: expected an object of events"],
    ["x", "f hooks: expected an object of events"],
    [{ Stop: {} }, "f hooks.Stop: expected a list of hooks"],
    [{ Stop: "x" }, "f hooks.Stop: expected a list of entries", { items: "entries" }],
    [{ Stopp: [] }, "f hooks.Stopp: unknown event; did you mean Stop?"],
    [{ Zzzzzz: [] }, "f hooks.Zzzzzz: unknown event; events are Start, Stop"],
    [{ Begun: [] }, "f hooks.Begun: unknown event; did you mean Begin?", { known: ["Begin"] }],
    [{ ["x".repeat(90)]: [] }, `f hooks.${"x".repeat(80)}: unknown event; events are Start, Stop`]
  ])("that is wrong gets a warning: %j", ([hooks, warning, more]) => {
    assert.deepEqual(read(hooks, more), { found: [], warnings: [warning] })
  })

  it("has warnings of 500 characters at most", () => {
    const { warn, warnings } = warningsOf("f")
    assert.isUndefined(warn("k", "r".repeat(501)))
    assert.deepEqual(warnings, [{ file: "f", key: "k", reason: "r".repeat(500) }])
  })
})
