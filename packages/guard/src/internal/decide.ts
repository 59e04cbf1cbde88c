/** Answers of people to the questions of the guard. */
import type { GuardSession } from "@belay/core/Driver"
import type { Decision } from "@belay/core/RunState"
import type { ToolCallVerdict } from "@belay/core/Verdict"
import type { Injected } from "./injected.ts"

/**
 * Decides the question about a call. If the answer does not count, the call does not run: the question stays open for
 * those who may decide it. `asked` is what hooks have injected with the question, for SDKs that show it with the call.
 */
export const decide = async (
  session: GuardSession,
  id: string,
  decision: Decision,
  asked: Injected = []
): Promise<ToolCallVerdict> => {
  const verdict = await answered(session, id, decision)
  return asked.length === 0 ? verdict : { ...verdict, context: [...asked, ...verdict.context] }
}

const answered = async (session: GuardSession, id: string, decision: Decision): Promise<ToolCallVerdict> => {
  try {
    return await session.decide(id, decision)
  } catch (error) {
    if (!(error instanceof Error) || !("problem" in error)) throw error
    const reason = decision.type === "deny" ? decision.reason : `not run: ${error.message}`
    return { type: "deny", by: "runtime", reason, context: [] }
  }
}
