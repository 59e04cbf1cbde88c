/** Which options the calls of a host that read take. */
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { checkRead, entriesKinds, listKinds, overviewKinds } from "../../../src/host/internal/readOptions.ts"

const kinds = { list: listKinds, entries: entriesKinds, overview: overviewKinds }

/** What a call says about these options, or that it takes them. */
const said = (name: keyof typeof kinds, options: unknown): Promise<unknown> =>
  Effect.runPromise(Effect.match(
    checkRead(name, options as object, kinds[name] as never, (name === "entries" ? ["status"] : []) as never),
    {
      onSuccess: (given) => given === options ? "taken" : "changed",
      onFailure: ({ message, problem }) => `${problem}: ${message}`
    }
  ))

describe("the options of a call that reads", () => {
  it.each(
    [
      ["list", { limit: 1, before: 5, status: "idle" }, "taken"],
      ["list", {}, "taken"],
      ["list", { status: "suspended" }, "taken"],
      ["list", { status: "limited" }, "taken"],
      ["list", { status: "open" }, "taken"],
      ["list", { status: "dead" }, "wrong-input: list.status: expected one of idle, suspended, limited, open"],
      ["list", { limit: 0 }, "wrong-input: list.limit: expected a whole number from 1, found 0"],
      ["list", { limit: 1.5 }, "wrong-input: list.limit: expected a whole number from 1, found 1.5"],
      ["list", { limit: "1" }, "wrong-input: list.limit: expected a number"],
      ["list", { before: "1" }, "wrong-input: list.before: expected a number"],
      ["list", { status: 1 }, "wrong-input: list.status: expected a text"],
      ["list", { stuckMs: 1 }, "wrong-input: list.stuckMs: there is no option"],
      ["list", null, "wrong-input: list: expected an object with options"],
      ["entries", { status: "waiting", limit: 1, after: 0 }, "taken"],
      ["entries", { status: "begun" }, "taken"],
      ["entries", { status: "suspended" }, "taken"],
      ["entries", { status: "done" }, "taken"],
      ["entries", { status: "dead" }, "taken"],
      ["entries", {}, "wrong-input: entries.status: is missing"],
      ["entries", { status: "idle" }, "wrong-input: entries.status: expected one of waiting, begun, suspended, done"],
      ["entries", { status: "dead", after: "x" }, "wrong-input: entries.after: expected a number"],
      ["entries", { status: "dead", limit: 0 }, "wrong-input: entries.limit: expected a whole number from 1"],
      ["entries", { status: "dead", limit: "x" }, "wrong-input: entries.limit: expected a number"],
      ["overview", { state: "dead", stuckMs: 1, limit: 1 }, "taken"],
      ["overview", { state: "stuck" }, "taken"],
      ["overview", { state: "busy" }, "taken"],
      ["overview", { state: "waiting" }, "taken"],
      ["overview", { state: "idle" }, "wrong-input: overview.state: expected one of dead, stuck, busy, waiting"],
      ["overview", { state: 1 }, "wrong-input: overview.state: expected a text"],
      ["overview", { stuckMs: 0 }, "wrong-input: overview.stuckMs: expected a whole number from 1, found 0"],
      ["overview", { stuckMs: "1" }, "wrong-input: overview.stuckMs: expected a number"],
      ["overview", { limit: -1 }, "wrong-input: overview.limit: expected a whole number from 1, found -1"],
      ["overview", { limit: "x" }, "wrong-input: overview.limit: expected a number"]
    ] as const
  )("%s %j: %s", async (name, options, expected) => {
    assert.include(await said(name, options), expected)
  })
})
