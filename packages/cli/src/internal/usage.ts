/** The command line was used in a way that makes no sense. */
import * as Schema from "effect/Schema"

export class Usage extends Schema.TaggedError<Usage>()("Usage", { message: Schema.String }) {}
