/** The same streams as in the quick set, five times as many. */
import { describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { staysHidden } from "../support/redactedStream.ts"

describe("Redaction of a stream", () => {
  it.effect.prop(
    "shows no value wherever it is cut, and its placeholders can be replaced by the values",
    [Schema.Int, Schema.Int],
    ([sentence, cut]) => staysHidden(sentence, cut),
    { arbitrary: { runs: 300 } }
  )
})
