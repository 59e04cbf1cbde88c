/** Laws about commits: what is stored, what is a conflict, and what parallel commits do. */
import { SessionConflict } from "@belay/core/SessionStore"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { commitOf, state, suspendedState, talk } from "../fixtures.ts"
import { broken, same, short } from "../law.ts"
import { law, run, type SessionLaw } from "./face.ts"

export const commitLaws: ReadonlyArray<SessionLaw> = [
  law(
    "a session that was never written does not exist",
    async ({ load }) => same(await load("nobody"), undefined, "load")
  ),
  law("a committed session can be loaded", async ({ commit, load }) => {
    const plain = state()
    const waiting = suspendedState({ sessionId: "s2" })
    await commit(commitOf(plain))
    await commit(commitOf(waiting))
    same(await load("session-1"), plain, "load")
    same(await load("s2"), waiting, "load of a state that waits")
  }),
  law("a step adds its messages and replaces the rest of the state", async ({ commit, load }) => {
    let whole = state({ messages: talk(2), hookState: { old: 1 } })
    await commit(commitOf(whole))
    for (let revision = 2; revision < 6; revision++) {
      whole = state({
        revision,
        messages: [...whole.messages, ...talk(3, whole.messages.length)],
        hookState: { [`k${revision}`]: revision }
      })
      await commit(commitOf(whole, whole.messages.length - 3))
    }
    same(await load("session-1"), whole, "load")
  }),
  law("messages after `from` are dropped, all of them if it is 0", async ({ commit, load }) => {
    await commit(commitOf(state({ messages: talk(10) })))
    const shorter = state({ revision: 2, messages: [...talk(4), ...talk(2, 100)] })
    await commit(commitOf(shorter, 4))
    same(await load("session-1"), shorter, "load after the tail was replaced")
    const cut = state({ revision: 3, messages: talk(2) })
    await commit(commitOf(cut, 2))
    same(await load("session-1"), cut, "load after the tail was cut off")
    const compacted = state({ revision: 4, messages: talk(1, 500) })
    await commit(commitOf(compacted, 0))
    same(await load("session-1"), compacted, "load after all was replaced")
  }),
  law(
    "a step that does not follow the last revision is a conflict, and nothing of it is stored",
    async ({ commit, load, refused, store }) => {
      const whole = state({ messages: talk(3) })
      await commit(commitOf(whole, 0, ["first"]))
      await commit(commitOf({ ...whole, revision: 2 }, 3, ["second"]))
      for (const revision of [1, 2, 4, 99]) {
        const error = await refused(
          commitOf(state({ revision, messages: talk(1, 900), hookState: { lost: true } }), 0, ["lost"])
        )
        if (!(error instanceof SessionConflict)) {
          broken(
            `revision ${revision} failed with ${short(error)}, not with a SessionConflict`
          )
        }
        // Checked above.
        const { expected, found, sessionId } = error as SessionConflict
        same(
          { expected, found, sessionId },
          { expected: revision - 1, found: 2, sessionId: "session-1" },
          "the conflict"
        )
        same(await load("session-1"), { ...whole, revision: 2 }, "load after the conflict")
      }
      if (store.records !== undefined) {
        same(
          await run(store.records("session-1")),
          ["first", "second"],
          "records after the conflict"
        )
      }
    }
  ),
  law("a new session can start with a history and a revision", async ({ commit, load }) => {
    const grown = state({ revision: 7, turnNumber: 3, messages: talk(5) })
    await commit(commitOf(grown))
    same(await load("session-1"), grown, "load")
  }),
  law("exactly one of several parallel commits wins", async ({ commit, load, store }, { reopen }) => {
    const other = await reopen?.() ?? store
    for (let revision = 1; revision <= 10; revision++) {
      const steps = Array.from(
        { length: 8 },
        (_, writer) =>
          commitOf(
            state({
              revision,
              messages: [{ role: "user", content: `${revision} by ${writer}` }],
              hookState: { writer }
            })
          )
      )
      if (revision === 1) await commit(steps[0]!)
      else {
        const exits = await Promise.all(
          steps.map((step, index) => Effect.runPromiseExit((index % 2 === 0 ? store : other).commit(step)))
        )
        const winners = exits.flatMap((exit, writer) => Exit.isSuccess(exit) ? [writer] : [])
        same(winners.length, 1, "winners")
        const kept = await load("session-1")
        same(
          [kept?.revision, kept?.hookState, kept?.messages],
          [revision, { writer: winners[0] }, steps[winners[0]!]!.messages],
          "what was kept"
        )
      }
    }
  }),
  law("a step is stored completely or not at all", async ({ commit, load, store }) => {
    const whole = state({ messages: talk(2) })
    await commit(commitOf(whole))
    const ring: Record<string, unknown> = {}
    ring["self"] = ring
    const step = commitOf(state({ revision: 2, messages: talk(4), hookState: { after: true } }), 2, ["good", ring])
    const exit = await Effect.runPromiseExit(store.commit(step))
    same(
      await load("session-1"),
      Exit.isSuccess(exit) ? step.snapshot() : whole,
      "load after a step that could not be written"
    )
    const next = Exit.isSuccess(exit) ? 3 : 2
    await commit(commitOf({ ...whole, revision: next }, 2))
  })
]
