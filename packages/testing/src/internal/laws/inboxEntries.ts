/** Entries for the laws of inboxes, and a comparison with an inbox in memory. */
import { type Care, type Inbox, inMemory, type NewEntry } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { random } from "../../SeededRandom.ts"
import { holds, same } from "./law.ts"

export const run = Effect.runPromise

/** An entry with defaults. */
export const entry = (key: string, more: Partial<NewEntry> = {}): NewEntry => ({
  sessionId: "s",
  key,
  kind: "message",
  body: { message: key },
  at: 1_000,
  ...more
})

export const keysOf = async (inbox: Inbox, sessionId = "s") => (await run(inbox.open(sessionId))).map(({ key }) => key)

export const dueIds = async (inbox: Inbox, until = Number.MAX_SAFE_INTEGER) =>
  (await run(inbox.due({ until, limit: 100 }))).map(({ sessionId }) => sessionId)

/** Does the same at random to this inbox and to one in memory. */
export const compare = async (inbox: Inbox, prefix: string, seed: number): Promise<void> => {
  const model = inMemory()
  const { below, pick } = random(seed)
  const ids = ["a", "b", "c"].map((id) => `${prefix}${id}`)
  const both = async (what: string, act: (one: Inbox) => Effect.Effect<unknown, unknown>): Promise<void> => {
    const [found, expected] = [await run(act(inbox)), await run(act(model))]
    same(withoutSeq(found), withoutSeq(expected), `seed ${seed}, ${what}`)
  }
  const caring = async (what: string, act: (care: Care) => Effect.Effect<unknown, unknown>): Promise<void> => {
    if (inbox.care !== undefined) await both(what, (one) => act(one.care!))
  }
  const pins = async (what: string, release: string | undefined, id: string): Promise<void> => {
    if (inbox.pin !== undefined) await both(what, (one) => one.pin!(id, release))
  }
  for (let step = 0; step < 80; step++) {
    const [id, key] = [pick(ids), `k${below(6)}`]
    const kind = pick(["message", "message", "steer", "decide", "cancel"] as const)
    const status = pick(["begun", "suspended", "suspended", "done", "dead"] as const)
    const at = below(50)
    await pick([
      () => both("add", (one) => one.add(entry(key, { sessionId: id, kind, at }), { perSession: 4 })),
      () => both("add", (one) => one.add(entry(key, { sessionId: id, kind, at }), { perSession: 4 })),
      () => both("begin", (one) => one.begin(id, key)),
      () => pins("pin", pick(["v1", "v2", undefined]), id),
      () => caring("revive", ({ revive }) => revive(id, key)),
      () => caring("drop", ({ drop }) => drop(id, key)),
      () => both("report", (one) => one.report(id, key, status, { step }))
    ])()
    await both("open", (one) => one.open(id))
    await both(
      "due",
      (one) =>
        Effect.map(
          one.due({ until: 25, limit: 500, release: "v1" }),
          (all) => all.filter(({ sessionId }) => ids.includes(sessionId))
        )
    )
  }
  holds((await Promise.all(ids.map((id) => keysOf(inbox, id)))).flat().length > 0, "something is open in the end")
}

/** Another session may have been counted before. */
const withoutSeq = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (name, one: unknown) => name === "seq" ? undefined : one))
