/** What a host reads from its stores for those who look. */
import { defined } from "@belay/core/Fields"
import type { Count, Inbox } from "@belay/core/Inbox"
import type { SessionStore } from "@belay/core/SessionStore"
import { nothing, waitingOf } from "@belay/core/Waiting"
import * as Effect from "effect/Effect"
import { loadState } from "./advance/recognize.ts"
import type { Activity, Conversation } from "./hostTypes.ts"
import { clockErrorMs } from "./site/addEntry.ts"
import type { Site } from "./site/site.ts"

export const conversationOf = Effect.fnUntraced(function*(sessions: SessionStore, inbox: Inbox, sessionId: string) {
  const state = yield* loadState(sessions, sessionId)
  const open = (yield* inbox.open(sessionId)).map(({ key, kind, status }) => ({ key, kind, status }))
  if (state === undefined) return open.length === 0 ? undefined : { ...nothingSaid, open }
  const { input: { key }, lastEvent, messages, turnNumber } = state
  return { messages, turnNumber, waiting: waitingOf(state), open, ...defined({ key, lastEvent }) }
})

const nothingSaid: Omit<Conversation, "open"> = { messages: [], turnNumber: 0, waiting: nothing }

const maxDue = 10_000

export const activityOf = (site: Site): Effect.Effect<Activity, unknown> =>
  Effect.gen(function*() {
    const { counters, inbox, running, time } = site
    const now = yield* time
    const due = yield* inbox.due({ until: now, limit: maxDue, ...defined({ release: site.release }) })
    const messages = inbox.care === undefined ? undefined : yield* inbox.care.counts
    const since = (at: number) => Math.min(now, at + clockErrorMs)
    const aged = ({ count, oldest }: Count): Count =>
      oldest === undefined ? { count } : { count, oldest: since(oldest) }
    return {
      at: now,
      running: [...running.keys()],
      due: due.length,
      isDraining: site.isDraining,
      ...(due[0] === undefined ? {} : { oldest: since(due[0].at) }),
      ...(messages === undefined ? {} : {
        messages: {
          waiting: aged(messages.waiting),
          begun: aged(messages.begun),
          suspended: aged(messages.suspended)
        }
      }),
      counters: structuredClone(counters)
    }
  })
