/**
 * The context of a hook: its view of the scope. There is one per hook and turn. It is revoked when the hook times out.
 */
import type * as Effect from "effect/Effect"
import type { BudgetLevel } from "../../data/Compaction.ts"
import type { HttpRequest } from "../../data/Http.ts"
import type { Json } from "../../data/Json.ts"
import type {
  AskModel,
  Capabilities,
  HookContext,
  HookScope,
  InjectOptions,
  ObservedOutcome,
  SideRequest
} from "../HookContext.ts"
import { type Durable, type HookKey, keyOf, type StateKey, type Store } from "../HookState.ts"
import { requireChange, requireInjectOptions, requirePrompt, requireText } from "./checkArguments.ts"
import { HookWrites } from "./hookWrites.ts"

/*
 * Fields are private at run time too: a hook in JavaScript must not write as another hook, nor undo a timeout. These
 * functions are for this module alone.
 */
let read: <A>(context: Context, store: Store, key: StateKey<A>) => A
let write: <A>(context: Context, store: Store, key: StateKey<A>, value: A, change?: (value: A) => A) => void
let capabilitiesFor: (context: Context, what: string) => Capabilities

/** The state for one hook, with its permissions. A class, because it is made on the hot path. */
class View {
  readonly #store: Store
  readonly #context: Context

