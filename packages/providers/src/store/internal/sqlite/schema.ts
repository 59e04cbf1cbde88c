/**
 * The tables. Every text of a user is stored as a JSON string, which is always well-formed Unicode. NUL characters and
 * halves of surrogate pairs therefore survive.
 */

/** The application id of SQLite that marks our files: "Bely". */
export const applicationId = 0x42656c79

/**
 * SQL that migrates a database from each version to the next. A released entry never changes. The number of entries is
 * the version that this release writes.
 */
export const migrations: ReadonlyArray<string> = [
  `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    status TEXT NOT NULL,
    messages INTEGER NOT NULL,
    state TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
  ) STRICT;
  CREATE INDEX sessions_by_change ON sessions (updated_at);
  CREATE TABLE messages (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (session, position)
  ) STRICT;
  CREATE TABLE records (
    key INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX records_of_session ON records (session, key);
  CREATE TABLE artifacts (
    key INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    name TEXT NOT NULL,
    about TEXT NOT NULL,
    UNIQUE (session_id, name)
  ) STRICT;
  CREATE TABLE pieces (
    key INTEGER PRIMARY KEY,
    artifact INTEGER NOT NULL REFERENCES artifacts (key) ON DELETE CASCADE,
    piece TEXT NOT NULL
  ) STRICT;
  CREATE INDEX pieces_of_artifact ON pieces (artifact, key);
  CREATE TABLE accounts (id TEXT PRIMARY KEY, account TEXT NOT NULL) STRICT;
  CREATE TABLE rules (key INTEGER PRIMARY KEY, rule TEXT NOT NULL UNIQUE) STRICT;
  `,
  `
  CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    at REAL NOT NULL,
    tenant TEXT,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    outcome TEXT,
    finished_at REAL,
    UNIQUE (session_id, key)
  ) STRICT;
  CREATE INDEX inbox_open ON inbox (session_id, seq) WHERE finished_at IS NULL;
  CREATE INDEX inbox_due ON inbox (at) WHERE finished_at IS NULL;
  CREATE INDEX inbox_finished ON inbox (finished_at) WHERE finished_at IS NOT NULL;
  `,
  `
  CREATE TABLE event_logs (
    session_id TEXT PRIMARY KEY,
    removed_to INTEGER NOT NULL,
    turn_first INTEGER NOT NULL,
    written_at REAL NOT NULL
  ) STRICT;
  CREATE INDEX event_logs_by_change ON event_logs (written_at);
  CREATE TABLE events (
    session_id TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    body TEXT NOT NULL,
    written_at REAL NOT NULL,
    PRIMARY KEY (session_id, last)
  ) STRICT;
  `,
  `
  CREATE TABLE pins (session_id TEXT PRIMARY KEY, release TEXT NOT NULL) STRICT;
  CREATE TABLE erased (hash TEXT PRIMARY KEY) STRICT;
  `,
  `
  CREATE TABLE bodies (entry INTEGER PRIMARY KEY REFERENCES inbox (seq) ON DELETE CASCADE, body TEXT NOT NULL) STRICT;
  `
]

/**
 * Indexes that only make reading faster. An older release works with them and without them, so they do not belong to a
 * version. The first one has what is due, without the sessions that wait for people.
 */
export const indexes = "CREATE INDEX IF NOT EXISTS inbox_ready ON inbox (session_id, at)" +
  " WHERE finished_at IS NULL AND status <> 'suspended'"

/** The version that this release writes. */
export const version = migrations.length
