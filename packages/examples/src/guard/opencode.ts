/** A plugin of opencode with the guard of Belay. The last lines play the part of opencode, to show what it answers. */
import { defineHook, HookAction } from "@belay/core"
import { Guard } from "@belay/guard"
import * as OpenCode from "@belay/guard/OpenCode"

const careful = defineHook({
  name: "careful",
  preToolCall: ({ args }) => String(Object(args).command).includes("rm ") ? HookAction.reject("rm is off") : undefined,
  postToolCall: ({ result }) =>
    result.ok && JSON.stringify(result.output).includes("sk-")
      ? HookAction.transform({ ok: true, output: "[a key]" })
      : undefined
})
export const BelayGuard = OpenCode.make(Guard.make({ hooks: [careful] }))

const hooks = await BelayGuard({ client: { session: { get: ({ path }) => Promise.resolve({ data: path }) } } })
const call = { tool: "bash", sessionID: "ses_1" }
await hooks["tool.execute.before"]({ ...call, callID: "1" }, { args: { command: "rm -r notes" } })
  .catch((error: unknown) => console.log(String(error)))

const args = { command: "cat .env" }
await hooks["tool.execute.before"]({ ...call, callID: "2" }, { args })
const result = { title: "cat .env", output: "KEY=sk-4711", metadata: {} }
await hooks["tool.execute.after"]({ ...call, callID: "2", args }, result)
console.log("the model reads:", result.output)
await hooks.dispose()
