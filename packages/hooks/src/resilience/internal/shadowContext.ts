/** The context of a shadow: the hook reads what the others read, and nothing that it writes has an effect on them. */
import type { HookContext } from "@belay/core/HookContext"
import type * as HookState from "@belay/core/HookState"

/** A text that the hook would have sent, or a rotation that it would have requested. */
export interface Sent {
  readonly how: "inject" | "followUp" | "notifyUser" | "rotate"
  readonly text: string
}

interface Isolation {
  /** The name of the shadow. */
  readonly name: string
  /** The name of the hook. */
  readonly hook: string
  /** Receives what the hook would have sent. */
  readonly said: Array<Sent>
  /** Whether the hook is an observer at this point. Only observers read the outcome. */
  readonly isObserver: boolean
}

type State = Pick<HookState.HookState, "get" | "all" | "set" | "update">

/** A copy of the context through which nothing reaches other hooks, the model or the user. */
export const isolate = (
  ctx: HookContext,
  { hook, isObserver, name, said }: Isolation
): HookContext => {
  /**
   * The key under which the shadow stores a value: one of its own. Its initial value is the value of other hooks; keys
   * with the name of the hook start empty, even if the hook itself runs too.
   */
  const ownKey = <A>(key: HookState.StateKey<A>, others: State): HookState.StateKey<A> => ({
    name: `@${ctx.hook}/${encodeURIComponent(key.name)}`,
    initial: key.name.startsWith(`${hook}/`) ? key.initial : others.get(key),
    is: key.is
  })
  const view = (others: () => State): State => ({
    get: (key) => others().get(ownKey(key, others())),
    all: (key) => {
      const own = key(ctx.hook)
      return new Map([...others().all(key), [ctx.hook, others().get(ownKey(own, others()))]])
    },
    set: (key, value) => others().set(ownKey(key, others()), value),
    update: (key, f) => others().update(ownKey(key, others()), f)
  })
  const state: HookContext["state"] = {
    ...view(() => ctx.state),
    durable: {
      conversation: view(() => ctx.state.durable.conversation),
      turn: view(() => ctx.state.durable.turn),
      call: (id) => view(() => ctx.state.durable.call(id))
    }
  }
  /** The shadow writes its own artifacts, and reads those of others. */
  const artifacts = (): HookContext["artifacts"] => {
    const { artifacts: all } = ctx
    const ownName = (key: string) => `${name}/${key}`
    return {
      ...all,
      write: (key, ...rest) => all.write(ownName(key), ...rest),
      append: (key, ...rest) => all.append(ownName(key), ...rest),
      remove: (key) => all.remove(ownName(key))
    }
  }
  const own = Object.create(null, {
    outcome: { value: isObserver ? ctx.outcome : undefined },
    state: { value: state },
    local: { value: view(() => ctx.local) },
    artifacts: { get: artifacts },
    rotate: { value: () => void said.push({ how: "rotate", text: "" }) },
    inject: { value: (text: string) => void said.push({ how: "inject", text }) },
    followUp: { value: (text: string) => void said.push({ how: "followUp", text }) },
    notifyUser: { value: (text: string) => void said.push({ how: "notifyUser", text }) }
  }) as object
  // The fields of a context are private, so its getters need the context itself.
  return new Proxy(ctx, { get: (target, key): unknown => Reflect.get(Object.hasOwn(own, key) ? own : target, key) })
}
