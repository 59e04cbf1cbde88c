/**
 * Derives sub-agents: the agent that runs when another agent delegates to it. One chain of hooks guards the whole tree
 * of agents.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ChainError, ConfigError } from "../../../data/AgentError.ts"
import { invalidOption } from "../../../data/option/OptionCheck.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import * as HookChain from "../../../hook/HookChain.ts"
import type { PolicyAnswer, RuntimePolicy } from "../../../port/RuntimePolicy.ts"
import { hookRoles, makeAgent, type ResolvedAgent } from "../config/resolvedAgent.ts"
import { EventHub } from "../event/eventHub.ts"
import { targetOf } from "./delegationTarget.ts"

/** Checks that an agent can delegate to every agent that it has as a tool. Called when the agent is made. */
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
 * Makes the sub-agent of a parent agent. It has the hooks of the parent before its own, both policies, and the
 * listeners, approvals and artifacts of the parent. Each pair of agents has one.
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
      models: new Map([...parent.models, ...child.models]),
      freeze: parent.freeze,
      cwd: child.config.cwd ?? parent.cwd,
      artifacts: parent.artifacts,
      http: parent.http ?? child.http,
      mcp: parent.mcp ?? child.mcp
    }))
  parent.subAgents.set(child, made)
  return made
}

/** The store, `onAsk` and the records are those of the root of the tree. `changeNote` is, if the agent has none. */
const configFor = ({ config: parent }: ResolvedAgent, child: ResolvedAgent): ResolvedAgent["config"] => {
  const { store: _store, ...config } = child.config
  return {
    ...(parent.changeNote === undefined ? {} : { changeNote: parent.changeNote }),
    ...config,
    ...(parent.approvals === undefined ? {} : { approvals: parent.approvals }),
    ...(parent.records === undefined ? {} : { records: parent.records }),
    ...(parent.onAsk === undefined ? {} : { onAsk: parent.onAsk })
  }
}

/**
 * The hooks of the tree (tiers managed and project), then the hooks of the agent, which get the tier agent. A hook that
 * both have runs once.
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

/**
 * The same hook with other options. Inherited members stay, and methods are called with the original hook as `this`.
 */
const withOptions = (hook: AgentHook<never>, options: Partial<AgentHook<never>>): AgentHook<never> =>
  new Proxy(hook, {
    get: (target, key) => {
      const value: unknown = Reflect.get(Object.hasOwn(options, key) ? options : target, key)
      return typeof value === "function" ? value.bind(target) : value
    }
  })

/** Both policies must allow a call. The grant is that of the inner policy. */
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
