/** Skills in new folders, and agents that use them. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import { type Message, text } from "@belay/core/Message"
import * as Scripted from "@belay/testing/Scripted"
import * as Skills from "@belay/tools/Skills"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Call } from "./useTool.ts"
import { newFolder } from "./useTool.ts"

export interface Place {
  readonly home: string
  readonly cwd: string
}

/** A home folder, and a project in it. */
export const newPlace = (): Place => {
  const home = newFolder()
  const cwd = join(home, "project")
  mkdirSync(cwd)
  return { home, cwd }
}

export const put = (path: string, content: string | Uint8Array): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

/** The text of a `SKILL.md`. */
export const skillText = (fields: { readonly [key: string]: string }, body = "Do it."): string =>
  `---\n${
    Object.entries({ description: "Does things", ...fields }).map(([key, value]) => `${key}: ${value}\n`).join("")
  }---\n${body}\n`

/** Puts a skill into a folder of skills of the user. Returns its folder. */
export const userSkill = (
  { home }: Place,
  name: string,
  fields: { readonly [key: string]: string } = {},
  body?: string
): string => dirname(put(join(home, ".agents", "skills", name, "SKILL.md"), skillText(fields, body)))

/** Puts a skill into the project. Returns its folder. */
export const projectSkill = (
  { cwd }: Place,
  name: string,
  fields: { readonly [key: string]: string } = {},
  body?: string
): string => dirname(put(join(cwd, ".claude", "skills", name, "SKILL.md"), skillText(fields, body)))

export const loadAt = (place: Place, options: Skills.Options = {}) => Skills.load({ ...place, ...options })

/** Trusts everything in the project, and loads again. */
export const trustAll = (place: Place, options: Skills.Options = {}) => {
  for (const one of loadAt(place, options).untrusted) one.trust()
  return loadAt(place, options)
}

/** Tools that note what ran. */
export const notingTools = (ran: Array<string>): ReadonlyArray<AnyTool> => [
  ...["Read", "Write", "Bash", "deploy"].map((name) =>
    defineTool({
      name,
      description: name,
      input: { type: "object" } as const,
      execute: (args: Json) => {
        ran.push(`${name} ${JSON.stringify(args)}`)
        return "ok"
      }
    })
  )
]

export interface Ran {
  readonly ran: ReadonlyArray<string>
  /** The texts of the results, in order. */
  readonly results: ReadonlyArray<string>
  readonly requests: Scripted.Scripted["requests"]
}

export const resultsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<string> =>
  messages.flatMap((message) => message.role === "tool" ? [text(message)] : [])

/** One agent. Each turn is a list of steps, and each step a list of calls. */
export const run = async (
  place: Place,
  tools: ReadonlyArray<AnyTool>,
  turns: ReadonlyArray<ReadonlyArray<ReadonlyArray<Call>>>,
  config: Partial<AgentConfig> = {}
): Promise<Ran> => {
  const ran: Array<string> = []
  const provider = Scripted.make(
    turns.flatMap((steps) => [
      ...steps.map((calls) => Scripted.toolCalls(...calls.map(([name, args]) => ({ name, args })))),
      "done"
    ])
  )
  await using agent = createAgent({
    provider,
    cwd: place.cwd,
    log: false,
    ...config,
    tools: [...notingTools(ran), ...tools, ...(config.tools ?? [])]
  })
  const session = await agent.session()
  const results: Array<string> = []
  let messages: ReadonlyArray<Message> = []
  for (const _ of turns) messages = (await session.run("go")).messages
  results.push(...resultsOf(messages))
  return { ran, results, requests: provider.requests }
}

export const loadCall = (name: string): Call => ["load_skill", { name }]
