/** The value of a point and what is decided about it, while its hooks answer one after the other. */
import { freeze } from "../../data/Json.ts"
import type * as HookAction from "../HookAction.ts"
import { Continue, replace } from "../HookAction.ts"
import type { HookFailure } from "../HookRecord.ts"
import { plainChange } from "./checkAnswer.ts"
import type { CompiledPoint, Entry } from "./compiledPoint.ts"
import { Gates } from "./gates.ts"
import { changed, decisionAfter, type Decode, type HookQuestion } from "./outcome.ts"
import { unwatched } from "./watchedEvent.ts"

/** How a fold begins. */
interface FoldStart {
  readonly event: unknown
  /** The hook that has changed the event, if one has. */
  readonly by: string | undefined
  readonly freezes: boolean
  readonly decode: Decode | undefined
}

/** A class, because it is a state machine: its fields are the state. */
export class Fold {
  event: unknown
  action: HookAction.HookAction = Continue
  by: string | undefined
  failure: HookFailure | undefined
  /** The hooks that failed and without which the chain continued. */
  failedOpen: ReadonlyArray<string> | undefined
  readonly gates: Gates
  private readonly point: CompiledPoint
  private readonly freezes: boolean
  private readonly decode: Decode | undefined
  /** By slot of the hook: what it wants a person to decide. */
  private asked: Array<HookQuestion | undefined> | undefined
  /** By slot of the hook: whether a change that it made stands. */
  private readonly changes: Array<true | undefined> = []
  /** Whether the hook that answered for the operation is a policy. */
  private isAnsweredByPolicy = false

  constructor(point: CompiledPoint, { by, decode, event, freezes }: FoldStart) {
    this.point = point
    this.event = event
    this.by = by
    if (by !== undefined) this.action = changed
    this.freezes = freezes
    this.decode = decode
    this.gates = new Gates(point)
  }

  /** Whether the operation does not happen, so that no hook needs to check the value. */
  isRefused(): boolean {
    return this.action._tag === "Reject" || this.action._tag === "Abort"
  }

  /** Whether a hook has given the final value or the result, so that only policies still check it. */
  isAnswered(): boolean {
    return this.action._tag === "Replace" || this.action._tag === "Respond"
  }

  hasChanged({ slot }: Entry): boolean {
    return this.changes[slot] === true
  }

  decide(action: HookAction.HookAction, by: string): void {
    this.action = action
    this.by = by
  }

  fail(failure: HookFailure): void {
    this.decide(decisionAfter(failure), failure.hook)
    this.failure = failure
  }

  addFailedOpen({ name }: Entry): void {
    this.failedOpen = [...(this.failedOpen ?? []), name]
  }

  /** Takes nothing or a change, which are the most frequent answers, if there is nothing else to do. */
  takePlain(entry: Entry, answer: unknown): boolean {
    const { decode, event, point } = this
    if (entry.shadow || entry.observer || point.hasGates || this.asked !== undefined) return false
    if (answer !== undefined) {
      const change = decode === undefined && !this.isAnswered() ? plainChange(point, answer, event) : undefined
      if (change === undefined) return false
      this.event = this.freezes ? freeze(unwatched(change.event)) : change.event
      this.decide(changed, entry.name)
    }
    this.gates.markSeen(entry, this.event)
    return true
  }

  /** Applies a legal action. Returns a text if its value does not fit. */
  take(entry: Entry, action: HookAction.HookAction): string | undefined {
    if (action._tag === "Transform" || action._tag === "Replace") return this.changeTo(entry, action, action.value)
    if (action._tag === "Ask") return this.addQuestion(entry, this.gates.withoutProposal(entry, action))
    // The answer of a gate that is asked again replaces its question.
    this.setQuestion(entry, undefined)
    if (action._tag === "Continue") return undefined
    // Only policies run after an answer, and theirs comes before that of another hook.
    const isLate = action._tag === "Respond" && this.action._tag === "Respond" && this.isAnsweredByPolicy
    if (!isLate) this.decide(action, entry.name)
    this.isAnsweredByPolicy ||= entry.isPolicy
    return undefined
  }

  private changeTo(entry: Entry, { _tag }: HookAction.HookAction, value: unknown): string | undefined {
    const { apply, point } = this.point
    const read = this.decode?.(value, this.event, entry.name) ?? { ok: true as const, value }
    if (!read.ok) return `${_tag} at ${point}: ${read.why}`
    const next = apply === undefined ? read.value : apply(this.event, read.value)
    this.event = this.freezes ? freeze(unwatched(next)) : next
    this.changes[entry.slot] = true
    if (_tag !== "Ask") this.setQuestion(entry, undefined)
    if (this.action._tag === "Respond") return undefined
    const isFinal = _tag === "Replace" || this.action._tag === "Replace"
    this.decide(isFinal ? replace(read.value) : changed, entry.name)
    return undefined
  }

  /** Keeps a question. If the question proposes other arguments, all hooks see those as the arguments of the call. */
  private addQuestion(entry: Entry, ask: HookAction.Ask): string | undefined {
    const { args, ...question } = ask
    if (args !== undefined) {
      const wrong = this.changeTo(entry, ask, { ...(this.event as object), args })
      if (wrong !== undefined) return wrong
      this.gates.includeAll()
    }
    this.setQuestion(entry, { by: entry.name, ask: question })
    return undefined
  }

  private setQuestion({ slot }: Entry, question: HookQuestion | undefined): void {
    if (question !== undefined) (this.asked ??= [])[slot] = question
    else if (this.asked !== undefined) this.asked[slot] = undefined
  }

  /** Decides for the open questions, unless the operation does not happen anyway. */
  askAll(): void {
    if (this.asked === undefined || this.isRefused() || this.action._tag === "Respond") return
    const [first] = this.questions()
    if (first !== undefined) this.decide(first.ask, first.by)
  }

  /** The questions, in the order of the hooks. */
  questions(): ReadonlyArray<HookQuestion> {
    const { asked } = this
    return asked === undefined ? [] : this.point.deciders.flatMap(({ slot }) => asked[slot] ?? [])
  }
}
