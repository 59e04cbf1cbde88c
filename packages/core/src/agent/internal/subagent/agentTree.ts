/**
 * Agents that work for others: who is known, and what an agent becomes when it works in another's tree. One chain for
 * all of it.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ChainError, ConfigError } from "../../../data/AgentError.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import * as HookChain from "../../../hook/HookChain.ts"
import type { PolicyAnswer, RuntimePolicy } from "../../../port/RuntimePolicy.ts"
import { acting, type Resolved } from "../config/resolvedAgent.ts"
import { Hub } from "../turn/eventHub.ts"

/** An agent that can be handed work. */
export interface Member {
  readonly host: Resolved
  /** The services of its hooks. */
  readonly services: Effect.Effect<Context.Context<never> | undefined>
}

const members = new WeakMap<object, Member>()

/** Makes an agent known by the object its users have. */
export const join = (agent: object, member: Member): void => void members.set(agent, member)

/** The agent behind an object, where there is one. */
export const memberOf = (agent: object): Member | undefined => members.get(agent)

/** Checks that everybody an agent hands work to can do it: what cannot work is said when the agent is made. */
export const knit = (host: Resolved): Result.Result<Resolved, ConfigError | ChainError> => {
  for (const [tool, { agent }] of host.delegates) {
    const member = members.get(agent)
    if (member === undefined) {
      return Result.fail(
        new ConfigError({
          key: `tools.${tool}`,
          message: `tool "${tool}" delegates to something that is no agent: pass what createAgent returned`
        })
      )
    }
    const child = derived(host, member.host)
    if (Result.isFailure(child)) return Result.fail(child.failure)
  }
  return Result.succeed(host)
}

const made = new WeakMap<Resolved, WeakMap<Resolved, Result.Result<Resolved, ChainError>>>()

/**
 * An agent as it works for another: the other's hooks before its own, both policies, the other's listeners, store and
 * people.
 */
export const derived = (parent: Resolved, child: Resolved): Result.Result<Resolved, ChainError> => {
  const known = made.get(parent) ?? new WeakMap<Resolved, Result.Result<Resolved, ChainError>>()
  made.set(parent, known)
  const found = known.get(child)
  if (found !== undefined) return found
  const result = Result.map(chainOf(parent, child), (chain): Resolved => ({
    ...child,
    ...acting(chain),
    config: {
      ...child.config,
      ...own(parent.config),
      ...(parent.config.onAsk === undefined ? {} : { onAsk: parent.config.onAsk })
    },
    info: { name: child.info.name, depth: parent.info.depth + 1, invokedBy: "subagent" },
    policy: both(parent.policy, child.policy),
    hub: new Hub(child.hub, parent.hub),
    freeze: parent.freeze,
    cwd: child.config.cwd ?? parent.cwd,
    artifacts: parent.artifacts,
    http: parent.http ?? child.http,
    mcp: parent.mcp ?? child.mcp
  }))
  known.set(child, result)
  return result
}

/** What is the tree's and not an agent's: its state is saved with the root's. */
const own = ({ approvals, records }: Resolved["config"]) => ({
  store: undefined as never,
  ...(approvals === undefined ? {} : { approvals }),
  ...(records === undefined ? {} : { records })
})

/**
 * The tree's hooks (tiers managed and project), then the agent's own, which are of tier agent here. A hook of both runs
 * once.
 */
const chainOf = (parent: Resolved, child: Resolved): Result.Result<HookChain.HookChain, ChainError> => {
  const shared = parent.chain.hooks.filter(({ tier }) => tier !== "agent")
  const names = new Set(shared.map(({ name }) => name))
  const mine = child.chain.hooks.filter((hook) => !shared.includes(hook)).map((hook) =>
    as(hook, {
      tier: hook.tier ?? "agent",
      ...(names.has(hook.name) ? { name: `${hook.name}@${child.info.name}` } : {})
    })
  )
  return HookChain.make([...shared, ...mine])
}

/** The same hook under other options. What it inherits, and what it is called on, stays. */
const as = (hook: AgentHook<never>, options: Partial<AgentHook<never>>): AgentHook<never> =>
  new Proxy(hook, {
    get: (target, key) => {
      if (Object.hasOwn(options, key)) return options[key as keyof typeof options]
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === "function" ? value.bind(target) : value
    }
  })

/** Both have to allow it; the grant is the nearer one's. */
const both = (outer: RuntimePolicy | undefined, inner: RuntimePolicy | undefined): RuntimePolicy | undefined => {
  if (outer === undefined || inner === undefined) return inner ?? outer
  return {
    check: (call, tool) => {
      const first = outer.check(call, tool)
      const second = (one: PolicyAnswer): PolicyAnswer | Effect.Effect<PolicyAnswer, unknown> => {
        if (one.type === "deny") return one
        const two = inner.check(call, tool)
        return Effect.isEffect(two) ? Effect.map(two, (answer) => stricter(one, answer)) : stricter(one, two)
      }
      if (!Effect.isEffect(first)) return second(first)
      return Effect.flatMap(first, (one) => {
        const answer = second(one)
        return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
      })
    }
  }
}

const stricter = (outer: Exclude<PolicyAnswer, { readonly type: "deny" }>, inner: PolicyAnswer): PolicyAnswer =>
  inner.type === "allow" && outer.type === "ask" ? { ...outer, grant: inner.grant } : inner
