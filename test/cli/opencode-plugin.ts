/** A plugin of opencode, with the hooks that the other programs have in their config. */
import { Guard } from "@belay/guard"
import * as OpenCode from "@belay/guard/OpenCode"
import { DataFlow, PermissionRules } from "@belay/hooks"
import { defineHook, HookAction } from "@belay/sdk"

const two = defineHook({
  name: "two",
  preToolCall: (call, ctx) => {
    const { command } = Object(call.args)
    if (command !== "echo one > echoed.txt") return undefined
    ctx.inject("be careful")
    return HookAction.transform({ ...call, args: { ...Object(call.args), command: "echo two > echoed.txt" } })
  }
})

export const BelayGuard = OpenCode.make(
  Guard.make({
    hooks: [
      two,
      DataFlow.coding({ sinks: { task: "local" } }),
      PermissionRules.make({ otherwise: "allow", deny: ["bash(git push*)"] })
    ],
    tools: [{ name: "task" }],
    allowUnguarded: ["data-flow"],
    log: false
  })
)
