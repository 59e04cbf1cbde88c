/** The tools of the plain agent of `belay chat`, and the hooks that guard them. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import * as Approval from "@belay/hooks/Approval"
import * as PromptInjection from "@belay/hooks/PromptInjection"
import * as ProtectedPaths from "@belay/hooks/ProtectedPaths"
import * as Bash from "@belay/tools/Bash"
import * as Toolset from "@belay/tools/Toolset"
import * as WebFetch from "@belay/tools/WebFetch"

/** Without a choice the agent has no tools. */
export const toolsOf = (choice: "read" | "all" | undefined): Pick<AgentConfig, "tools" | "hooks"> => {
  const guards = [PromptInjection.make(), ProtectedPaths.make()]
  if (choice === undefined) return {}
  if (choice === "read") return { tools: Toolset.reading(), hooks: guards }
  return {
    tools: [...Toolset.files(), Bash.make(), WebFetch.make()],
    hooks: [...guards, Approval.make({ tools: ["Write", "Edit", "Bash", "WebFetch"] })]
  }
}
