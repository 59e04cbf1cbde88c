/** Checks the tools that the sender of a message brings. */
import type { ClientTool } from "../../../data/Turn.ts"
import type { GuardedAgent } from "./guardedAgent.ts"

/** Describes why a client cannot bring these tools, or returns nothing. */
export const whyNotClientTools = (
  { tools }: Pick<GuardedAgent, "tools">,
  given: ReadonlyArray<ClientTool>
): string | undefined => {
  const wrong = given.find(({ name }) => !/^[A-Za-z0-9_.-]{1,64}$/.test(name))
  if (wrong !== undefined) return `the name of a tool must be 1 to 64 letters, digits, "_", "-" or "."`
  const taken = given.find(({ name }) => tools.has(name))
  if (taken !== undefined) {
    return `the agent has a tool named "${taken.name}": give the tool of the client another name`
  }
  const twice = given.find(({ name }, index) => given.findIndex((one) => one.name === name) !== index)
  return twice === undefined ? undefined : `two tools of the client are named "${twice.name}": rename one`
}
