/** What the agent may do. */
import {
  Approval,
  DataFlow,
  defineHook,
  HookAction,
  LoopDetector,
  PromptInjection,
  ProtectedPaths,
  Secrets
} from "@belay/sdk"

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
  // Asks when a command or a path comes from what the agent has read, and not from you.
  DataFlow.coding(),
  Secrets.make(),
  PromptInjection.make(),
  ProtectedPaths.make(),
  LoopDetector.make(),
  Approval.make({ tools: ["Write", "Edit", "Bash"] })
]
