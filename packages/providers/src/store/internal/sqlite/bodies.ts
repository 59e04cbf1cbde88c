/** Reads the bodies of what was sent. The inbox is asked often while a turn runs, so large ones are read once. */
import type { InboxRow } from "../inboxRow.ts"
import type { Database } from "./database.ts"

/** A larger body is not selected with its row, in bytes. */
const largeBytes = 65_536

/** How much of them is kept, in bytes. */
const keptBytes = 32 * 1_048_576

/** The columns of a body: the text of a small one, and the size of a large one. */
export const bodyColumns = `CASE WHEN octet_length(body) > ${largeBytes} THEN '' ELSE body END AS body, ` +
  `CASE WHEN octet_length(body) > ${largeBytes} THEN octet_length(body) ELSE 0 END AS size`

/** A row with the columns of its body. */
export interface SizedRow extends InboxRow {
  readonly size: number
}

/** A large body that was read. */
interface Kept {
  readonly seq: unknown
  readonly size: number
  readonly body: unknown
}

/** A class, because it is a state. */
export class Bodies {
  private readonly database: Database
  private readonly kept = new Map<string, Kept>()
  private total = 0

  constructor(database: Database) {
    this.database = database
  }

  /** Returns the text of the body of a row, or the large value that was read before. */
  of({ key, seq, session_id, size }: SizedRow, read: (text: string) => unknown): unknown {
    const name = nameOf(session_id, key)
    const known = this.kept.get(name)
    // The row may have been removed and added again.
    if (known !== undefined && known.seq === seq && known.size === size) return known.body
    this.forget(session_id, key)
    const row = this.database.sql("SELECT body FROM inbox WHERE session_id = ? AND key = ?").get(session_id, key)
    const body = read(String(row?.["body"]))
    if (size > keptBytes) return body
    this.kept.set(name, { seq, size, body })
    this.total += size
    for (const [first, one] of this.kept) {
      if (this.total <= keptBytes) break
      this.kept.delete(first)
      this.total -= one.size
    }
    return body
  }

  forget(sessionId: string, key: string): void {
    const name = nameOf(sessionId, key)
    this.total -= this.kept.get(name)?.size ?? 0
    this.kept.delete(name)
  }
}

const nameOf = (sessionId: string, key: string): string => `${sessionId} ${key}`
