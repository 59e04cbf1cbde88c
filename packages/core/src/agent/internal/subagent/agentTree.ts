/**
 * Agents that work for other agents: what an agent becomes when it works in the tree of another. One chain of hooks
 * guards the whole tree.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ChainError, ConfigError } from "../../../data/AgentError.ts"
import { invalidOption } from "../../../data/OptionCheck.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import * as HookChain from "../../../hook/HookChain.ts"
import type { PolicyAnswer, RuntimePolicy } from "../../../port/RuntimePolicy.ts"
import { hookRoles, makeAgent, type ResolvedAgent } from "../config/resolvedAgent.ts"
import { EventHub } from "../turn/eventHub.ts"
import { targetOf } from "./delegationTarget.ts"

/** Checks, when an agent is made, that it can delegate to every agent that it has as a tool. */
export const checkDelegates = (agent: ResolvedAgent): Result.Result<ResolvedAgent, ConfigError | ChainError> => {
  for (const [tool, delegate] of agent.delegates) {
    const target = targetOf(delegate.agent)
    if (target === undefined) {
      return invalidOption(
        `tools.${tool}`,
        `tool "${tool}" delegates to something that is not an agent: pass what createAgent or AgentRuntime.make ` +
          "returned, or a wrapper that has its [delegationTarget] property"
      )
    }
    const child = subAgentOf(agent, target.agent)
    if (Result.isFailure(child)) return Result.fail(child.failure)
  }
  return Result.succeed(agent)
}

/**
 * An agent as it works for another: the other's hooks before its own, both policies, the other's listeners, approvals
 * and artifacts. Made once for each pair of agents.
 */
export const subAgentOf = (
  parent: ResolvedAgent,
  child: ResolvedAgent
): Result.Result<ResolvedAgent, ChainError> => {
  const known = parent.subAgents.get(child)
  if (known !== undefined) return known
  const made = Result.map(chainFor(parent, child), (chain): ResolvedAgent =>
    makeAgent({
      ...child,
      ...hookRoles(chain),
      config: configFor(parent, child),
      info: { name: child.info.name, depth: parent.info.depth + 1, invokedBy: "subagent" },
      policy: bothPolicies(parent.policy, child.policy),
      hub: new EventHub(child.hub, parent.hub),
      freeze: parent.freeze,
      cwd: child.config.cwd ?? parent.cwd,
      artifacts: parent.artifacts,
      http: parent.http ?? child.http,
      mcp: parent.mcp ?? child.mcp
    }))
  parent.subAgents.set(child, made)
  return made
}

/** The store, the people who are asked, and the records belong to the tree: they are those of its root. */
const configFor = ({ config: parent }: ResolvedAgent, child: ResolvedAgent): ResolvedAgent["config"] => {
  const { store: _store, ...config } = child.config
  return {
    ...config,
    ...(parent.approvals === undefined ? {} : { approvals: parent.approvals }),
    ...(parent.records === undefined ? {} : { records: parent.records }),
    ...(parent.onAsk === undefined ? {} : { onAsk: parent.onAsk })
  }
}

/**
 * The hooks of the tree (tiers managed and project), then the agent's own, which have tier agent here. A hook of both
 * agents runs once.
 */
const chainFor = (parent: ResolvedAgent, child: ResolvedAgent): Result.Result<HookChain.HookChain, ChainError> => {
  const shared = parent.chain.hooks.filter(({ tier }) => tier !== "agent")
  const names = new Set(shared.map(({ name }) => name))
  const own = child.chain.hooks.filter((hook) => !shared.includes(hook)).map((hook) => {
    const tier = hook.tier ?? "agent"
    return withOptions(hook, names.has(hook.name) ? { tier, name: `${hook.name}@${child.info.name}` } : { tier })
  })
  return HookChain.make([...shared, ...own])
}

/** The same hook with other options. What it inherits stays, and its methods are called on the hook itself. */
const withOptions = (hook: AgentHook<never>, options: Partial<AgentHook<never>>): AgentHook<never> =>
  new Proxy(hook, {
    get: (target, key) => {
      const value: unknown = Reflect.get(Object.hasOwn(options, key) ? options : target, key)
      return typeof value === "function" ? value.bind(target) : value
    }
  })

/** Both policies have to allow a call; the grant is the inner one's. */
const bothPolicies = (
  outer: RuntimePolicy | undefined,
  inner: RuntimePolicy | undefined
): RuntimePolicy | undefined => {
  if (outer === undefined || inner === undefined) return inner ?? outer
  return {
    check: (call, tool) => {
      const first = outer.check(call, tool)
      const askInner = (one: PolicyAnswer): PolicyAnswer | Effect.Effect<PolicyAnswer, unknown> => {
        if (one.type === "deny") return one
        const two = inner.check(call, tool)
        return Effect.isEffect(two) ? Effect.map(two, (answer) => stricter(one, answer)) : stricter(one, two)
      }
      if (!Effect.isEffect(first)) return askInner(first)
      return Effect.flatMap(first, (one) => {
        const answer = askInner(one)
        return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
      })
    }
  }
}

const stricter = (outer: Exclude<PolicyAnswer, { readonly type: "deny" }>, inner: PolicyAnswer): PolicyAnswer =>
  inner.type === "allow" && outer.type === "ask" ? { ...outer, grant: inner.grant } : inner
