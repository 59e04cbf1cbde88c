/** Who answers when a tool needs approval: the person at the terminal, or what `--approve` says beforehand. */
import type * as Approval from "@belay/hooks/Approval"
import * as TerminalApproval from "@belay/hooks/TerminalApproval"

/** What `--approve` may say. */
export type Mode = "ask" | "allow" | "deny"

/** Makes the answerer. */
export const asker = (
  mode: Mode,
  terminal: TerminalApproval.Terminal
): (request: Approval.Request) => Approval.Answer | Promise<Approval.Answer> => {
  if (mode === "allow") return () => ({ type: "approve" })
  if (mode === "deny") return () => ({ type: "deny", reason: "denied by --approve deny" })
  return TerminalApproval.ask({
    terminal,
    nobody: "nobody is at a terminal to approve it (answer beforehand with --approve allow or --approve deny)"
  })
}
