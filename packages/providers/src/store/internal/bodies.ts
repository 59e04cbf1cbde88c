/** Reads the bodies of what was sent. The inbox is asked often while a turn runs, so large ones are read once. */
import { type Entry, isFinished } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { entryOf, type InboxRow, read } from "./inboxRow.ts"

/** A larger body is not selected with its row, in bytes. */
export const largeBytes = 65_536

/** How much of them is kept, in bytes. */
const keptBytes = 32 * 1_048_576

/**
 * The columns of a body: the text of a small one, and the size of a large one. `kept` is an expression for the size of
 * one that is kept in another table, whose own column is empty.
 */
export const bodyColumns = (kept: string): string =>
  `CASE WHEN octet_length(body) > ${largeBytes} THEN '' ELSE body END AS body, ` +
  `CASE WHEN octet_length(body) = 0 THEN ${kept} WHEN octet_length(body) > ${largeBytes} THEN octet_length(body)` +
  " ELSE 0 END AS size"

/** A row with the columns of its body. */
export interface SizedRow extends InboxRow {
  readonly size: number
}

/** Returns the text of the body of a row, or nothing if the row is gone. */
type Load<E> = (row: SizedRow) => Effect.Effect<string | undefined, E>

/** A large body that was read or added. */
interface Kept {
  readonly seq: number
  readonly at: number
  readonly size: number
  /** Its text, until somebody needs the value. */
  text?: string
  body?: unknown
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

  /** Keeps the text of a large body that was added, so that it is not read from the database. */
  add({ at, key, seq, sessionId }: Entry, text: string): void {
    if (text.length <= largeBytes) return
    this.keep(nameOf(sessionId, JSON.stringify(key)), { seq, at, size: Buffer.byteLength(text), text })
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
    const { at, size } = row
    const seq = Number(row.seq)
    // The row may have been removed and added again.
    if (known !== undefined && known.seq === seq && known.at === at && known.size === size) {
      return known.text === undefined
        ? Effect.succeed(known.body)
        : inOwnTurn(() => valueOf(known))
    }
    this.forget(name)
    return Effect.gen({ self: this }, function*() {
      const found: Kept = { seq, at, size, text: (yield* load(row)) ?? "" }
      // Only the store writes the status.
      if (!isFinished(row as Pick<Entry, "status">)) this.keep(name, found)
      return yield* inOwnTurn(() => valueOf(found))
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

/** Runs a function between two turns of the event loop. */
const inOwnTurn = <A>(act: () => A): Effect.Effect<A> =>
  Effect.tap(Effect.andThen(Effect.yieldNow, Effect.sync(act)), () => Effect.yieldNow)

/** Reads the text, once. */
const valueOf = (kept: Kept): unknown => {
  if (kept.text !== undefined) {
    kept.body = read(kept.text)
    delete kept.text
  }
  return kept.body
}

const nameOf = (sessionId: string, key: string): string => `${sessionId} ${key}`
