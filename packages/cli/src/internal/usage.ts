/** The errors of the command line. */
import { TaggedError } from "@belay/core/TaggedError"
import * as Schema from "effect/Schema"

/** Wrong usage: exit code 2. */
export class Usage extends TaggedError<Usage>()("Usage", { message: Schema.String }) {}

/** The command could not do its work: exit code 1. */
export class CommandError extends TaggedError<CommandError>()("CommandError", { message: Schema.String }) {}

export const commandError = (message: string): CommandError => new CommandError({ message })
