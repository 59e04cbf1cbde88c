/**
 * The log of the keys that gates have written while their points run. A gate that is asked again takes its earlier
 * writes back and writes in their place: it reads what it read before, and the writes that came after, also those of
 * calls that run at the same time, are made again.
 */

/** A key, as far as the journal needs it. */
interface Key {
  readonly name: string
  readonly initial: unknown
  readonly is: (value: unknown) => boolean
}

/** Who writes, for writes that can be taken back. */
export interface WrittenBy {
  readonly owner: object
  /** How often the owner has been asked again. */
  readonly round: number
}

interface Write {
  readonly key: Key
  readonly by: WrittenBy | undefined
  /** How the value was computed from the one before. Absent if it does not depend on that. */
  readonly change: ((value: unknown) => unknown) | undefined
  readonly value: unknown
  isTakenBack: boolean
}

/** A log has no owners while no gate can take a write back. It stays, because gates write the same keys again. */
interface Log {
  /** The value before the first write of the log, or nothing if the key had none. */
  base: { readonly value: unknown } | undefined
  writes: Array<Write>
  owners: Array<object>
}

/** The list of a log that has no owners, which is replaced and never changed. */
const none: Array<never> = []

/** The logs of one state. A class, because a write looks here on the hot path. */
export class StateJournal {
  private readonly logs = new Map<string, Log>()
  private readonly put: (key: Key, value: unknown) => void

  constructor(put: (key: Key, value: unknown) => void) {
    this.put = put
  }

  /**
   * Records a write. Without `by` it is recorded only if a gate has written the key. Returns true if the value of the
   * key is set already, because the write is in the place of an earlier one.
   */
  note<A>(
    key: Key,
    before: { readonly value: unknown } | undefined,
    value: A,
    by: WrittenBy | undefined,
    change: ((value: A) => A) | undefined
  ): boolean {
    const known = this.logs.get(key.name)
    if (by === undefined && (known === undefined || known.owners.length === 0)) return false
    // A log is about one name, and `fold` tests each value with the key that has written it.
    const write: Write = { key, by, change: change as Write["change"], value, isTakenBack: false }
    if (by !== undefined && (known === undefined || known.owners.length === 0)) {
      const base = before === undefined ? undefined : { value: before.value }
      if (known === undefined) this.logs.set(key.name, { base, writes: [write], owners: [by.owner] })
      else {
        known.base = base
        known.writes = [write]
        known.owners = [by.owner]
      }
      return false
    }
    const log = known!
    if (by !== undefined && !log.owners.includes(by.owner)) log.owners.push(by.owner)
    const last = by === undefined || by.round === 0 ? -1 : log.writes.findLastIndex((one) => one.by?.owner === by.owner)
    if (last === -1 || last === log.writes.length - 1) {
      log.writes.push(write)
      return last !== -1 && this.replay(log)
    }
    log.writes.splice(last + 1, 0, write)
    return this.replay(log)
  }

  /**
   * Takes back what the owner wrote in other rounds than this one, and returns the value in the place of those writes.
   */
  takeBack(name: string, { owner, round }: WrittenBy): { readonly value: unknown } | undefined {
    const log = this.logs.get(name)
    const last = log?.writes.findLastIndex(({ by }) => by?.owner === owner) ?? -1
    if (log === undefined || last === -1) return undefined
    const earlier = log.writes.filter(({ by, isTakenBack }) =>
      by?.owner === owner && by.round !== round && !isTakenBack
    )
    if (earlier.length > 0) {
      for (const write of earlier) write.isTakenBack = true
      this.replay(log)
    }
    return { value: fold(log, log.writes.slice(0, last + 1)) }
  }

  /** Ends a round of the owner: what it has written now replaces what was taken back. Otherwise that counts again. */
  settle(name: string, { owner, round }: WrittenBy, keepsEarlier: boolean): void {
    const log = this.logs.get(name)
    if (log === undefined) return
    const isOwn = ({ by }: Write) => by?.owner === owner
    const isOfRound = ({ by }: Write) => by?.owner === owner && by.round === round
    if (!keepsEarlier && log.writes.some(isOfRound)) {
      log.writes = log.writes.filter((write) => !isOwn(write) || !write.isTakenBack)
      return
    }
    log.writes = log.writes.filter((write) => !isOfRound(write))
    for (const write of log.writes) if (isOwn(write)) write.isTakenBack = false
    this.replay(log)
  }

  /** The point of the owner has ended: its writes can no longer be taken back. */
  end(name: string, owner: object): void {
    const log = this.logs.get(name)
    if (log === undefined || !log.owners.includes(owner)) return
    log.owners = log.owners.length === 1 ? none : log.owners.filter((one) => one !== owner)
    if (log.owners.length > 0) return
    log.base = undefined
    log.writes = none
  }

  private replay(log: Log): true {
    const last = log.writes.at(-1)
    if (last !== undefined) this.put(last.key, fold(log, log.writes))
    return true
  }
}

/** Makes writes again. One that no longer works, for example because it throws, is left out. */
const fold = ({ base }: Log, writes: ReadonlyArray<Write>): unknown => {
  let value: unknown = base === undefined ? writes[0]?.key.initial : base.value
  for (const { change, isTakenBack, key, value: written } of writes) {
    if (isTakenBack) continue
    try {
      const next = change === undefined ? written : change(value)
      if (key.is(next)) value = next
    } catch {
      // The value stays as it is.
    }
  }
  return value
}
