/** Where a conversation goes on after a rotation. */
import * as Schema from "effect/Schema"

/** `phase` is that of the turn, which goes on in the next session. */
export const MovedTo = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  phase: Schema.optionalKey(Schema.Literals(["start", "model", "tools"]))
})
