/**
 * Derives sub-agents: the agent that runs when another agent delegates to it. One chain of hooks guards the whole tree
 * of agents.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ChainError, ConfigError } from "../../../data/AgentError.ts"
import { invalidOption } from "../../../data/option/OptionCheck.ts"
import { hookRoles } from "../../../guard/internal/definition/hookRoles.ts"
import { EventHub } from "../../../guard/internal/event/eventHub.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import * as HookChain from "../../../hook/HookChain.ts"
import type { PolicyAnswer, RuntimePolicy } from "../../../port/RuntimePolicy.ts"
import { targetOf } from "./delegationTarget.ts"
import { misspeltTools } from "./misspeltTools.ts"
import { makeAgent, type ResolvedAgent } from "./resolvedAgent.ts"
import { isOtherVersion, isSameHook } from "./sameHook.ts"

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
    agent.warnings.push(...otherVersions(agent, target.agent))
  }
  agent.warnings.push(...misspeltTools(agent))
  return Result.succeed(agent)
}

/** Warns about ready-made hooks that both agents have with other options, because then both run. */
const otherVersions = ({ chain, info: { name } }: ResolvedAgent, child: ResolvedAgent): ReadonlyArray<string> => {
  const inherited = chain.hooks.filter(isInherited)
  return child.chain.hooks.flatMap((hook) =>
    inherited.some((other) => other.name === hook.name && isOtherVersion(other, hook))
      ? [
        `hook ${hook.name} of sub-agent ${child.info.name} has other options than that of ${name}, so both run for ` +
        `its calls: give both the same options, or leave it out of ${child.info.name}`
      ]
      : []
  )
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
  const made = Result.map(chainFor(parent, child), ({ chain, hookNames }): ResolvedAgent =>
    makeAgent({
      ...child,
      ...hookRoles(chain),
      hookNames,
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
 * The hooks of the agents above, then the hooks of the agent, which get the tier agent. A hook that several have runs
 * once. Of two hooks with one name, that of the lower agent gets another name.
 */
const chainFor = (
  parent: ResolvedAgent,
  child: ResolvedAgent
): Result.Result<Pick<ResolvedAgent, "chain" | "hookNames">, ChainError> => {
  const shared = parent.chain.hooks.filter(isInherited)
  const names = new Set(shared.map(({ name }) => name))
  const hookNames = new Map(parent.hookNames)
  const own = child.chain.hooks.filter((hook) => !shared.some((other) => isSameHook(original(other), hook))).map(
    (hook) => {
      let { name } = hook
      while (names.has(name)) name = `${name}@${child.info.name}`
      names.add(name)
      if (name !== hook.name) hookNames.set(name, hook.name)
      return placed(hook, { tier: hook.tier ?? "agent", name })
    }
  )
  return Result.map(HookChain.make([...shared, ...own]), (chain) => ({ chain, hookNames }))
}

/** Whether the agents below have a hook too. A hook of the tier agent is for one agent alone. */
const isInherited = (hook: AgentHook<never>): boolean => original(hook).tier !== "agent"

/** The hooks as their agents have them, by the hooks of a sub-agent. */
const originals = new WeakMap<AgentHook<never>, AgentHook<never>>()

const original = (hook: AgentHook<never>): AgentHook<never> => originals.get(hook) ?? hook

/**
 * The same hook with the tier and the name that it has in a sub-agent. Inherited members stay, and methods are called
 * with the original hook as `this`.
 */
const placed = (
  hook: AgentHook<never>,
  options: Pick<AgentHook<never>, "name" | "tier">
): AgentHook<never> => {
  const made = new Proxy(hook, {
    get: (target, key) => {
      const value: unknown = Reflect.get(Object.hasOwn(options, key) ? options : target, key)
      return typeof value === "function" ? value.bind(target) : value
    }
  })
  originals.set(made, original(hook))
  return made
}

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

/** A question of both has the reasons of both. */
const stricter = (outer: Exclude<PolicyAnswer, { readonly type: "deny" }>, inner: PolicyAnswer): PolicyAnswer => {
  if (outer.type !== "ask" || inner.type === "deny") return inner
  if (inner.type === "allow" || inner.reason === outer.reason) return { ...outer, grant: inner.grant }
  return { ...inner, reason: `${outer.reason}; ${inner.reason}` }
}
