/** A hook's view of the scope. One object a hook and turn; it is revoked when its hook times out. */
import type { Json } from "../../data/Json.ts"
import type { HookContext, HookScope, InjectOptions, ObservedOutcome } from "../HookContext.ts"
import type { StateKey } from "../HookState.ts"

/** A class because it is made on the hot path: getters on the prototype, two fields an instance. */
export class Context implements HookContext {
  revoked = false
  outcome: ObservedOutcome | undefined = undefined
  private readonly scope: HookScope
  private readonly hook: string

  constructor(scope: HookScope, hook: string) {
    this.scope = scope
    this.hook = hook
  }

  get sessionId() {
    return this.scope.sessionId
  }
  get turnNumber() {
    return this.scope.turnNumber
  }
  get stepNumber() {
    return this.scope.stepNumber
  }
  get coreType() {
    return this.scope.coreType
  }
  get agent() {
    return this.scope.agent
  }
  get cwd() {
    return this.scope.cwd
  }
  get signal(): AbortSignal {
    return this.scope.signal
  }

  get events() {
    const { hook, scope } = this
    return {
      active: scope.active(),
      emit: (name: string, payload: Json) => this.allowed(`event ${name}`) ? scope.emit(name, payload, hook) : undefined
    }
  }

  get state() {
    const { hook, scope: { state } } = this
    return {
      get: <A>(key: StateKey<A>) => state.get(key),
      set: <A>(key: StateKey<A>, value: A) => {
        if (this.allowed(`write of ${key.name}`)) state.write(key, value, hook)
      },
      update: <A>(key: StateKey<A>, f: (value: A) => A): A => {
        const value = f(state.get(key))
        if (this.allowed(`write of ${key.name}`)) state.write(key, value, hook)
        return value
      }
    }
  }

  /** Getters that return closures, so that `const { inject } = ctx` works and a context costs two fields. */
  get inject() {
    return (text: string, options?: InjectOptions): void =>
      this.allowed("injection") ? this.scope.inject(text, options, this.hook) : undefined
  }
  get warn() {
    return (message: string): void => this.allowed("warning") ? this.scope.warn(message, this.hook) : undefined
  }
  get notifyUser() {
    return (message: string): void => this.allowed("notice") ? this.scope.notifyUser(message, this.hook) : undefined
  }
  get followUp() {
    return (message: string): void => this.allowed("follow-up") ? this.scope.followUp(message, this.hook) : undefined
  }

  /** After a timeout nothing a hook does counts; it is only reported. */
  private allowed(what: string): boolean {
    if (this.revoked) this.scope.onLate(this.hook, what)
    return !this.revoked
  }
}
