/** The order and the limits of the entries of an inbox. */
import type { Capacity, Count, Due, Entry, NewEntry } from "../Inbox.ts"

/** Whether an entry has its final outcome. @category reading @since 0.1.0 */
export const isFinished = ({ status }: Pick<Entry, "status">): boolean => status === "done" || status === "dead"

/** Whether an entry is a message to the model. @category reading @since 0.1.0 */
export const isMessage = ({ kind }: Pick<Entry, "kind">): boolean => kind === "message" || kind === "steer"

export const countOf = (entries: ReadonlyArray<Entry>, status: Entry["status"]): Count => {
  const found = entries.filter((entry) => entry.status === status)
  return found.length === 0
    ? { count: 0 }
    : { count: found.length, oldest: found.reduce((oldest, { at }) => Math.min(oldest, at), Infinity) }
}

/** When an entry was finished. */
export interface Finished {
  readonly at: number
  readonly seq: number
  readonly sessionId: string
  readonly key: string
}

/** How many messages are not finished. A class, because it is a state. */
export class MessageCount {
  private inAll = 0
  private readonly ofTenant = new Map<string | undefined, number>()

  count(entry: Pick<Entry, "kind" | "tenant">, change: 1 | -1): void {
    if (!isMessage(entry)) return
    this.inAll += change
    const left = (this.ofTenant.get(entry.tenant) ?? 0) + change
    if (left === 0) this.ofTenant.delete(entry.tenant)
    else this.ofTenant.set(entry.tenant, left)
  }

  fullLimit(
    { tenant }: NewEntry,
    { inAll = Infinity, perSession = Infinity, perTenant = Infinity }: Capacity,
    ofSession: ReadonlyArray<Entry>
  ): keyof Capacity | undefined {
    if (this.inAll >= inAll) return "inAll"
    if (tenant !== undefined && (this.ofTenant.get(tenant) ?? 0) >= perTenant) return "perTenant"
    return ofSession.filter(isMessage).length >= perSession ? "perSession" : undefined
  }
}

/** The place of a session in the order of those that are due, or nothing if nothing can happen in it. */
export const placeOf = (sessionId: string, open: ReadonlyArray<Entry>): Due | undefined => {
  const able = ableOf(open)
  return able.length === 0 ? undefined : { sessionId, at: able.reduce((at, entry) => Math.min(at, entry.at), Infinity) }
}

/** The entries with which something can happen. */
const ableOf = (open: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const isAsking = open.some(({ status }) => status === "suspended")
  return open.filter((entry) => entry.status !== "suspended" && !(isAsking && isMessage(entry)))
}

export const tenantOf = (open: ReadonlyArray<Entry>, until: number): string =>
  ableOf(open).flatMap(({ at, tenant }) => at <= until && tenant !== undefined ? [tenant] : []).toSorted()[0] ?? ""

export const inOrder = (a: Due, b: Due): number =>
  a.at - b.at || (a.sessionId < b.sessionId ? -1 : Number(a.sessionId !== b.sessionId))

/** The first of each tenant, then the second of each. */
export const inTurn = (all: ReadonlyArray<Due>, tenantOf: (one: Due) => string): ReadonlyArray<Due> => {
  const counts = new Map<string, number>()
  const placed = all.map((one) => {
    const tenant = tenantOf(one)
    const place = counts.get(tenant) ?? 0
    counts.set(tenant, place + 1)
    return { one, place }
  })
  return placed.toSorted((a, b) => a.place - b.place).map(({ one }) => one)
}
