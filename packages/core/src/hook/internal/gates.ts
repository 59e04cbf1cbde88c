/**
 * Gates: hooks with `reinvoke`. A gate answers for one value; when a later hook changes the value, the gate is asked
 * again about the new one. It can then refuse the value, but it does not change it a second time.
 */
import { canonical } from "../../data/Json.ts"
import type * as HookAction from "../HookAction.ts"
import type { CompiledPoint, Entry } from "./compiledPoint.ts"
import { fingerprint } from "./fingerprint.ts"

/** The maximum number of times that a gate runs because others changed the value. */
export const maxRounds = 3

/** Records what the gates of one run have answered for. A class, because a run uses it at every hook. */
export class Gates {
  private readonly point: CompiledPoint
  private next = 0
  private round = 0
  /** By slot of the hook: the event that it has answered for. */
  private readonly seen: Array<unknown> = []
  /** Whether every hook is a gate in this run, because one proposed a value that the earlier ones have not seen. */
  private ofAll = false

  constructor(point: CompiledPoint) {
    this.point = point
  }

  /** Records that the hook has answered for this event. */
  markSeen(entry: Entry, event: unknown): void {
    this.seen[entry.slot] = event
  }

  /** Makes every hook a gate, so that all of them see a value that a hook proposes in its question. */
  includeAll(): void {
    this.ofAll = true
  }

  /** Whether the hook has answered before. Unless it reapplies its changes, it can only refuse the value now. */
  isAskedAgain(entry: Entry): boolean {
    return this.isGate(entry) && this.seen[entry.slot] !== undefined
  }

  /** Whether the action is a change by a hook that is asked again, so that it has no effect. */
  isIgnored(entry: Entry, action: HookAction.HookAction, event: unknown): boolean {
    if ((action._tag !== "Transform" && action._tag !== "Replace") || !this.mayOnlyRefuse(entry)) return false
    const { tightens } = this.point
    return tightens === undefined || !tightens(action.value, event)
  }

  /** Returns the action without arguments that a hook proposes although it is asked again. */
  withoutProposal(entry: Entry, action: HookAction.Ask): HookAction.Ask {
    if (!this.mayOnlyRefuse(entry)) return action
    const { args: _args, ...rest } = action
    return rest
  }

  mayOnlyRefuse(entry: Entry): boolean {
    return !entry.reapplies && this.isAskedAgain(entry)
  }

  /**
   * Returns the next gate to run, out of those that `runs` accepts. `tooOften` is set if it has already run `maxRounds`
   * times.
   */
  pick(
    event: unknown,
    runs: (entry: Entry) => boolean
  ): { readonly entry: Entry; readonly tooOften: boolean } | undefined {
    const { deciders, hasGates } = this.point
    if (!hasGates && !this.ofAll) return undefined
    while (true) {
      while (this.next < deciders.length) {
        const entry = deciders[this.next++]!
        if (this.mustSee(entry, event) && runs(entry)) return { entry, tooOften: this.round >= maxRounds }
      }
      if (!deciders.some((entry) => this.mustSee(entry, event) && runs(entry))) return undefined
      this.next = 0
      this.round++
    }
  }

  private isGate(entry: Entry): boolean {
    return entry.gate || (this.ofAll && !entry.shadow)
  }

  /** Whether a gate has not seen the current value yet. Texts are compared only if the event is another object. */
  private mustSee(entry: Entry, event: unknown): boolean {
    if (!this.isGate(entry)) return false
    const last = this.seen[entry.slot]
    if (last === undefined) return true
    if (last === event || (!entry.reapplies && hasOnlyMore(this.point, last, event))) return false
    return fingerprint(this.point, last) !== fingerprint(this.point, event)
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
