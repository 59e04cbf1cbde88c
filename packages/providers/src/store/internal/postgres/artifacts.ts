/**
 * Stores artifacts. A text is a list of parts, so that appending to a long text costs as much as appending to a short
 * one. Only the parts with the version of the artifact count, because a writer may not see those that another one adds
 * at the same time.
 */
import { type Artifact, refOf } from "@belay/core/Artifact"
import type { ArtifactStore, Authorship } from "@belay/core/ArtifactStore"
import * as Effect from "effect/Effect"
import { goneError, parse, requireSessionId } from "../error.ts"
import type { Database, Query, Row } from "./database.ts"
import { erasedOf, isErased } from "./erase.ts"
import { now } from "./schema.ts"

export const artifactsOf = (database: Database): ArtifactStore => {
  const { address, schema: s, transaction, use } = database
  const statement = putStatement(s)
  const put = (
    sessionId: string,
    name: string,
    piece: string,
    { by, mimeType, toolCallId }: Authorship,
    keeps: boolean
  ) =>
    use((query) =>
      Effect.suspend(() =>
        Effect.flatMap(
          query(
            statement,
            requireSessionId(address, sessionId),
            JSON.stringify(name),
            mimeType === undefined ? null : JSON.stringify(mimeType),
            piece.length,
            JSON.stringify(by),
            toolCallId === undefined ? null : JSON.stringify(toolCallId),
            keeps,
            JSON.stringify(piece),
            ...erasedOf(sessionId)
          ),
          ([row]) => row === undefined ? goneError(address, sessionId) : Effect.succeed(artifactOf(address, row))
        )
      ), { mayRepeat: !keeps })
  return {
    write: (sessionId, key, content, about) => put(sessionId, key, content, about, false),
    append: (sessionId, key, content, about) => put(sessionId, key, content, about, true),
    read: (sessionId, name) =>
      use((query) =>
        Effect.suspend(() =>
          Effect.map(
            query(
              `SELECT piece FROM ${s}.artifacts JOIN ${s}.pieces ON artifact = artifacts.key` +
                " AND pieces.version = artifacts.version WHERE session_id = $1 AND name = $2 ORDER BY pieces.key",
              requireSessionId(address, sessionId),
              JSON.stringify(name)
            ),
            (rows) =>
              rows.length === 0 ? undefined : rows.map(({ piece }) => String(parse(address, String(piece)))).join("")
          )
        ), { mayRepeat: true }),
    list: (sessionId) =>
      use((query) =>
        Effect.suspend(() =>
          Effect.map(
            query(`SELECT * FROM ${s}.artifacts WHERE session_id = $1`, requireSessionId(address, sessionId)),
            (rows) =>
              rows.map((row) => artifactOf(address, row)).sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
          )
        ), { mayRepeat: true }),
    remove: (sessionId, name) =>
      use((query) =>
        Effect.suspend(() =>
          Effect.map(
            query(
              `DELETE FROM ${s}.artifacts WHERE session_id = $1 AND name = $2 RETURNING key`,
              requireSessionId(address, sessionId),
              JSON.stringify(name)
            ),
            (rows) => rows.length > 0
          )
        )
      ),
    copy: (from, to) =>
      transaction((query) =>
        Effect.suspend(() => copyArtifacts(query, s, requireSessionId(address, from), requireSessionId(address, to)))
      ),
    clear: (sessionId) =>
      use((query) => Effect.suspend(() => clearArtifacts(query, s, requireSessionId(address, sessionId))), {
        mayRepeat: true
      })
  }
}

/** Writes or appends in one statement, and returns the description. */
const putStatement = (s: string): string => `
  WITH written AS (
    INSERT INTO ${s}.artifacts AS known
      (session_id, name, mime_type, size, written_by, tool_call_id, version, created_at, updated_at)
    SELECT $1, $2, coalesce($3, '"text/plain"'), $4::float8, $5, $6, 1, ${now}, ${now}
    WHERE NOT (${isErased(s, "$9", "$10")})
    ON CONFLICT (session_id, name) DO UPDATE SET
      mime_type = coalesce($3, known.mime_type),
      size = CASE WHEN $7::boolean THEN known.size ELSE 0 END + excluded.size,
      written_by = excluded.written_by,
      tool_call_id = coalesce(known.tool_call_id, excluded.tool_call_id),
      version = known.version + CASE WHEN $7::boolean THEN 0 ELSE 1 END,
      updated_at = excluded.updated_at
    RETURNING *
  ), cut AS (
    DELETE FROM ${s}.pieces USING written WHERE artifact = written.key AND pieces.version < written.version
  ), added AS (
    INSERT INTO ${s}.pieces (artifact, version, piece) SELECT key, version, $8::text FROM written
  )
  SELECT * FROM written`

const artifactOf = (address: string, row: Row): Artifact => {
  const text = (column: string): string => String(parse(address, String(row[column])))
  const key = text("name")
  return {
    key,
    ref: refOf(key),
    mimeType: text("mime_type"),
    size: Number(row["size"]),
    by: text("written_by"),
    ...(row["tool_call_id"] === null ? {} : { toolCallId: text("tool_call_id") }),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"])
  }
}

/** Replaces the artifacts of one session by those of another. Runs in a transaction. */
export const copyArtifacts = (query: Query, s: string, from: string, to: string): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    if (from === to) return
    yield* clearArtifacts(query, s, to)
    yield* query(
      `INSERT INTO ${s}.artifacts` +
        " (session_id, name, mime_type, size, written_by, tool_call_id, version, created_at, updated_at)" +
        ` SELECT $2::text, name, mime_type, size, written_by, tool_call_id, version, created_at, updated_at` +
        ` FROM ${s}.artifacts WHERE session_id = $1 ORDER BY key FOR UPDATE`,
      from,
      to
    )
    yield* query(
      `INSERT INTO ${s}.pieces (artifact, version, piece) SELECT copy.key, copy.version, piece FROM ${s}.pieces` +
        ` JOIN ${s}.artifacts AS source ON source.key = pieces.artifact AND source.version = pieces.version` +
        ` JOIN ${s}.artifacts AS copy ON copy.name = source.name AND copy.session_id = $2` +
        " WHERE source.session_id = $1 ORDER BY pieces.key",
      from,
      to
    )
  })

/** Removes all artifacts of a session. */
export const clearArtifacts = (query: Query, s: string, sessionId: string): Effect.Effect<void, unknown> =>
  Effect.asVoid(query(`DELETE FROM ${s}.artifacts WHERE session_id = $1`, sessionId))
