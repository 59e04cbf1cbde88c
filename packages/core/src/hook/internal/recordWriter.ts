/** Writes the decision record of one run of a point. */
import type { HookAction } from "../HookAction.ts"
import type { HookPointName } from "../HookPoint.ts"
import type { HookAnswer, HookFailure, HookRecord } from "../HookRecord.ts"
import type { Entry } from "./compiledPoint.ts"

/** A class, because a run writes into it. */
export class RecordWriter {
  private readonly answers: Array<HookAnswer> = []
  private readonly onRecord: (record: HookRecord) => void

  constructor(onRecord: (record: HookRecord) => void) {
    this.onRecord = onRecord
  }

  skip(entry: Entry, why: string): void {
    this.answers.push({ hook: entry.name, answer: "skipped", why, durationMs: 0 })
  }

  /** `ignored` means that the change of a hook that was asked again had no effect. */
  note(entry: Entry, action: HookAction, changes: HookAnswer["change"], began: number, ignored = false): void {
    const reason = "reason" in action ? action.reason : undefined
    const again = this.answers.some(({ answer, hook }) => hook === entry.name && answer !== "skipped")
    this.answers.push({
      hook: entry.name,
      answer: action._tag,
      ...(reason === undefined ? {} : { why: reason }),
      ...(changes === undefined ? {} : { change: changes }),
      ...(entry.shadow ? { shadow: true } : {}),
      ...(again ? { again: true } : {}),
      ...(ignored ? { ignored } : {}),
      durationMs: now() - began
    })
  }

  failed(entry: Entry, { kind, message, policy }: HookFailure, began: number): void {
    const answer = policy === "open" ? "failed-open" : "failed-closed"
    this.answers.push({ hook: entry.name, answer, why: `${kind}: ${message}`, durationMs: now() - began })
  }

  cancelled(entry: Entry, began: number): void {
    this.answers.push({ hook: entry.name, answer: "cancelled", durationMs: now() - began })
  }

  end(point: HookPointName, tool: string | undefined, action: HookAction, by: string | undefined): void {
    this.onRecord({
      point,
      ...(tool === undefined ? {} : { subject: tool }),
      hooks: this.answers,
      action: action._tag,
      ...(by === undefined ? {} : { decidedBy: by })
    })
  }
}

/** Returns the current time in milliseconds, to measure durations. */
export const now = (): number => performance.now()
