/** Reads the bodies of what was sent. The inbox is asked often while a turn runs, so large ones are read once. */
import { type Entry, isFinished } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { entryOf, type InboxRow, read } from "./inboxRow.ts"

/** A larger body is not selected with its row, in bytes. */
export const largeBytes = 65_536

/** How much of them is kept, in bytes. */
const keptBytes = 32 * 1_048_576

/** The columns of a body: the text of a small one, and the size of a large one. */
export const bodyColumns = `CASE WHEN octet_length(body) > ${largeBytes} THEN '' ELSE body END AS body, ` +
  `CASE WHEN octet_length(body) > ${largeBytes} THEN octet_length(body) ELSE 0 END AS size`

/** A row with the columns of its body. */
export interface SizedRow extends InboxRow {
  readonly size: number
}

/** Returns the text of the body of a row, or nothing if the row is gone. */
type Load<E> = (row: SizedRow) => Effect.Effect<string | undefined, E>

/** A large body that was read. */
interface Kept {
  readonly seq: unknown
  readonly size: number
  readonly body: unknown
}

/** A class, because it is a state. */
export class Bodies {
  private readonly kept = new Map<string, Kept>()
  /** Those of finished entries, for who waits for the outcome, until the memory is needed. */
  private readonly finished = new Map<string, WeakRef<Kept>>()
  private total = 0

  /** Makes the entries of rows. Large bodies are read and parsed in turns of the event loop of their own. */
  entries<E>(rows: ReadonlyArray<SizedRow>, load: Load<E>): Effect.Effect<ReadonlyArray<Entry>, E> {
    return rows.every(({ size }) => size === 0)
      ? Effect.sync(() => rows.map((row) => entryOf(row)))
      : Effect.forEach(rows, (row) => this.entry(row, load))
  }

  /** Makes the entry of a row. */
  entry<E>(row: SizedRow, load: Load<E>): Effect.Effect<Entry, E> {
    return row.size === 0
      ? Effect.sync(() => entryOf(row))
      : Effect.map(this.body(row, load), (body) => entryOf(row, body ?? null))
  }

  /** Notes that an entry is finished, so its body is not needed any more. */
  finish(sessionId: string, key: string): void {
    const name = nameOf(sessionId, key)
    const known = this.kept.get(name)
    this.forget(name)
    if (known === undefined) return
    for (const [other, body] of this.finished) if (body.deref() === undefined) this.finished.delete(other)
    this.finished.set(name, new WeakRef(known))
  }

  private body<E>(row: SizedRow, load: Load<E>): Effect.Effect<unknown, E> {
    const name = nameOf(row.session_id, row.key)
    const known = this.kept.get(name) ?? this.finished.get(name)?.deref()
    // The row may have been removed and added again.
    if (known !== undefined && known.seq === row.seq && known.size === row.size) return Effect.succeed(known.body)
    this.forget(name)
    // Only the store writes the status.
    return Effect.gen({ self: this }, function*() {
      const text = yield* load(row)
      yield* Effect.yieldNow
      const body = read(text ?? "")
      if (!isFinished(row as Pick<Entry, "status">)) this.keep(name, { seq: row.seq, size: row.size, body })
      return body
    })
  }

  private keep(name: string, one: Kept): void {
    this.forget(name)
    if (one.size > keptBytes) return
    this.kept.set(name, one)
    this.total += one.size
    for (const [first, { size }] of this.kept) {
      if (this.total <= keptBytes) break
      this.kept.delete(first)
      this.total -= size
    }
  }

  private forget(name: string): void {
    this.total -= this.kept.get(name)?.size ?? 0
    this.kept.delete(name)
  }
}

const nameOf = (sessionId: string, key: string): string => `${sessionId} ${key}`
