/** Errors of public functions that get values of the wrong type. */
import { ConfigError } from "@belay/core/AgentError"
import { checked } from "@belay/core/ArgumentCheck"
import * as RunState from "@belay/core/RunState"
import { assert, describe, it } from "vitest"

const errorOf = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return error
  }
}

describe("a function that cannot use its arguments", () => {
  it("names itself and every argument, and keeps what went wrong as the cause", () => {
    const error = errorOf(() => RunState.pending(undefined as never))
    assert.instanceOf(error, ConfigError)
    assert.strictEqual(error.key, "RunState.pending")
    assert.strictEqual(
      error.message,
      "RunState.pending: it cannot use these values: state is nothing"
    )
    assert.instanceOf(error.cause, TypeError)
  })

  it("answers as before when it can, and throws its own errors unchanged", () => {
    const own = new ConfigError({ key: "k", message: "mine" })
    const first = checked("Names.first", ["names"], (names: ReadonlyArray<string>) => {
      if (names.length === 0) throw own
      return names[0]!.trim()
    })
    assert.strictEqual(first([" a "]), "a")
    assert.strictEqual(errorOf(() => first([])), own)
  })
})
