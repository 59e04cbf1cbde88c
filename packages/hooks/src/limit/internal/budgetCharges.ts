/** The accounts that a call is charged to: in the state of the conversation, and in the ledger. */
import { portEffect } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import * as Effect from "effect/Effect"
import * as Ledger from "../Ledger.ts"
import type { Rule } from "./budgetRules.ts"
import { ownAccounts, owners } from "./budgetState.ts"

/** Accounts that are changed together, with the rules that they are for. */
export interface Charge {
  readonly rules: ReadonlyArray<Rule>
  /**
   * Changes the accounts: at once in the state of the conversation, and with an Effect in a ledger. Without `isKept`,
   * or if it returns true for the results, the changed accounts are stored.
   */
  readonly update: <A>(
    change: Change<A>,
    isKept?: (results: ReadonlyArray<A>) => boolean
  ) => ReadonlyArray<A> | Effect.Effect<ReadonlyArray<A>, unknown>
}

/** Changes an account, and returns a result with the changed account. */
type Change<A> = (before: Ledger.Account, rule: Rule) => readonly [A, Ledger.Account]

/** The part of a context that identifies the accounts of a hook. */
type Identity = Pick<HookContext, "hook" | "state"> & { readonly root: Pick<HookContext["root"], "turnNumber"> }

/** Returns the accounts of a call: first those of the conversation together, then each of the ledger. */
export const chargesOf = (
  rules: ReadonlyArray<Rule>,
  ledger: Ledger.Ledger,
  { hook, root: { turnNumber }, state }: Identity,
  now: number
): ReadonlyArray<Charge> => {
  const localRules = rules.every(({ isLocal }) => isLocal) ? rules : rules.filter(({ isLocal }) => isLocal)
  const spanOf = (rule: Rule): string => rule.scope === "run" ? `#${turnNumber}` : windowOf(rule, now)
  const local: Charge = {
    rules: localRules,
    update: (change, isKept = always) => changeLocal({ hook, state }, localRules, spanOf, change, isKept)
  }
  if (localRules === rules) return [local]
  const ownerOf = state.get(owners(hook))
  const shared = rules.flatMap((rule): ReadonlyArray<Charge> => {
    const owner = rule.isLocal ? undefined : ownerOf[rule.index]
    if (owner === undefined) return []
    const account = accountOf(rule, owner, now)
    return [{
      rules: [rule],
      update: (change, isKept = always) =>
        Effect.map(
          portEffect("update of the ledger", () =>
            ledger.update(account, (before) => {
              const [result, after] = change(before, rule)
              return [result, isKept([result]) ? after : before]
            })),
          (result) => [result]
        )
    }]
  })
  return localRules.length === 0 ? shared : [local, ...shared]
}

const always = (): boolean => true

/** Reads an account. */
export const accountIn = (ledger: Ledger.Ledger, account: string): Effect.Effect<Ledger.Account, unknown> =>
  portEffect("update of the ledger", () => ledger.update(account, (before) => [before, before]))

/** The name of the account of an owner. It has the window, so that each window has its own account. */
export const accountOf = (rule: Pick<Rule, "scope" | "windowMs">, owner: string, now: number): string =>
  `${rule.scope}:${owner}${windowOf(rule, now)}`

const windowOf = ({ windowMs }: Pick<Rule, "windowMs">, now: number): string =>
  windowMs === undefined ? "" : `@${Math.floor(now / windowMs)}`

/** Changes the accounts that are stored with the conversation, in one write. */
const changeLocal = <A>(
  { hook, state }: Pick<Identity, "hook" | "state">,
  rules: ReadonlyArray<Rule>,
  spanOf: (rule: Rule) => string,
  change: Change<A>,
  isKept: (results: ReadonlyArray<A>) => boolean
): ReadonlyArray<A> => {
  const key = ownAccounts.keyOf(hook)
  const all = { ...state.get(key) }
  const results = rules.map((rule) => {
    const stored = all[rule.index]
    const span = spanOf(rule)
    const [result, account] = change(stored?.span === span ? stored.account : Ledger.empty, rule)
    all[rule.index] = { span: stored?.span === span ? stored.span : span, account }
    return result
  })
  if (isKept(results)) state.set(key, ownAccounts.made(all))
  return results
}
