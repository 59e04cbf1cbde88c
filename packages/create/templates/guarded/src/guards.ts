/** What the agent may do. */
import { defineHook, HookAction } from "@belay/core"
import { Approval, LoopDetector, PromptInjection, ProtectedPaths, Secrets } from "@belay/hooks"

/** Commands that nobody should approve by accident. */
export const noForce = defineHook({
  name: "no-force",
  kind: "policy",
  tools: "Bash",
  preToolCall: ({ args }) =>
    /\s--force\b|\brm\s+-rf\b/.test(JSON.stringify(args)) ? HookAction.reject("that cannot be undone") : undefined
})

export const guards = [
  noForce,
  Secrets.make(),
  PromptInjection.make(),
  ProtectedPaths.make(),
  LoopDetector.make(),
  Approval.make({ tools: ["Write", "Edit", "Bash"] })
]
