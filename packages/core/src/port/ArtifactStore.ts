/**
 * Stores artifacts: texts that are too large for the model's window, or not meant for it. Hooks and tools write them. A
 * reference to an artifact may be shown to the model.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Artifact, refOf } from "../data/Artifact.ts"

/** Who wrote a text, and when. @category models @since 0.1.0 */
export interface Authorship {
  readonly by: string
  readonly mimeType?: string
  readonly toolCallId?: string
}

/** Stores artifacts. @category models @since 0.1.0 */
export interface ArtifactStore {
  /** Writes a text and replaces an earlier one with the same key. */
  readonly write: (
    sessionId: string,
    key: string,
    content: string,
    about: Authorship
  ) => Effect.Effect<Artifact, unknown>
  /**
   * Appends to a text, and creates it if there is none. When two callers append at the same time, both texts are kept
   * whole.
   */
  readonly append: (
    sessionId: string,
    key: string,
    content: string,
    about: Authorship
  ) => Effect.Effect<Artifact, unknown>
  /** Returns a text, or nothing if there is none. */
  readonly read: (sessionId: string, key: string) => Effect.Effect<string | undefined, unknown>
  /** Lists the artifacts of a session by key. */
  readonly list: (sessionId: string) => Effect.Effect<ReadonlyArray<Artifact>, unknown>
  /** Removes an artifact. Returns false if there is none. */
  readonly remove: (sessionId: string, key: string) => Effect.Effect<boolean, unknown>
  /** Copies all artifacts of a session to another session. */
  readonly copy: (from: string, to: string) => Effect.Effect<void, unknown>
  /** Removes all artifacts of a session. */
  readonly clear: (sessionId: string) => Effect.Effect<void, unknown>
}

/** Makes the description of a text that is being written. For authors of stores. @category constructors @since 0.1.0 */
export const describe = (
  key: string,
  size: number,
  about: Authorship,
  before: Artifact | undefined,
  time: number
): Artifact => {
  const toolCallId = before?.toolCallId ?? about.toolCallId
  return {
    key,
    ref: refOf(key),
    mimeType: about.mimeType ?? before?.mimeType ?? "text/plain",
    size,
    by: about.by,
    ...(toolCallId === undefined ? {} : { toolCallId }),
    createdAt: before?.createdAt ?? time,
    updatedAt: time
  }
}

/** Makes a store in memory. Its content is lost when the process ends. @category constructors @since 0.1.0 */
export const inMemory = (): ArtifactStore => {
  interface Kept {
    readonly about: Artifact
    readonly content: string
  }
  const sessions = new Map<string, Map<string, Kept>>()
  const of = (sessionId: string): Map<string, Kept> => {
    const found = sessions.get(sessionId) ?? new Map<string, Kept>()
    sessions.set(sessionId, found)
    return found
  }
  const put = (sessionId: string, key: string, about: Authorship, change: (before: string) => string) =>
    Effect.map(Clock.currentTimeMillis, (time) => {
      const all = of(sessionId)
      const content = change(all.get(key)?.content ?? "")
      const artifact = describe(key, content.length, about, all.get(key)?.about, time)
      all.set(key, { about: artifact, content })
      return artifact
    })
  return {
    write: (sessionId, key, content, about) => put(sessionId, key, about, () => content),
    append: (sessionId, key, content, about) => put(sessionId, key, about, (before) => before + content),
    read: (sessionId, key) => Effect.sync(() => sessions.get(sessionId)?.get(key)?.content),
    list: (sessionId) =>
      Effect.sync(() =>
        [...(sessions.get(sessionId)?.values() ?? [])].map(({ about }) => about)
          .sort((a, b) => a.key < b.key ? -1 : 1)
      ),
    remove: (sessionId, key) => Effect.sync(() => sessions.get(sessionId)?.delete(key) ?? false),
    copy: (from, to) => Effect.sync(() => void sessions.set(to, new Map(sessions.get(from)))),
    clear: (sessionId) => Effect.sync(() => void sessions.delete(sessionId))
  }
}
