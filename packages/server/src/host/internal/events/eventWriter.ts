/** Writes events to the log, in the background and in batches. A log that fails does not disturb the turns. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { EventBatch, EventLog } from "@belay/core/EventLog"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { makePacker, type Packer } from "./eventRow.ts"

/** How long events are collected before they are written, in milliseconds. */
const collectMs = 50

/** As many events of one session are written at once. */
const maxCount = 64

/** The most characters that wait to be written, for one session and for all. If there are more, the oldest are lost. */
const maxWaiting = 16_000_000
const maxWaitingInAll = 64_000_000

/** The most characters that are stored for one turn. After that, it counts as if another turn began. */
const maxStored = 32_000_000

/**
 * How long events of an earlier turn stay at least, in milliseconds. A reader in another process does not see them at
 * once, and one that has lost its connection comes back.
 */
const keepMs = 10_000

/** The turn that events belong to. */
export interface WrittenTurn {
  readonly sessionId: string
  readonly key: string | undefined
  /** Whether its next event is the first one of the turn. */
  begins: boolean
  /** The characters that were stored so far. */
  stored: number
}

/** What is to be written for one session. */
interface Waiting {
  readonly packer: Packer
  readonly turn: WrittenTurn
  /** The number of the first event of the last turn that begins here. */
  readonly begins: number | undefined
}

/** A class, because it is the state of one writer, which many turns use. */
export class EventWriter {
  private readonly log: EventLog
  private waiting = new Map<string, Waiting>()
  private writing: ReadonlySet<string> = new Set()
  /** Sessions with events that could not be stored, and the turn that began with them. The next row says so. */
  private readonly lost = new Map<string, number | undefined>()
  /** Done when what waits or is being written now is done. Absent if there is nothing to do. */
  private written: Deferred.Deferred<void> | undefined = undefined
  private isFailing = false
  private wake = (): void => {}

  constructor(log: EventLog) {
    this.log = log
  }

  /** Adds an event, which is written soon. */
  add(turn: WrittenTurn, event: AgentEvent, context: Context.Context<never>): void {
    const { begins, key, sessionId } = turn
    let known = this.waiting.get(sessionId)
    if (known !== undefined && this.isFull(known.packer)) {
      this.lost.set(sessionId, known.begins ?? this.lost.get(sessionId))
      known = undefined
    }
    const packer = known?.packer ?? makePacker()
    packer.add(event, key, begins)
    turn.begins = false
    this.waiting.set(sessionId, { packer, turn, begins: begins ? event.seq : known?.begins })
    if (this.written === undefined) {
      this.written = Deferred.makeUnsafe<void>()
      Effect.runForkWith(context)(this.writeAll)
    }
    // Readers wait for the end of a turn, and it must not be lost with a process that ends then.
    if (packer.count >= maxCount || event.type === "turn-end") this.wake()
  }

  /** Waits until the events of a session that were added so far are stored, or cannot be stored. */
  flush(sessionId: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { written } = this
      const isWaiting = this.waiting.has(sessionId)
      if (written === undefined || !(isWaiting || this.writing.has(sessionId))) return Effect.void
      this.wake()
      return Effect.andThen(Deferred.await(written), isWaiting ? this.flush(sessionId) : Effect.void)
    })
  }

  private isFull({ length }: Packer): boolean {
    if (length < maxWaitingInAll / 64) return false
    if (length > maxWaiting) return true
    let all = 0
    for (const { packer } of this.waiting.values()) all += packer.length
    return all > maxWaitingInAll
  }

  /** Writes until nothing waits any more. */
  private get writeAll(): Effect.Effect<void> {
    const pause = Effect.raceFirst(
      Effect.sleep(collectMs),
      Effect.callback<void>((resume) => {
        this.wake = () => resume(Effect.void)
      })
    )
    return Effect.gen({ self: this }, function*() {
      while (this.written !== undefined) {
        yield* pause
        const batches = this.takeBatches()
        if (batches.length > 0) yield* this.write(batches)
        const { written } = this
        this.written = this.waiting.size > 0 ? Deferred.makeUnsafe<void>() : undefined
        this.writing = new Set()
        Deferred.doneUnsafe(written, Effect.void)
      }
    })
  }

  private takeBatches(): ReadonlyArray<EventBatch> {
    const { waiting } = this
    this.waiting = new Map()
    this.writing = new Set(waiting.keys())
    return [...waiting].flatMap(([sessionId, { begins = this.lost.get(sessionId), packer, turn }]) => {
      const isLong = turn.stored + packer.length > maxStored
      turn.stored = isLong ? packer.length : turn.stored + packer.length
      const [first, ...rest] = packer.rows(isLong || this.lost.has(sessionId))
      this.lost.delete(sessionId)
      if (first === undefined) return []
      const from = begins ?? (isLong ? first.first : undefined)
      const rows: EventBatch["rows"] = [first, ...rest]
      return [{ sessionId, rows, ...(from === undefined ? {} : { begins: from }) }]
    })
  }

  private write(batches: ReadonlyArray<EventBatch>): Effect.Effect<void> {
    return Effect.matchCauseEffect(this.log.write(batches, { keepMs }), {
      onSuccess: () => Effect.sync(() => void (this.isFailing = false)),
      onFailure: (cause) => {
        for (const { begins, sessionId } of batches) this.lost.set(sessionId, this.lost.get(sessionId) ?? begins)
        const isKnown = this.isFailing
        this.isFailing = true
        const error: unknown = Cause.squash(cause)
        return isKnown ? Effect.void : Effect.logWarning(
          "the events of running turns cannot be stored, so other processes do not see them. The turns continue: " +
            String(Object(error).message ?? error)
        )
      }
    })
  }
}
