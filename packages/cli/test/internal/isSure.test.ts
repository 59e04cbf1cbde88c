/** Who is asked whether a file may be changed. */
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { isSure } from "../../src/internal/guard/places.ts"

describe("a question on a terminal", () => {
  const answerOf = (interactive: boolean, yes: boolean) => {
    const asked = isSure({ columns: 80, colors: false, interactive, path: "" }, yes, "Sure?")
    // Nothing that a question needs is there.
    return Effect.runPromise(Effect.exit(asked as Effect.Effect<boolean>))
  }

  it("is not asked if the flag says yes, or if nobody is there, which is no", async () => {
    for (const interactive of [true, false]) {
      assert.deepInclude(await answerOf(interactive, true), { _tag: "Success", value: true })
    }
    assert.deepInclude(await answerOf(false, false), { _tag: "Success", value: false })
    assert.deepInclude(await answerOf(true, false), { _tag: "Failure" })
  })
})
