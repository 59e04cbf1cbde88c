/**
 * Gates: hooks with `reinvoke`. A gate answers for one value; when a later hook changes the value, the gate is asked
 * again about the new one. It can then refuse the value, but it does not change it a second time.
 */
import { canonical } from "../../data/Json.ts"
import type * as HookAction from "../HookAction.ts"
import type { CompiledPoint, Entry } from "./compiledPoint.ts"
import { fingerprint } from "./fingerprint.ts"
import type { Resume } from "./outcome.ts"

/** The maximum number of times that a gate runs because others changed the value. */
export const maxRounds = 3

/** Records what the gates of one run have answered for. A class, because a run uses it at every hook. */
export class Gates {
  private readonly point: CompiledPoint
  private readonly settled: Resume["settled"]
  private next = 0
  private round = 0
  /** By slot of the gate: the event that it has answered for, or the text of a value that was answered earlier. */
  private readonly seen: Array<unknown> = []
  /** By slot of the hook: whether it has answered before. */
  private readonly asked: Array<true | undefined> = []

  constructor(point: CompiledPoint, resume: Resume | undefined) {
    this.point = point
    this.settled = resume?.settled ?? []
    if (resume?.again === undefined) return
    const last = point.deciders.findIndex(({ name }) => name === resume.again)
    for (const { slot } of point.deciders.slice(0, last + 1)) this.asked[slot] = true
  }

  /** Records that the gate has answered for this event. */
  markSeen(entry: Entry, event: unknown): void {
    if (!entry.gate) return
    this.seen[entry.slot] = event
    this.asked[entry.slot] = true
  }

  /**
   * Records that a resumed run skips this hook. It is not known which value the hook has seen, and later hooks may have
   * changed it. So the hook runs for the final value, unless a person answered its question.
   */
  markSkipped(entry: Entry): void {
    this.asked[entry.slot] = true
    const answer = this.settled.findLast(({ hook }) => hook === entry.name)
    if (answer !== undefined) this.markSeen(entry, answer.fingerprint)
  }

  /** Whether the hook has answered before, so that it can only refuse the value now. */
  isAskedAgain(entry: Entry): boolean {
    return !entry.reapplies && this.asked[entry.slot] === true
  }

  /** Whether the action is a change by a hook that is asked again, so that it has no effect. */
  isIgnored(entry: Entry, action: HookAction.HookAction, event: unknown): boolean {
    if ((action._tag !== "Transform" && action._tag !== "Replace") || !this.isAskedAgain(entry)) return false
    const { tightens } = this.point
    return tightens === undefined || !tightens(action.value, event)
  }

  /** Returns the action without arguments that a hook proposes although it is asked again. */
  withoutProposal(entry: Entry, action: HookAction.HookAction): HookAction.HookAction {
    if (action._tag !== "Ask" || action.args === undefined || !this.isAskedAgain(entry)) return action
    const { args: _args, ...rest } = action
    return rest
  }

  /**
   * Whether a person has answered this hook's question about exactly this value, by approving it or, with `edited`, by
   * writing it.
   */
  isSettled(entry: Entry, event: unknown, edited = false): boolean {
    if (this.settled.length === 0) return false
    const text = fingerprint(this.point, event)
    const found = this.settled.some((one) =>
      one.hook === entry.name && one.fingerprint === text && (one.edited ?? false) === edited
    )
    if (found && !edited) this.markSeen(entry, text)
    return found
  }

  /** Returns the next gate to run. `tooOften` is set if it has already run `maxRounds` times. */
  pick(event: unknown, tool: string | undefined): { readonly entry: Entry; readonly tooOften: boolean } | undefined {
    const { deciders } = this.point
    while (true) {
      while (this.next < deciders.length) {
        const entry = deciders[this.next++]!
        if (this.mustSee(entry, event, tool)) return { entry, tooOften: this.round >= maxRounds }
      }
      if (!deciders.some((entry) => this.mustSee(entry, event, tool))) return undefined
      this.next = 0
      this.round++
    }
  }

  /** Whether a gate has not seen the current value yet. Texts are compared only if the event is another object. */
  private mustSee(entry: Entry, event: unknown, tool: string | undefined): boolean {
    if (!entry.gate || entry.wants?.(tool ?? "") === false) return false
    const last = this.seen[entry.slot]
    if (last === undefined) return true
    if (last === event || (!entry.reapplies && hasOnlyMore(this.point, last, event))) return false
    return (typeof last === "string" ? last : fingerprint(this.point, last)) !== fingerprint(this.point, event)
  }
}

/** Whether the second event is the first one with more messages at the end of its list. */
const hasOnlyMore = ({ row: { list } }: CompiledPoint, first: unknown, second: unknown): boolean => {
  if (list === undefined || typeof first !== "object" || typeof second !== "object") return false
  const { [list]: before = [], ...restBefore } = first as Listed
  const { [list]: after = [], ...restAfter } = second as Listed
  if (!Array.isArray(before) || !Array.isArray(after) || after.length < before.length) return false
  return before.every((one, index) => one === after[index] || canonical(one) === canonical(after[index])) &&
    canonical(restBefore) === canonical(restAfter)
}

type Listed = { readonly [field: string]: unknown }
