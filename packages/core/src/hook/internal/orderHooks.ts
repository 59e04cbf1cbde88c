/** Sorts hooks into their running order, and refuses hooks that cannot be ordered. */
import * as Result from "effect/Result"
import { ChainError } from "../../data/AgentError.ts"
import type { AgentHook } from "../AgentHook.ts"
import { findMistake } from "./checkHook.ts"

type Hook = AgentHook<never>

const tiers = { managed: 0, project: 1, agent: 2 } as const

/** Checks names, applies overrides, sorts by (tier, priority, registration) and then by `before` and `after`. */
export const order = (hooks: ReadonlyArray<Hook>): Result.Result<ReadonlyArray<Hook>, ChainError> => {
  const byName = new Map<string, Hook>()
  for (const hook of hooks) {
    const wrong = findMistake(hook)
    if (wrong !== undefined) return Result.fail(wrong)
    const earlier = byName.get(hook.name)
    if (earlier !== undefined) {
      const clash = clashes(hook, earlier)
      if (clash !== undefined) return Result.fail(clash)
      byName.delete(hook.name)
    }
    byName.set(hook.name, hook)
  }
  const sorted = [...byName.values()]
    .map((hook, index) => ({ hook, index }))
    .sort((a, b) =>
      tier(a.hook) - tier(b.hook) || (a.hook.priority ?? 100) - (b.hook.priority ?? 100) || a.index - b.index
    )
    .map(({ hook }) => hook)
  return constrain(sorted, byName)
}

const tier = (hook: Hook): number => tiers[hook.tier ?? "project"]

const clashes = (hook: Hook, earlier: Hook): ChainError | undefined => {
  if (hook.override !== true) {
    return new ChainError({
      hook: hook.name,
      message: `two hooks are named "${hook.name}": rename one, or set override: true on the later one`
    })
  }
  return tier(hook) > tier(earlier)
    ? new ChainError({
      hook: hook.name,
      message: `hook "${hook.name}" of tier ${hook.tier ?? "project"} may not override the one of tier ${
        earlier.tier ?? "project"
      }`
    })
    : undefined
}

/** Repeatedly takes the first hook whose predecessors have all been taken. Unknown names have no effect. */
const constrain = (
  sorted: ReadonlyArray<Hook>,
  byName: ReadonlyMap<string, Hook>
): Result.Result<ReadonlyArray<Hook>, ChainError> => {
  if (sorted.every((hook) => hook.before === undefined && hook.after === undefined)) return Result.succeed(sorted)
  const violation = sorted.flatMap((hook) => (hook.before ?? []).map((name) => ({ hook, other: byName.get(name) })))
    .find((
      { hook, other }
    ) => other !== undefined && tier(hook) > tier(other))
  if (violation !== undefined) return Result.fail(overtakes(violation.hook, violation.other!))
  const predecessors = new Map<string, Set<string>>(
    sorted.map((hook) => [hook.name, new Set(hook.after?.filter((name) => byName.has(name)))])
  )
  for (const hook of sorted) for (const later of hook.before ?? []) predecessors.get(later)?.add(hook.name)
  const ordered: Array<Hook> = []
  const waiting = [...sorted]
  while (waiting.length > 0) {
    const at = waiting.findIndex((hook) => predecessors.get(hook.name)!.size === 0)
    if (at < 0) return Result.fail(cycle(waiting, predecessors))
    const [hook] = waiting.splice(at, 1)
    ordered.push(hook!)
    for (const names of predecessors.values()) names.delete(hook!.name)
  }
  return Result.succeed(ordered)
}

const overtakes = (hook: Hook, other: Hook): ChainError =>
  new ChainError({
    hook: hook.name,
    message: `hook "${hook.name}" of tier ${
      hook.tier ?? "project"
    } may not place itself before "${other.name}" of tier ${other.tier ?? "project"}`
  })

const cycle = (waiting: ReadonlyArray<Hook>, predecessors: ReadonlyMap<string, ReadonlySet<string>>): ChainError => {
  const path: Array<string> = []
  let at = waiting[0]!.name
  while (!path.includes(at)) {
    path.push(at)
    at = [...predecessors.get(at)!][0]!
  }
  const ring = [...path.slice(path.indexOf(at)), at].reverse()
  return new ChainError({
    hook: at,
    message: `hooks cannot be ordered: before/after form a cycle, ${ring.map((name) => `"${name}"`).join(" before ")}`
  })
}
