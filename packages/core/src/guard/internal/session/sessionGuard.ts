/** Makes the sessions of a guard. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ChainError, ConfigError } from "../../../data/AgentError.ts"
import { checkKinds, invalidOption, type OptionKinds } from "../../../data/option/OptionCheck.ts"
import { oneLine } from "../../../data/text/ErrorMessage.ts"
import type { GuardOptions, GuardSession, GuardSessionOptions, SessionGuard } from "../../Driver.ts"
import { loggingOf } from "../platform/logging.ts"
import { Conversation } from "./conversation.ts"
import { GuardedSession } from "./guardedSession.ts"
import { sessionAgentOf } from "./sessionAgent.ts"
import type { SessionOptions } from "./sessionOptions.ts"

/** The options of a session. */
export const sessionKinds: OptionKinds<GuardSessionOptions> = {
  id: "text",
  driver: "text",
  seesRequests: "flag",
  agent: "text",
  parent: "object",
  parentCall: "text",
  cwd: "text"
}

/** Checks the options, and makes the guard. */
export const guardOf = (given: GuardOptions): Result.Result<SessionGuard, ConfigError | ChainError> =>
  Result.gen(function*() {
    const { agent, warnings } = yield* sessionAgentOf(given)
    const { followUps = 8, llm, log, seesRequests = true } = given
    const logging = loggingOf(log)
    for (const warning of warnings) Effect.runSyncWith(logging)(Effect.logWarning(oneLine(warning)))
    const open = new Map<string, GuardedSession>()
    const options: SessionOptions = { logging, followUps, forget: (id) => open.delete(id) }
    const session = (asked: GuardSessionOptions = {}): GuardSession => {
      const { agent: name = "agent", cwd = agent.cwd, driver, id, parent, parentCall, seesRequests: sees } =
        checkedSession(
          asked
        )
      const above = parent === undefined ? undefined : ownSession(parent)
      // A host that asks for the same conversation twice gets the same one, so that no question is lost between them.
      const known = id === undefined ? undefined : open.get(id)
      if (known !== undefined) return known
      const depth = above === undefined ? 0 : above.conversation.agent.info.depth + 1
      const made = new GuardedSession(
        new Conversation({
          agent: {
            ...agent,
            cwd,
            core: driver === undefined ? agent.core : { coreType: driver },
            info: { name, depth, invokedBy: above === undefined ? "main" : "subagent" }
          },
          driver: { llm },
          id: id ?? crypto.randomUUID(),
          seesRequests: sees ?? seesRequests,
          parent: above?.conversation,
          parentCall
        }),
        options
      )
      open.set(made.id, made)
      return made
    }
    return {
      chain: agent.chain,
      warnings,
      session,
      listen: (listener, types) => agent.hub.listen(listener, types)
    }
  })

/** Throws a `ConfigError` if the options are wrong. */
const checkedSession = (options: GuardSessionOptions): GuardSessionOptions => {
  Result.getOrThrow(checkKinds("session", options, sessionKinds))
  if (options.id === "") Result.getOrThrow(invalidOption("session.id", "expected a text that is not empty"))
  return options
}

const ownSession = (parent: GuardSession): GuardedSession => {
  if (parent instanceof GuardedSession) return parent
  return Result.getOrThrow(invalidOption("session.parent", "expected a session of a guard"))
}
