/** Compares the hooks of a guard with what a driver can do. */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import type { SessionGuard } from "@belay/core/GuardSession"
import type { HookChain } from "@belay/core/HookChain"
import * as HookPoint from "@belay/core/HookPoint"
import type { Driver, Place, Reach, Row } from "../Coverage.ts"

const others = ["wrapLlmCall", "wrapToolCall", "revealText", "concealMessages"] as const

/** All places, in the order of the table of points. */
const places: ReadonlyArray<Place> = [...HookPoint.names, ...others]

const reachOf = ({ places: known }: Driver, place: Place): Reach => known[place] ?? "unreachable"

const acts = (hook: AgentHook<never>, place: Place): boolean => hook[place] !== undefined

/** Returns what a driver can do for the hooks of a chain. */
export const coverageOf = (chain: Pick<HookChain, "hooks">, driver: Driver): ReadonlyArray<Row> => {
  checkDriver(driver)
  return places.map((place) => ({
    place,
    reach: reachOf(driver, place),
    hooks: chain.hooks.filter((hook) => acts(hook, place)).map(({ name }) => name)
  }))
}

/** Throws a `ConfigError` for what a program without types passed instead of a driver. */
const checkDriver = (driver: Partial<Driver> | null | undefined): void => {
  if (typeof driver?.places === "object") return
  throw new ConfigError({ key: "driver", message: "driver: expected the driver of an adapter, such as AiSdk.driver" })
}

/** Whether a hook is there to stop something. It is refused where it cannot be enforced. */
export const mustHold = ({ failOpen, kind, mode, onFailure }: AgentHook<never>): boolean =>
  mode !== "shadow" && (kind === "policy" || failOpen === false || (onFailure ?? "open") !== "open")

const isGap = (reach: Reach): boolean => reach === "observed" || reach === "unreachable"

/** Whether a hook decides at a place. Where it only counts, it has nothing to enforce. */
const decides = (hook: AgentHook<never>, place: Place): boolean =>
  acts(hook, place) && !hook.observes?.some((point) => point === place)

/** What a driver can do that passes every message, request, answer and call to the guard. */
export const wholeLoop: Driver["places"] = {
  onSessionStart: "enforced",
  preTurn: "enforced",
  preLlmCall: "enforced",
  onLlmDelta: "enforced",
  postLlmCall: "enforced",
  wrapLlmCall: "enforced",
  onPermission: "enforced",
  preToolCall: "enforced",
  wrapToolCall: "enforced",
  postToolCall: "enforced",
  onToolDenied: "enforced",
  onBudget: "enforced",
  postStep: "enforced",
  preStop: "enforced",
  postTurn: "enforced",
  revealText: "enforced",
  onSessionEnd: "enforced",
  // Another agent is a tool or a node. A program shortens its own messages, has its own memory and its own signals.
  preDelegation: "absent",
  postDelegation: "absent",
  preCompaction: "absent",
  postCompaction: "absent",
  concealMessages: "absent",
  onSignal: "absent"
}

/**
 * Throws a `ConfigError` that names each hook which must hold at a place where the driver cannot enforce it.
 * `allowUnguarded` has the names of hooks for which that is accepted.
 */
export const checkCovered = (
  guard: Pick<SessionGuard, "chain"> & { readonly allowUnguarded: ReadonlyArray<string> },
  driver: Driver
): void => {
  checkDriver(driver)
  const { allowUnguarded, chain } = Object(guard) as typeof guard
  if (!Array.isArray(allowUnguarded)) {
    throw new ConfigError({ key: "guard", message: `the adapter of ${driver.name}: expected what Guard.make returns` })
  }
  const missing = chain.hooks.filter((hook) => mustHold(hook) && !allowUnguarded.includes(hook.name)).flatMap((hook) =>
    places.filter((place) => decides(hook, place) && isGap(reachOf(driver, place))).map((place) => ({
      hook: hook.name,
      place,
      reach: reachOf(driver, place)
    }))
  )
  if (missing.length === 0) return
  const list = missing.map(({ hook, place, reach }) =>
    `${hook} at ${place} (${reach === "observed" ? "only observed" : "never reached"})`
  )
  const names = [...new Set(missing.map(({ hook }) => hook))]
  throw new ConfigError({
    key: "hooks",
    message: `${driver.name} cannot enforce ${list.join(", ")}. Leave the hook out, run the agent with Belay, ` +
      `or accept the gap: allowUnguarded: [${names.map((name) => JSON.stringify(name)).join(", ")}]`
  })
}
