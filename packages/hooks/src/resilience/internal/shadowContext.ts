/** The context of a shadow: the hook reads what the others read, and nothing that it writes has an effect on them. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"

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

/** A key, or a plain name. */
type Key<A> = HookState.StateKey<A> | string

type State = Pick<HookState.HookState, "get" | "all" | "set" | "update">

/** A copy of the context through which nothing reaches other hooks, the model or the user. */
export const isolate = (
  ctx: HookContext,
  { hook, isObserver, name, said }: Isolation
): HookContext => {
  /**
   * The key under which the shadow stores a value: one of its own. Its initial value is the value of other hooks; keys
   * with the name of the hook, or of the shadow, start empty, even if the hook itself runs too.
   */
  const ownKey = <A>(given: Key<A>, others: State): HookState.StateKey<A> => {
    const key = HookState.keyOf(given)
    return {
      name: `@${ctx.hook}/${encodeURIComponent(key.name)}`,
      initial: [`${hook}/`, `@${ctx.hook}/`].some((own) => key.name.startsWith(own)) ? key.initial : others.get(key),
      is: key.is
    }
  }
  const view = (others: () => State): State => ({
    get: <A>(key: Key<A>) => others().get(ownKey(key, others())),
    all: (key) => {
      const own = key(ctx.hook)
      return new Map([...others().all(key), [ctx.hook, others().get(ownKey(own, others()))]])
    },
    set: <A>(key: Key<A>, value: A) => others().set(ownKey(key, others()), value),
    update: <A>(key: Key<A>, f: (value: A) => A) => others().update(ownKey(key, others()), f)
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
  const own: Partial<HookContext> = {
    state,
    local: view(() => ctx.local),
    rotate: () => void said.push({ how: "rotate", text: "" }),
    inject: (text) => void said.push({ how: "inject", text }),
    followUp: (text) => void said.push({ how: "followUp", text }),
    notifyUser: (text) => void said.push({ how: "notifyUser", text })
  }
  return new Proxy(ctx, {
    get: (of, key) => {
      if (key === "artifacts") return artifacts()
      if (key === "outcome") return isObserver ? of.outcome : undefined
      // The context reads its own private fields, so it is the receiver.
      return Reflect.get(Object.hasOwn(own, key) ? own : of, key)
    }
  })
}
