/** Calls tools through an agent, as a model does. */
import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import type { AnyTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as Scripted from "@belay/testing/Scripted"
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

export const newFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "belay-tools-")))

/** A new folder with these files. */
export const folderWith = (files: { readonly [path: string]: string }): string => {
  const folder = newFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

export interface Used {
  readonly isError: boolean
  readonly text: string
}

export type Call = readonly [name: string, args: Json]

/** Calls tools in one answer of the model, and returns their results in order. */
export const useTools = async (
  cwd: string,
  tools: ReadonlyArray<AnyTool>,
  calls: ReadonlyArray<Call>,
  hooks: ReadonlyArray<AgentHook> = [],
  signal?: AbortSignal
): Promise<ReadonlyArray<Used>> => {
  const provider = Scripted.make([Scripted.toolCalls(...calls.map(([name, args]) => ({ name, args }))), "done"])
  await using agent = createAgent({ provider, tools, hooks, cwd, log: false })
  const { messages } = await agent.run("go", signal === undefined ? {} : { signal })
  return messages.flatMap((message) =>
    message.role === "tool" ?
      [{ isError: message.isError === true, text: text(message) }]
      : []
  )
}

/** Calls one tool. */
export const useTool = async (cwd: string, tool: AnyTool, args: Json, hooks?: ReadonlyArray<AgentHook>) =>
  (await useTools(cwd, [tool], [[tool.name, args]], hooks))[0]!
