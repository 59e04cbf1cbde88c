/**
 * Options of the Claude Agent SDK with the guard of Belay. The last lines play the part of the SDK for one tool call.
 */
import { defineHook, HookAction } from "@belay/core"
import { Guard } from "@belay/guard"
import * as ClaudeAgent from "@belay/guard/ClaudeAgent"

type Callback = (input: object, id: string, options: { readonly signal: AbortSignal }) => Promise<object>
interface Hooks {
  readonly PreToolUse?: ReadonlyArray<{ readonly hooks: ReadonlyArray<Callback> }>
}

const careful = defineHook({ name: "careful", tools: "Bash", preToolCall: () => HookAction.ask("really?") })
const guarded = ClaudeAgent.make(Guard.make({ hooks: [careful] }), { approvedBy: "you" })

// With the SDK: query({ prompt: "Tidy up", options })
const options = guarded.options({
  hooks: {} as Hooks,
  canUseTool: (tool: string, input: object, { decisionReason }: { readonly decisionReason?: string }) => {
    console.log(`asked about ${tool} ${JSON.stringify(input)}: ${decisionReason}`)
    return Promise.resolve({ behavior: "allow" })
  }
})

const call = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "1" }
const { signal } = new AbortController()
for (const { hooks } of options.hooks.PreToolUse ?? []) console.log(await hooks[0]?.(call, "1", { signal }))
