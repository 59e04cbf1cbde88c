/** The error for wrong usage of the command line. */
import * as Schema from "effect/Schema"

export class Usage extends Schema.TaggedError<Usage>()("Usage", { message: Schema.String }) {}
