/** What a Base Coat hook keeps of a conversation. */
import * as Schema from "effect/Schema"

export const Budget = Schema.Struct({ usedTokens: Schema.Finite, effectiveLimit: Schema.Finite })
/** Calls, failures by their signatures, and how often the session was rotated. */
export const Tally = Schema.Struct({
  calls: Schema.Finite,
  failures: Schema.Finite,
  rotations: Schema.Finite,
  errors: Schema.Array(Schema.Struct({ signature: Schema.String, count: Schema.Finite, at: Schema.Finite }))
})

/** How often a failure was seen. */
export const recurrenceOf = ({ errors }: Schema.Schema.Type<typeof Tally>, signature: string): number =>
  errors.find((error) => error.signature === signature)?.count ?? 0
