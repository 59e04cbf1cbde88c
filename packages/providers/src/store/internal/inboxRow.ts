/** Rows of an inbox, as every database stores them. */
import type { Capacity, Count, Entry } from "@belay/core/Inbox"

/** The columns of an entry. The texts of users are JSON. */
export interface InboxRow {
  readonly seq: number | string
  readonly session_id: string
  readonly key: string
  readonly kind: string
  readonly body: string
  readonly at: number
  readonly tenant: string | null
  readonly status: string
  readonly attempts: number
  readonly outcome: string | null
  /** The release that the session is pinned to. Only where it was asked for. */
  readonly release?: string | null
}

/**
 * Returns the entry of a row. A part that cannot be read is `null` or absent: who uses the entry checks it. `body` is
 * the value of the body, if it was read before.
 */
export const entryOf = (row: InboxRow, body = read(row.body)): Entry => {
  const { at, attempts, key, kind, outcome, release, seq, session_id, status, tenant } = row
  const known = {
    release: typeof release === "string" ? read(release) : undefined,
    tenant: tenant === null ? undefined : read(tenant),
    outcome: outcome === null ? undefined : read(outcome)
  }
  // Only the store writes these columns.
  return {
    seq: Number(seq),
    sessionId: session_id,
    key: read(key) ?? key,
    kind,
    body: body ?? null,
    at,
    ...(known.tenant === undefined ? {} : { tenant: known.tenant }),
    status,
    attempts: Number(attempts),
    ...(known.outcome === undefined ? {} : { outcome: known.outcome }),
    ...(known.release === undefined ? {} : { release: known.release })
  } as Entry
}

/** Reads a column that has JSON. Returns nothing if it has something else. */
export const read = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether an entry can be found by its key. If not, somebody has changed the row. */
export const hasKey = ({ key }: InboxRow): boolean => {
  const found = read(key)
  return typeof found === "string" && JSON.stringify(found) === key
}

/** The outcome of a row that cannot be found by its key. */
export const lostKey = JSON.stringify({
  status: "dead",
  attempts: 0,
  reason: "its key in the store cannot be read: somebody has changed the row"
})

/** A limit to check: what is counted, for which values of columns. A column comes with how it is compared. */
export interface LimitCheck {
  readonly limit: keyof Capacity
  readonly max: number
  readonly count: "*" | "DISTINCT session_id"
  readonly of: ReadonlyArray<readonly [column: string, value: string]>
}

/** The limits to check, in this order, and what counts for each of them. */
export const limitsOf = (
  { inAll, perSession, perTenant, sessionsPerTenant }: Capacity,
  sessionId: string,
  tenant: string | undefined
): ReadonlyArray<LimitCheck> => {
  const whose = JSON.stringify(tenant)
  const all: ReadonlyArray<readonly [keyof Capacity, number | undefined, LimitCheck["count"], LimitCheck["of"]]> = [
    ["inAll", inAll, "*", []],
    ["perTenant", tenant === undefined ? undefined : perTenant, "*", [["tenant =", whose]]],
    ["perSession", perSession, "*", [["session_id =", sessionId]]],
    [
      "sessionsPerTenant",
      tenant === undefined ? undefined : sessionsPerTenant,
      "DISTINCT session_id",
      [["tenant =", whose], ["session_id <>", sessionId]]
    ]
  ]
  return all.flatMap(([limit, max, count, of]) => max === undefined ? [] : [{ limit, max, count, of }])
}

/** Which rows are messages that are not finished. */
export const openMessages = "finished_at IS NULL AND kind IN ('message', 'steer')"

/** Which columns count the messages that are not finished, by status. */
export const openCounts = `status, count(*) AS count, min(at) AS oldest`

/** Makes the counts of rows with these columns. */
export const countsOf = (
  rows: ReadonlyArray<{ readonly [column: string]: unknown }>
): { readonly [S in "waiting" | "begun" | "suspended"]: Count } => {
  const of = (status: string): Count => {
    const row = rows.find((one) => one["status"] === status)
    return row === undefined ? { count: 0 } : { count: Number(row["count"]), oldest: Number(row["oldest"]) }
  }
  return { waiting: of("waiting"), begun: of("begun"), suspended: of("suspended") }
}

/** Which rows make their session due. The table has the name `one`. */
export const dueRows = (table: string): string =>
  `one.finished_at IS NULL AND one.status <> 'suspended' AND (one.kind IN ('decide', 'cancel') OR NOT EXISTS (` +
  `SELECT 1 FROM ${table} AS asking WHERE asking.session_id = one.session_id AND asking.finished_at IS NULL` +
  " AND asking.status = 'suspended'))"

/** The column `release` of the rows of a table: what their session is pinned to. */
export const releaseOf = (table: string, pins: string): string =>
  `(SELECT release FROM ${pins} AS pin WHERE pin.session_id = ${table}.session_id) AS release`

/** Which rows are not pinned to another release than that of the parameter, which may be NULL. */
export const pinnedTo = (pins: string, parameter: string): string =>
  `NOT EXISTS (SELECT 1 FROM ${pins} AS pin WHERE pin.session_id = one.session_id` +
  ` AND (${parameter} IS NULL OR pin.release <> ${parameter}))`

/** The place of a session among those of its tenant. `id` is the column that breaks ties. */
export const placeOf = (id: string): string => `row_number() OVER (PARTITION BY min(tenant) ORDER BY min(at), ${id})`

/**
 * When the row of a tenant was finished. It says that the session has messages of the tenant, so that these are found
 * when a person is erased, after what was sent is removed. It stays as long as the session.
 */
const tenantAt = "9e99"

/** The text of a statement that adds the rows of tenants, before the rows `of` this condition are removed. */
export const keepTenants = (inbox: string, sessions: string, of: string): string =>
  `INSERT INTO ${inbox} (session_id, key, kind, body, at, tenant, status, attempts, finished_at)` +
  " SELECT DISTINCT session_id, 'tenant ' || tenant, 'tenant', 'null', 0, tenant, 'tenant', 0," +
  ` CAST(${tenantAt} AS double precision) FROM ${inbox} WHERE ${of} AND tenant IS NOT NULL AND status <> 'tenant'` +
  ` AND EXISTS (SELECT 1 FROM ${sessions} AS kept WHERE kept.id = session_id) ON CONFLICT DO NOTHING`

/** The condition of the rows of tenants. */
export const isTenant = `finished_at = ${tenantAt}`
