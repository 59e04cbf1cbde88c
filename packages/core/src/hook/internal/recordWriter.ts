/** Writes the decision record of one run of a point. */
import type { HookAction } from "../HookAction.ts"
import type { HookPointName } from "../HookPoint.ts"
import type { HookAnswer, HookFailure, HookRecord } from "../HookRecord.ts"
import type { Entry } from "./compiledPoint.ts"

/** What the event of a point is about. */
interface Subject {
  readonly subject: string | undefined
  readonly callId: string | undefined
}

/** A class, because a run writes into it. */
export class RecordWriter {
  private readonly answers: Array<HookAnswer>
  private readonly onRecord: (record: HookRecord) => void

  /** `answers` are those that are known already. */
  constructor(onRecord: (record: HookRecord) => void, answers: Array<HookAnswer> = []) {
    this.onRecord = onRecord
    this.answers = answers
  }

  skip(entry: Entry, why: string): void {
    this.add({ hook: entry.name, answer: "skipped", why, durationMs: 0 })
  }

  /** `ignored` means that the change of a hook that was asked again had no effect. */
  note(entry: Entry, action: HookAction, changes: HookAnswer["change"], began: number, ignored = false): void {
    const reason = "reason" in action ? action.reason : undefined
    const again = this.answers.some(({ answer, hook }) => hook === entry.name && !unanswered.has(answer))
    this.add({
      hook: entry.name,
      answer: action._tag,
      ...(reason === undefined ? {} : { why: reason }),
      ...(changes === undefined ? {} : { change: Object.freeze(changes) }),
      ...(entry.shadow ? { shadow: true } : {}),
      ...(again ? { again: true } : {}),
      ...(ignored ? { ignored } : {}),
      durationMs: now() - began
    })
  }

  failed(entry: Entry, { kind, message, policy }: HookFailure, began: number): void {
    const answer = policy === "open" ? "failed-open" : "failed-closed"
    this.add({ hook: entry.name, answer, why: `${kind}: ${message}`, durationMs: now() - began })
  }

  cancelled(entry: Entry, began: number): void {
    this.add({ hook: entry.name, answer: "cancelled", durationMs: now() - began })
  }

  /** Nobody changes a record, so that listeners can share it. */
  private add(answer: HookAnswer): void {
    this.answers.push(Object.freeze(answer))
  }

  end(point: HookPointName, { callId, subject }: Subject, action: HookAction, by: string | undefined): void {
    this.onRecord(Object.freeze({
      point,
      ...(subject === undefined ? {} : { subject }),
      ...(callId === undefined ? {} : { callId }),
      hooks: Object.freeze(this.answers),
      action: action._tag,
      ...(by === undefined ? {} : { decidedBy: by })
    }))
  }
}

/** The entries of hooks that have not answered. */
const unanswered: ReadonlySet<HookAnswer["answer"]> = new Set(["skipped", "cancelled"])

/** Returns the current time in milliseconds, to measure durations. */
export const now = (): number => performance.now()