  constructor(store: Store, context: Context) {
    this.#store = store
    this.#context = context
  }
  get get() {
    return <A>(key: StateKey<A> | string): A => read(this.#context, this.#store, keyOf(key))
  }
  get all() {
    return <A>(key: HookKey<A>): ReadonlyMap<string, A> => this.#store.all(key)
  }
  get set() {
    return <A>(key: StateKey<A> | string, value: A): void => write(this.#context, this.#store, keyOf(key), value)
  }
  get update() {
    return <A>(given: StateKey<A> | string, f: (value: A) => A): A => {
      const key = keyOf(given)
      requireChange(key.name, f)
      const value = f(read(this.#context, this.#store, key))
      write(this.#context, this.#store, key, value, f)
      return value
    }
  }
  get durable(): Durable {
    const context = this.#context
    const { call, conversation, turn } = capabilitiesFor(context, "state.durable").durable
    return {
      conversation: new View(conversation, context),
      turn: new View(turn, context),
      call: (id) => new View(call(id), context)
    }
  }
}

/** A class, because it is made on the hot path: the getters are on the prototype, and an instance has two fields. */
export class Context implements HookContext {
  static {
    read = (context, store, key) => {
      const seen = context.#writes?.read(store, key.name)
      // The journal has tested the value with the key that wrote it; another key tests it here.
      return seen === undefined || !key.is(seen.value) ? store.get(key) : seen.value
    }
    write = (context, store, key, value, change) => context.#write(store, key, value, change)
    capabilitiesFor = (context, what) => context.#capabilities(what)
  }

  /** From now on, nothing that the hook does with this context counts. */
  static revoke(context: Context): void {
    context.#revoked = true
  }
  static isRevoked(context: Context): boolean {
    return context.#revoked
  }

  /**
   * Records what the hook writes, so that it can be taken back if the hook is asked again. `writes` has what the hook
   * wrote earlier in this run of the point.
   */
  static track(context: Context, writes?: HookWrites): void {
    context.#isTracked = true
    context.#writes = writes
  }
  /** Ends the recording, and returns what it has, or nothing if the hook wrote nothing. */
  static tracked(context: Context): HookWrites | undefined {
    const writes = context.#writes
    context.#isTracked = false
    context.#writes = undefined
    return writes
  }

  /** Makes the context of an observer, which knows what was decided. */
  static ofObserver(scope: HookScope, hook: string, outcome: ObservedOutcome): Context {
    const context = new Context(scope, hook)
    context.outcome = outcome
    return context
  }

  outcome: ObservedOutcome | undefined = undefined
  #revoked = false
  #isTracked = false
  #writes: HookWrites | undefined = undefined
  readonly #scope: HookScope
  readonly #hook: string
  /** Whether nothing that the hook does reaches the model or the user. */
  readonly #silent: boolean
  readonly askedAgain: boolean

  constructor(scope: HookScope, hook: string, silent = false, askedAgain = false) {
    this.#scope = scope
    this.#hook = hook
    this.#silent = silent
    this.askedAgain = askedAgain
  }

  get hook() {
    return this.#hook
  }
  get sessionId() {
    return this.#scope.sessionId
  }
  get turnNumber() {
    return this.#scope.turnNumber
  }
  get stepNumber() {
    return this.#scope.stepNumber
  }
  get coreType() {
    return this.#scope.coreType
  }
  get agent() {
    return this.#scope.agent
  }
  get cwd() {
    return this.#scope.cwd
  }
  get signal(): AbortSignal {
    return this.#scope.signal
  }

  get events() {
    const hook = this.#hook
    const scope = this.#scope
    return {
      active: scope.active(),
      emit: (name: string, payload: Json) => {
        requireText("events.emit", name)
        return this.#counts(`event ${name}`) ? scope.emit(name, payload, hook) : undefined
      }
    }
  }

  get state() {
    return new View(this.#scope.state, this)
  }

  get local() {
    return new View(this.#scope.local, this)
  }
  get root() {
    const scope = this.#scope
    return scope.capabilities?.root ??
      { sessionId: scope.sessionId, turnNumber: scope.turnNumber, signal: scope.signal }
  }
  get caller() {
    return this.#scope.caller
  }
  get artifacts() {
    return this.#capabilities("artifacts").artifacts(this.#hook)
  }
  get llm(): AskModel {
    const llm = (request: SideRequest) => {
      requirePrompt(request)
      return this.#capabilities("llm").llm(request, this.#hook)
    }
    // With a schema, the response has the decoded answer. The type of the capability does not say so.
    return llm as AskModel
  }
  get callTool() {
    return (name: string, args: Json) => {
      requireText("callTool", name)
      return this.#capabilities("callTool").callTool(name, args, this.#hook)
    }
  }
  get http() {
    return (request: HttpRequest) => this.#capabilities("http").http(request, this.#hook)
  }
  get mcp() {
    return this.#capabilities("mcp").mcp(this.#hook)
  }
  get tools() {
    return this.#capabilities("tools").tools
  }
  get reportBudget() {
    return (level: BudgetLevel) => this.#capabilities("reportBudget").reportBudget(level)
  }
  get rotate() {
    return (): void => this.#reaches("rotation") ? this.#capabilities("rotate").rotate(this.#hook) : undefined
  }
  get promise() {
    return <A, E>(effect: Effect.Effect<A, E>): Promise<A> => this.#capabilities("promise").promise(effect)
  }

  /** Returns the capabilities of the runtime. `what` is the name of the one that is used. */
  #capabilities(what: string): Capabilities {
    const { capabilities } = this.#scope
    if (capabilities === undefined) throw new Error(`ctx.${what}: this chain runs without a runtime, which it requires`)
    return capabilities
  }

  /** Writes state for this hook, unless it has timed out. */
  #write<A>(store: Store, key: StateKey<A>, value: A, change: ((value: A) => A) | undefined): void {
    if (!this.#counts(`write of ${key.name}`)) return
    if (this.#isTracked) (this.#writes ??= new HookWrites()).write(store, key, value, this.#hook, change)
    else store.write(key, value, this.#hook)
  }

  /** Getters return closures, so that `const { inject } = ctx` works and a context has only two fields. */
  get inject() {
    return (text: string, options?: InjectOptions): void => {
      requireText("inject", text)
      requireInjectOptions(options)
      if (this.#reaches("injection")) this.#scope.inject(text, options, this.#hook)
    }
  }
  get warn() {
    return (message: string): void => {
      requireText("warn", message)
      if (this.#counts("warning")) this.#scope.warn(message, this.#hook)
    }
  }
  get notifyUser() {
    return (message: string): void => {
      requireText("notifyUser", message)
      if (this.#reaches("notice")) this.#scope.notifyUser(message, this.#hook)
    }
  }
  get followUp() {
    return (message: string): void => {
      requireText("followUp", message)
      if (this.#reaches("follow-up")) this.#scope.followUp(message, this.#hook)
    }
  }

  /** Whether this hook may have side effects. A shadow hook may not, and neither may a hook that is asked again. */
  #reaches(what: string): boolean {
    return !this.#silent && this.#counts(what)
  }

  /** Whether an operation of the hook counts. After a timeout it does not; it is only reported. */
  #counts(what: string): boolean {
    if (this.#revoked) this.#scope.onLate(this.#hook, what)
    return !this.#revoked
  }
}
