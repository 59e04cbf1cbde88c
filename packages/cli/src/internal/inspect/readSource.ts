/** Reads what happened from a file: a recording, an exported session, or a SQLite store. */
import type { HookRecord } from "@belay/core/HookRecord"
import * as Recording from "@belay/observe/Recording"
import * as Transcript from "@belay/observe/Transcript"
import * as SessionFile from "@belay/providers/SessionFile"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { usageError } from "../flags.ts"
import { plain } from "../screen.ts"
import { type CommandError, commandError, Usage } from "../usage.ts"

/** Reads a file. `session` names a session of a store; without it, the store must have only one. */
export const readSource = (
  path: string,
  session: string | undefined
): Effect.Effect<Recording.Recording, Usage | Recording.RecordingError | SessionFile.SessionFileError | CommandError> =>
  Effect.gen(function*() {
    const bytes = yield* Effect.try({
      try: () => readFileSync(path),
      catch: (error) => usageError(`${plain(path)} cannot be read: ${String(Object(error).message)}`)
    })
    if (bytes.subarray(0, 15).toString("latin1") === "SQLite format 3") return yield* readStore(path, session)
    const text = bytes.toString("utf8")
    if (text.slice(0, 1_000).split("\n")[0]?.includes("\"type\":\"session\"")) {
      const { records, state, torn } = yield* SessionFile.importJsonl(text)
      // The records of a session file are decision records. A damaged one is left out by those who read it.
      const recording = Transcript.toRecording(state, records as ReadonlyArray<HookRecord>)
      return torn === undefined ? recording : { ...recording, torn }
    }
    return yield* Effect.mapError(
      Effect.fromResult(Recording.parse(text)),
      (error) =>
        error.problem === "not-a-recording"
          ? usageError(
            `${plain(path)} is not a recording, a session file or a SQLite store: ${plain(error.message)}. ` +
              "Record a run with Recorder.make({ path }), or export a session with SessionFile.exportJsonl"
          )
          : error
    )
  })

const readStore = (path: string, session: string | undefined) =>
  Effect.gen(function*() {
    // Loaded here, so that other commands start faster.
    const SqliteStore = yield* Effect.promise(() => import("@belay/providers/SqliteStore"))
    const opened = Result.try({
      try: () => SqliteStore.make({ path }),
      catch: (error) => commandError(`${plain(path)}: ${String(Object(error).message)}`)
    })
    const { close, sessions } = yield* Effect.fromResult(opened)
    const load = Effect.gen(function*() {
      const listed = yield* sessions.list({ limit: 20 })
      const id = session ?? (listed.length === 1 ? listed[0]?.id : undefined)
      if (id === undefined) {
        const names = listed.map((one) => plain(one.id)).join(", ")
        return yield* usageError(
          listed.length === 0
            ? `${plain(path)} has no sessions`
            : `${plain(path)} has several sessions: choose one with --session, such as ${names}`
        )
      }
      const state = yield* sessions.load(id)
      if (state === undefined) return yield* usageError(`${plain(path)} has no session ${plain(id)}`)
      // The store has checked them when they were written.
      return Transcript.toRecording(state, (yield* sessions.records(id)) as ReadonlyArray<HookRecord>)
    })
    return yield* Effect.ensuring(
      Effect.mapError(load, (error) =>
        error instanceof Usage ? error : commandError(String(Object(error).message ?? error))),
      Effect.sync(close)
    )
  })
