/** What a model reads that no hook sees. Hooks see that there is such a thing. */
import type { LlmParameters } from "@belay/core/LlmCall"
import type { FilePart } from "@belay/core/Message"
import type { TurnInput } from "@belay/core/Turn"

/** Names the tools that the vendor runs, as parameters of a request. */
export const hosted = (names: ReadonlyArray<string>): Pick<LlmParameters, "hostedTools"> =>
  // Nobody here knows what kind of tool it is, or where it is.
  names.length === 0 ? {} : { hostedTools: names.map((name) => ({ type: "mcp", name, url: "" })) }

/**
 * Makes the input of a turn for an SDK that does not show its requests. Its model may have read files, memories or an
 * earlier conversation, which count as attachments: there may be none that the guard knows.
 */
export const unseenBeside = (message: string, attachments: ReadonlyArray<FilePart> = []): TurnInput => ({
  message,
  attachments
})
