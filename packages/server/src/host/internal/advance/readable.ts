/** What a host reads from its inbox. Somebody may have changed the store, so an entry is checked before it is used. */
import { type Entry, isMessage } from "@belay/core/Inbox"
import { isDecision } from "@belay/core/RunState"
import * as Effect from "effect/Effect"
import { HostError } from "../../HostError.ts"
import { report, type Site } from "../site/site.ts"

/** Returns the unfinished entries of a session. What cannot be read is given up: it is a dead letter then. */
export const openEntries = Effect.fnUntraced(function*(
  site: Site,
  sessionId: string
): Effect.fn.Return<ReadonlyArray<Entry>, unknown> {
  const entries = yield* site.inbox.open(sessionId)
  const wrong = entries.filter((entry) => whyWrong(entry, sessionId) !== undefined)
  if (wrong.length === 0) return entries
  for (const entry of wrong) {
    const { attempts, key } = entry
    yield* giveUp(site, { sessionId, key, attempts }, `it cannot be read: ${whyWrong(entry, sessionId)}`)
  }
  const left = yield* site.inbox.open(sessionId)
  const still = left.find((entry) => whyWrong(entry, sessionId) !== undefined)
  if (still === undefined) return left
  const message = `session ${sessionId} has an entry in its inbox that cannot be read: ${whyWrong(still, sessionId)}`
  return yield* new HostError({ problem: "store", sessionId, message })
})

/** Gives an entry up, and says why in its outcome. */
export const giveUp = (
  site: Site,
  { attempts, key, sessionId }: Pick<Entry, "attempts" | "key" | "sessionId">,
  why: string
): Effect.Effect<void, unknown> => {
  const reason = `${why}. Look at the row in the store, and send the message again with another key`
  return report(site, { sessionId, key }, { status: "dead", attempts: isCount(attempts) ? attempts : 0, reason })
}

/** Describes what is wrong with an entry, or returns nothing. */
const whyWrong = (entry: Entry, sessionId: string): string | undefined => {
  const { at, attempts, key, seq, tenant } = entry
  if (typeof key !== "string") return "its key is not a text"
  if (entry.sessionId !== sessionId) return "it belongs to another session"
  if (!isCount(seq)) return "its number is not a number"
  if (!isCount(attempts)) return "its attempts are not a number"
  if (typeof at !== "number" || !Number.isFinite(at)) return "its time is not a time"
  if (tenant !== undefined && typeof tenant !== "string") return "its tenant is not a text"
  return whyWrongBody(entry)
}

const whyWrongBody = (entry: Entry): string | undefined => {
  const body: unknown = entry.body
  if (entry.kind === "cancel") return typeof body === "string" ? undefined : "it does not name what it cancels"
  // What is of another kind was written by a newer release.
  if (entry.kind !== "decide" && !isMessage(entry)) return undefined
  if (typeof body !== "object" || body === null || Array.isArray(body)) return `its body is not a ${entry.kind}`
  if (entry.kind === "decide") {
    const isWrong = Object.values(body).some((decision) => !isDecision(decision))
    return isWrong || Object.keys(body).length === 0 ? "its body has no decisions" : undefined
  }
  const { history = [], message } = body as { readonly history?: unknown; readonly message?: unknown }
  if (typeof message !== "string") return "its body has no message"
  return Array.isArray(history) ? undefined : "its history is not a list"
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
