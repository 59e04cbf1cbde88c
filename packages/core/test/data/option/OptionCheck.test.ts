import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import {
  checkKinds,
  checkOptions,
  type Expectation,
  invalidOption,
  oneOf,
  whole,
  within
} from "../../../src/data/option/OptionCheck.ts"

const messageFor = (...expectations: ReadonlyArray<Expectation>): string | undefined => {
  const checked = checkOptions("guard", ...expectations)
  return Result.isFailure(checked) ? checked.failure.message : undefined
}

describe("checkOptions", () => {
  const cases: ReadonlyArray<readonly [Expectation, message: string | undefined]> = [
    [whole("limit", 3), undefined],
    [whole("limit", undefined), undefined],
    [whole("limit", 0, 1), "guard.limit: expected a whole number from 1, found 0"],
    [whole("limit", 1.5), "guard.limit: expected a whole number from 0, found 1.5"],
    [whole("limit", 11, 1, 10), "guard.limit: expected a whole number from 1 to 10, found 11"],
    [whole("limit", "3"), `guard.limit: expected a whole number from 0, found "3"`],
    [whole("limit", null), "guard.limit: expected a whole number from 0, found nothing"],
    [within("share", 0.5, 0, 1), undefined],
    [within("share", 2, 0, 1), "guard.share: expected a number from 0 to 1, found 2"],
    [within("share", Number.NaN, 0), "guard.share: expected a number from 0, found NaN"],
    [oneOf("mode", "on", ["on", "off"]), undefined],
    [oneOf("mode", true, ["on", "off"]), "guard.mode: expected one of on, off, found true"],
    [oneOf("mode", {}, ["on", "off"]), "guard.mode: expected one of on, off, found a value of type object"],
    [oneOf("mode", Symbol("on"), ["on"]), "guard.mode: expected one of on, found a value of type symbol"]
  ]
  for (const [expectation, message] of cases) {
    it(message ?? `accepts ${String(expectation[1])} for ${expectation[0]}`, () => {
      assert.strictEqual(messageFor(expectation), message)
    })
  }

  it("fails for the first option that is not valid", () => {
    assert.match(messageFor(whole("a", 1), whole("b", -1), whole("c", -1))!, /^guard\.b/)
  })

  it("keeps the key of the option in the error", () => {
    const failed = invalidOption("guard.mode", "cannot be combined with limit")
    assert.deepInclude(Result.isFailure(failed) ? failed.failure : undefined, {
      key: "guard.mode",
      message: "guard.mode: cannot be combined with limit"
    })
  })
})

describe("a duration", () => {
  const isAccepted = (timeout: unknown) =>
    Result.isSuccess(checkKinds("guard", { timeout }, { timeout: "duration" } as never))

  it.each([
    5,
    "5 seconds",
    5n,
    [1, 0],
    { minutes: 1, seconds: 5 },
    { nanoseconds: 5 },
    Duration.seconds(5),
    "Infinity"
  ])(
    "can be %s",
    (value) => assert.isTrue(isAccepted(value))
  )

  it.each([{}, { second: 5 }, { seconds: 5, minute: 1 }, Number.NaN, "5", "soon", null, new Date(0), new Map()])(
    "cannot be %j, which would be no time at all",
    (value) => assert.isFalse(isAccepted(value))
  )
})
