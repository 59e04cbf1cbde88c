/** Checks the options of calls that read. */
import type { Entry } from "@belay/core/Inbox"
import { checkKinds, checkOptions, oneOf, type OptionKinds, whole } from "@belay/core/OptionCheck"
import type { SessionInfo } from "@belay/core/SessionStore"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { HostError } from "../HostError.ts"
import type { OverviewOptions, SessionState } from "./care/overview.ts"
import { wrongInput } from "./site/readInput.ts"

interface ListOptions {
  readonly limit?: number
  readonly before?: number
  readonly status?: SessionInfo["status"]
}

interface EntriesOptions {
  readonly status: Entry["status"]
  readonly limit?: number
  readonly after?: number
}

export const listKinds: OptionKinds<ListOptions> = { limit: "number", before: "number", status: "text" }
export const entriesKinds: OptionKinds<EntriesOptions> = { status: "text", limit: "number", after: "number" }
export const overviewKinds: OptionKinds<OverviewOptions> = { state: "text", stuckMs: "number", limit: "number" }

/** The words that an option may have, by the name of the call. */
const words: { readonly [call: string]: readonly [option: string, allowed: ReadonlyArray<string>] } = {
  list: ["status", ["idle", "suspended", "limited", "open"] satisfies ReadonlyArray<SessionInfo["status"]>],
  entries: ["status", ["waiting", "begun", "suspended", "done", "dead"] satisfies ReadonlyArray<Entry["status"]>],
  overview: ["state", ["dead", "stuck", "busy", "waiting"] satisfies ReadonlyArray<SessionState>]
}

/** Passes the options on if they are valid. */
export const checkRead = <A extends object>(
  name: string,
  options: A,
  kinds: OptionKinds<A>,
  required: ReadonlyArray<string & keyof A> = []
): Effect.Effect<A, HostError> => {
  const checked = Result.andThen(checkKinds(name, options, kinds, required), () => {
    const given = options as { readonly [option: string]: unknown }
    const [option, allowed] = words[name]!
    return checkOptions(
      name,
      oneOf(option, given[option], allowed),
      whole("limit", given["limit"], 1),
      whole("stuckMs", given["stuckMs"], 1)
    )
  })
  return Result.isFailure(checked)
    ? Effect.fail(wrongInput(undefined, checked.failure.message))
    : Effect.succeed(options)
}
