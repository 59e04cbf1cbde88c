/**
 * Stores artifacts. A text is a list of parts, so that appending to a long text costs as much as appending to a short
 * one.
 */
import type { Artifact } from "@belay/core/Artifact"
import { type ArtifactStore, type Authorship, describe } from "@belay/core/ArtifactStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { goneError, parse, requireSessionId } from "../error.ts"
import { attempt } from "./attempt.ts"
import { type Database, one } from "./database.ts"
import { isErased } from "./isErased.ts"

export const artifactsOf = (database: Database): ArtifactStore => {
  const { path, read, sql, write } = database
  const keyOf = (sessionId: string, name: string) =>
    one<number>(
      sql("SELECT key FROM artifacts WHERE session_id = ? AND name = ?"),
      requireSessionId(database.path, sessionId),
      JSON.stringify(name)
    )
  const aboutOf = (key: number): Artifact =>
    // Only this store writes the column.
    parse(database.path, one<string>(sql("SELECT about FROM artifacts WHERE key = ?"), key)!) as Artifact
  const put = (sessionId: string, name: string, piece: string, by: Authorship, keeps: boolean) =>
    Effect.flatMap(Clock.currentTimeMillis, (time) =>
      attempt(path, () =>
        write(() => {
          const known = keyOf(sessionId, name)
          if (known === undefined && isErased(database, sessionId)) throw goneError(path, sessionId)
          const before = known === undefined ? undefined : aboutOf(known)
          const about = describe(name, (keeps ? before?.size ?? 0 : 0) + piece.length, by, before, time)
          const key = known ??
            sql("INSERT INTO artifacts (session_id, name, about) VALUES (?, ?, '')").run(
              sessionId,
              JSON.stringify(name)
            ).lastInsertRowid
          sql("UPDATE artifacts SET about = ? WHERE key = ?").run(JSON.stringify(about), key)
          if (!keeps) sql("DELETE FROM pieces WHERE artifact = ?").run(key)
          sql("INSERT INTO pieces (artifact, piece) VALUES (?, ?)").run(key, JSON.stringify(piece))
          return about
        })))
  return {
    write: (sessionId, key, content, about) => put(sessionId, key, content, about, false),
    append: (sessionId, key, content, about) => put(sessionId, key, content, about, true),
    read: (sessionId, name) =>
      attempt(path, () =>
        read(() => {
          const key = keyOf(sessionId, name)
          if (key === undefined) return undefined
          return sql("SELECT piece FROM pieces WHERE artifact = ? ORDER BY key").all(key)
            .map(({ piece }) => String(parse(database.path, String(piece)))).join("")
        })),
    list: (sessionId) =>
      attempt(
        path,
        () =>
          sql("SELECT about FROM artifacts WHERE session_id = ?").all(requireSessionId(database.path, sessionId))
            // Only this store writes the column.
            .map(({ about }) => parse(database.path, String(about)) as Artifact)
            .sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
      ),
    remove: (sessionId, name) =>
      attempt(path, () =>
        write(() => {
          const key = keyOf(sessionId, name)
          return key !== undefined && sql("DELETE FROM artifacts WHERE key = ?").run(key).changes > 0
        })),
    copy: (from, to) =>
      attempt(
        path,
        () =>
          write(() =>
            copyArtifacts(database, requireSessionId(database.path, from), requireSessionId(database.path, to))
          )
      ),
    clear: (sessionId) =>
      attempt(path, () => write(() => clearArtifacts(database, requireSessionId(database.path, sessionId))))
  }
}

/** Replaces the artifacts of one session by those of another. */
export const copyArtifacts = (database: Database, from: string, to: string): void => {
  if (from === to) return
  const { sql } = database
  clearArtifacts(database, to)
  sql("INSERT INTO artifacts (session_id, name, about) SELECT ?, name, about FROM artifacts WHERE session_id = ?").run(
    to,
    from
  )
  sql(
    "INSERT INTO pieces (artifact, piece) SELECT copy.key, piece FROM pieces" +
      " JOIN artifacts AS source ON source.key = pieces.artifact AND source.session_id = ?" +
      " JOIN artifacts AS copy ON copy.name = source.name AND copy.session_id = ? ORDER BY pieces.key"
  ).run(from, to)
}

/** Removes all artifacts of a session. */
export const clearArtifacts = ({ sql }: Database, sessionId: string): void =>
  void sql("DELETE FROM artifacts WHERE session_id = ?").run(sessionId)
