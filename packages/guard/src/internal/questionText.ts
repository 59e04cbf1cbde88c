/** What a person reads who decides about a call. */
import type { Json } from "@belay/core/Json"
import type { PendingAsk } from "@belay/core/RunState"
import { sameJson } from "./json.ts"

/** Returns the reason, with the arguments that will run if they are not those that the SDK shows. */
export const questionText = ({ args, reason }: PendingAsk, shown: Json | undefined): string =>
  sameJson(args, shown ?? {}) ? reason : `${reason}\nIt will run with other arguments: ${JSON.stringify(args)}`
