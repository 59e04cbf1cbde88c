/** An agent with stored hooks, and what its tools, its model and its listeners received. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as Inkeep from "@belay/hook-files/Inkeep"
import { type Line, recording, scripted } from "../../../../../test/support/agent.ts"

/** A definition and its attachment at once; a text is stored code, a function runs in process. */
export type Hook = {
  readonly at: Inkeep.HookPoint
  readonly does: string | ((ctx: Inkeep.Context) => unknown)
} & Partial<Omit<Inkeep.Attachment, "hookDefinitionId" | "hookPoint">>

export const project = { _tag: "project" } as const

export const world = (
  hooks: ReadonlyArray<Hook>,
  lines: ReadonlyArray<Line>,
  options: Partial<Inkeep.Options> = {},
  config: Partial<AgentConfig> = {}
) => {
  const definitions = hooks.map(({ does }, index): Inkeep.Definition =>
    typeof does === "string"
      ? { id: `d${index}`, executeCode: `export default async (ctx) => { ${does} }` }
      : { id: `d${index}`, execution: "in-process", run: (ctx) => does(ctx) as Json }
  )
  const attachments = hooks.map(({ at, does: _does, ...more }, index): Inkeep.Attachment => ({
    scope: project,
    ...more,
    hookDefinitionId: `d${index}`,
    hookPoint: at
  }))
  const { ran, tools } = recording()
  const took: Array<Json> = []
  const take = defineTool({
    name: "take",
    description: "takes anything",
    input: { type: "object" },
    execute: (args) => {
      took.push(args as Json)
      const { answer } = args as { readonly answer?: Json }
      if (answer === "fail") throw new Error("no such table")
      return answer ?? "taken"
    }
  })
  const { provider, requests } = scripted(lines)
  const warnings: Array<string> = []
  const events: Array<unknown> = []
  const { hooks: more = [], tools: others = [], ...rest } = config
  const agent = createAgent({
    provider,
    cwd: "/p",
    ...rest,
    tools: [...tools, take, ...others],
    hooks: [Inkeep.make({ definitions, attachments, ...options }), ...more]
  })
  agent.on((event) => {
    events.push(event)
    if (event.type === "warning") warnings.push(event.message)
  })
  return { agent, ran, took, requests, warnings, events }
}

/** The results of tools, as the model read them. */
export const said = (messages: ReadonlyArray<Parameters<typeof text>[0]>): ReadonlyArray<string> =>
  messages.filter(({ role }) => role === "tool").map(text)
