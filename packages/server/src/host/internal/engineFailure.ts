/** The failure of an engine. */
import { TaggedError } from "@belay/core/TaggedError"
import * as Schema from "effect/Schema"

export class EngineFailure extends TaggedError<EngineFailure>()("EngineFailure", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Unknown)
}) {}
