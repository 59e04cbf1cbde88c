/**
 * The log of the keys that gates have written while their points run. A gate that is asked again takes its earlier
 * writes back. All other writes to the key, also those of calls that run at the same time, are made again without them.
 */
import type { StateKey } from "../HookState.ts"

/** Who writes, for writes that can be taken back. */
export interface WrittenBy {
  readonly owner: object
  /** How often the owner has been asked. */
  readonly round: number
}

interface Write {
  readonly key: StateKey<never>
  readonly by: WrittenBy | undefined
  readonly change: (value: unknown) => unknown
  isTakenBack: boolean
}

interface Log {
  /** The value before the first write of the log, or nothing if the key had none. */
  readonly base: { readonly value: unknown } | undefined
  writes: Array<Write>
  readonly owners: Set<object>
}

/** The logs of one state. A class, because a write looks here on the hot path. */
export class StateJournal {
  private readonly logs = new Map<string, Log>()
  private readonly put: (key: StateKey<never>, value: unknown) => void

  constructor(put: (key: StateKey<never>, value: unknown) => void) {
    this.put = put
  }

  /** Records a write. Without `by` it is recorded only if a gate has written the key. */
  note<A>(
    key: StateKey<A>,
    before: { readonly value: unknown } | undefined,
    change: (value: A) => A,
    by: WrittenBy | undefined
  ): void {
    let log = this.logs.get(key.name)
    if (log === undefined) {
      if (by === undefined) return
      log = { base: before === undefined ? undefined : { value: before.value }, writes: [], owners: new Set() }
      this.logs.set(key.name, log)
    }
    if (by !== undefined) log.owners.add(by.owner)
    // A log is about one name, and `replay` tests each value with the key that has written it.
    log.writes.push({ key: key as never, by, change: change as never, isTakenBack: false })
  }

  /** Takes back what the owner wrote in other rounds than this one. */
  takeBack(name: string, { owner, round }: WrittenBy): void {
    this.mark(name, (by) => by.owner === owner && by.round !== round, true)
  }

  /** Ends a round of the owner: what it has written now replaces what was taken back. Otherwise that counts again. */
  settle(name: string, { owner, round }: WrittenBy, keepsEarlier: boolean): void {
    const log = this.logs.get(name)
    if (log === undefined) return
    const isOfRound = ({ by }: Write) => by?.owner === owner && by.round === round
    if (keepsEarlier) {
      log.writes = log.writes.filter((write) => !isOfRound(write))
      this.mark(name, (by) => by.owner === owner, false)
    } else if (log.writes.some(isOfRound)) {
      log.writes = log.writes.filter(({ by, isTakenBack }) => !(isTakenBack && by?.owner === owner))
    } else this.mark(name, (by) => by.owner === owner, false)
  }

  /** The point of the owner has ended: its writes can no longer be taken back. */
  end(name: string, owner: object): void {
    const log = this.logs.get(name)
    if (log !== undefined && log.owners.delete(owner) && log.owners.size === 0) this.logs.delete(name)
  }

  private mark(name: string, isMeant: (by: WrittenBy) => boolean, isTakenBack: boolean): void {
    const log = this.logs.get(name)
    if (log === undefined) return
    for (const write of log.writes) if (write.by !== undefined && isMeant(write.by)) write.isTakenBack = isTakenBack
    this.replay(log)
  }

  /** Makes the remaining writes again. One that no longer works, for example because it throws, is left out. */
  private replay({ base, writes }: Log): void {
    const [first] = writes
    if (first === undefined) return
    let value: unknown = base === undefined ? first.key.initial : base.value
    for (const { change, isTakenBack, key } of writes) {
      if (isTakenBack) continue
      try {
        const next = change(value)
        if (key.is(next)) value = next
      } catch {
        // The value stays as it is.
      }
    }
    this.put(writes.at(-1)!.key, value)
  }
}
