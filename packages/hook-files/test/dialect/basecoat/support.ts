/** An agent whose hook is of Base Coat, with hooks of code. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as BaseCoat from "@belay/hook-files/BaseCoat"
import { calls, type Line, recording, scripted } from "../../../../../test/support/agent.ts"
import { folder } from "../../support/processes.ts"

export const bash = (command: string) => calls(["bash", { command }])
export const events = [
  "SessionStart",
  "SessionEnd",
  "PreToolUse",
  "PostToolUse",
  "PreCompact",
  "PostCompact",
  "OnError",
  "OnBudgetExceeded"
] as const

/** A tool whose calls fail with the message in their arguments. */
const failing = defineTool({
  name: "fail",
  description: "fails",
  input: { type: "object" },
  execute: (args) => {
    throw new Error((args as { readonly why: string }).why)
  }
})

/** An agent with hooks of code, and everything that they read. */
export const world = (
  lines: ReadonlyArray<Line>,
  options: Partial<BaseCoat.Options> = {},
  config: Partial<AgentConfig> = {}
) => {
  const runtime = BaseCoat.runtime()
  const { ran, tools } = recording()
  const { provider, requests } = scripted(lines)
  const warnings: Array<string> = []
  const sent: Array<{ readonly name: string; readonly payload: { readonly [key: string]: Json } }> = []
  const { hooks = [], tools: more = [], ...rest } = config
  const agent = createAgent({
    provider,
    cwd: folder(),
    ...rest,
    tools: [...tools, failing, ...more],
    hooks: [BaseCoat.make({ runtime, projectDir: "/", ...options }), ...hooks]
  })
  agent.on((event) => {
    if (event.type === "warning") warnings.push(event.message)
    if (event.type === "custom") sent.push({ name: event.name, payload: event.payload as never })
  })
  const heard: Array<BaseCoat.Envelope> = []
  const hear = (event: BaseCoat.EventName, answer?: BaseCoat.Response, options?: BaseCoat.RegisterOptions) =>
    runtime.hooks.register(event, (envelope) => {
      heard.push(envelope)
      return answer
    }, options)
  return { agent, runtime, ran, requests, warnings, sent, heard, hear, register: runtime.hooks.register }
}

export const asked = (messages: ReadonlyArray<Parameters<typeof text>[0]>) => messages.map(text).join("\n")
