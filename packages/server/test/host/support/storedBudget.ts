/** What the sessions of a storm have spent. */
import { createAgent } from "@belay/core/createAgent"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Budget from "@belay/hooks/Budget"
import * as Scripted from "@belay/testing/Scripted"

/** It is never reached. */
export const limits: ReadonlyArray<Budget.Limit> = [{ scope: "session", money: 1_000, tokens: 1_000_000 }]

/** Returns the account of each session. */
export const accountsOf = async (sessions: SessionStore, ids: ReadonlyArray<string>) => {
  await using agent = createAgent({ provider: Scripted.make([]), store: sessions, log: false })
  const found = []
  for (const id of ids) {
    const session = await agent.session({ id })
    found.push(session.state.get(Budget.accounts("budget"))["0"]?.account)
    await session.release()
  }
  return found
}
