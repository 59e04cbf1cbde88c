/** What the guard can do at each point of a system. */
import type { Driver } from "@belay/guard/Coverage"
import type { Meaning, Wire, WireEvent } from "@belay/hook-files/Wires"

/** Returns the driver of a system, from the answers that it obeys. */
export const driverOf = ({ events, system, tools }: Wire): Driver => {
  const rows = (means: Meaning): ReadonlyArray<WireEvent> => Object.values(events).filter((row) => row.means === means)
  const obeys = (means: Meaning, ...answers: ReadonlyArray<keyof WireEvent>) => {
    const found = rows(means)
    if (found.length === 0) return "unreachable" as const
    return found.every((row) => answers.some((answer) => row[answer] !== undefined)) ? "enforced" as const : "observed"
  }
  const calls = obeys("toolCall", "deny")
  return {
    name: system,
    places: {
      onSessionStart: obeys("userMessage", "deny", "stop"),
      preTurn: obeys("userMessage", "deny", "stop"),
      onPermission: calls,
      preToolCall: calls,
      onToolDenied: calls,
      postToolCall: rows("toolResult").some(({ resultOf }) => resultOf !== undefined)
        ? "observed"
        : obeys("toolResult", "result"),
      // The tool that starts another agent is a call.
      preDelegation: Object.values(tools).includes("Agent") || system === "claude" ? calls : "absent",
      preStop: obeys("stop", "again", "stop"),
      preCompaction: obeys("compaction", "deny"),
      onSessionEnd: rows("sessionEnd").length === 0 ? "unreachable" : "enforced",
      postTurn: "observed",
      concealMessages: "absent",
      onSignal: "absent"
    }
  }
}
