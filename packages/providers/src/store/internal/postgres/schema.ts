/**
 * The tables. Every text of a user is stored as a JSON string, because Postgres has no texts with NUL characters or
 * halves of surrogate pairs.
 */

/** The version of a database, and the oldest version of a store that can use it. */
export interface Version {
  readonly version: number
  readonly readableBy: number
}

/** One step to the next version. With `readableBy` below that version, stores of older releases go on working. */
interface Migration {
  readonly readableBy: number
  /** `s` is the quoted name of the schema. */
  readonly sql: (s: string) => string
}

/** Milliseconds since the epoch, by the clock of the server. */
export const now = "(extract(epoch FROM statement_timestamp()) * 1000)::float8"

/** Steps from each version to the next. A released step never changes. */
export const migrations: ReadonlyArray<Migration> = [
  {
    readableBy: 1,
    sql: (s) => `
      CREATE TABLE ${s}.sessions (
        key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text NOT NULL UNIQUE,
        revision integer NOT NULL,
        turn integer NOT NULL,
        status text NOT NULL,
        messages integer NOT NULL,
        state text NOT NULL,
        written_by text NOT NULL,
        created_at float8 NOT NULL,
        updated_at float8 NOT NULL
      );
      CREATE INDEX ON ${s}.sessions (updated_at);
      CREATE TABLE ${s}.messages (
        session bigint NOT NULL REFERENCES ${s}.sessions (key) ON DELETE CASCADE,
        position integer NOT NULL,
        message text NOT NULL,
        PRIMARY KEY (session, position)
      );
      CREATE TABLE ${s}.records (
        key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        session bigint NOT NULL REFERENCES ${s}.sessions (key) ON DELETE CASCADE,
        record text NOT NULL
      );
      CREATE INDEX ON ${s}.records (session, key);
      CREATE TABLE ${s}.artifacts (
        key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        session_id text NOT NULL,
        name text NOT NULL,
        mime_type text NOT NULL,
        size float8 NOT NULL,
        written_by text NOT NULL,
        tool_call_id text,
        version integer NOT NULL,
        created_at float8 NOT NULL,
        updated_at float8 NOT NULL,
        UNIQUE (session_id, name)
      );
      CREATE TABLE ${s}.pieces (
        key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        artifact bigint NOT NULL REFERENCES ${s}.artifacts (key) ON DELETE CASCADE,
        version integer NOT NULL,
        piece text NOT NULL
      );
      CREATE INDEX ON ${s}.pieces (artifact, version, key);
      CREATE TABLE ${s}.accounts (id text PRIMARY KEY, account text);
      CREATE TABLE ${s}.rules (key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, rule text NOT NULL UNIQUE);
    `
  },
  {
    readableBy: 1,
    sql: (s) => `
      CREATE TABLE ${s}.inbox (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        session_id text NOT NULL,
        key text NOT NULL,
        kind text NOT NULL,
        body text NOT NULL,
        at float8 NOT NULL,
        tenant text,
        status text NOT NULL,
        attempts integer NOT NULL,
        outcome text,
        finished_at float8,
        UNIQUE (session_id, key)
      );
      CREATE INDEX ON ${s}.inbox (session_id, seq) WHERE finished_at IS NULL;
      CREATE INDEX ON ${s}.inbox (at) WHERE finished_at IS NULL;
      CREATE INDEX ON ${s}.inbox (finished_at) WHERE finished_at IS NOT NULL;
    `
  },
  {
    readableBy: 1,
    sql: (s) => `
      CREATE TABLE ${s}.event_logs (
        session_id text PRIMARY KEY,
        removed_to bigint NOT NULL,
        turn_first bigint NOT NULL,
        written_at float8 NOT NULL
      );
      CREATE INDEX ON ${s}.event_logs (written_at);
      CREATE TABLE ${s}.events (
        session_id text NOT NULL,
        first bigint NOT NULL,
        last bigint NOT NULL,
        body text NOT NULL,
        written_at float8 NOT NULL,
        PRIMARY KEY (session_id, last)
      );
    `
  },
  {
    readableBy: 1,
    sql: (s) => `
      CREATE TABLE ${s}.pins (session_id text PRIMARY KEY, release text NOT NULL);
      CREATE TABLE ${s}.erased (hash text PRIMARY KEY);
    `
  }
]

/** The version that this release writes. */
export const version = migrations.length
