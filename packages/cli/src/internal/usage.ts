/** The error for wrong usage of the command line. */
import { TaggedError } from "@belay/core/TaggedError"
import * as Schema from "effect/Schema"

export class Usage extends TaggedError<Usage>()("Usage", { message: Schema.String }) {}
