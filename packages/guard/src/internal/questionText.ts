/** What a person reads who decides about a call. */
import type { GivenCall } from "@belay/core/Driver"
import type { Json } from "@belay/core/Json"
import type { PendingAsk } from "@belay/core/RunState"
import { sameJson } from "./json.ts"
import type { Place } from "./place.ts"

/** Returns the reason, with the arguments that will run if they are not those that the SDK shows. */
export const questionText = ({ args, reason }: PendingAsk, shown: Json | undefined): string =>
  sameJson(args, shown ?? {}) ? reason : `${reason}\nIt will run with other arguments: ${JSON.stringify(args)}`

/** Why an answer about a call does not count, if no question about the call is open. */
export const notOpen = ({ ran }: Place, { id, name }: Pick<GivenCall, "id" | "name">): string =>
  ran.has(id)
    ? `${name} has run already, so the approval does not count`
    : `no question about ${name} is open in this session: it was answered before, or another guard has asked. ` +
      "Continue with the same guard, or give the guards a common store and the same id"
