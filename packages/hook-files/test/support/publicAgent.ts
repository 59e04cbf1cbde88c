/** A project with settings and scripts as they are published, and an agent that works in it. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { type AgentSession, createAgent } from "@belay/core/createAgent"
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"

import * as HookFiles from "@belay/hook-files/HookFiles"
import { assert } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { calls, type Line, scripted } from "../../../../test/support/agent.ts"
import { folder, write } from "./processes.ts"

/** Tools under the names that Claude Code has for them, and under others that are common. */
const names = [
  ..."Bash Edit Write MultiEdit NotebookEdit Read Glob Grep WebFetch WebSearch Task Agent TodoWrite BashOutput Skill"
    .split(" "),
  ..."run_command write_file read_file edit_file apply_patch mcp__github__create_issue mcp__memory__create_entities mcp__db__query readFile webfetch notebook_edit"
    .split(
      " "
    )
]

export type Call = readonly [name: string, args: Json]

export interface Setup {
  readonly dialect?: "claude" | "codex"
  readonly settings: object
  readonly files?: { readonly [path: string]: string }
  readonly lines: ReadonlyArray<Line>
  readonly options?: HookFiles.Options
  /** What tools answer; an error fails the call. */
  readonly answers?: { readonly [tool: string]: Json | Error }
  readonly policy?: NonNullable<Parameters<typeof createAgent>[0]["policy"]>
  readonly prompts?: ReadonlyArray<string>
  /** Runs after the prompts, before the session ends. */
  readonly during?: (session: AgentSession) => Promise<unknown>
  readonly more?: ReadonlyArray<AnyTool>
}

/** Writes a project down, trusts it, and lets an agent with a scripted model work there. */
export const work = async (
  {
    answers = {},
    dialect = "claude",
    during,
    files = {},
    lines,
    more = [],
    options = {},
    policy,
    prompts = ["go"],
    settings
  }: Setup
) => {
  const root = folder()
  const [cwd, home] = [join(root, "my project"), join(root, "home")]
  write(join(cwd, dialect === "claude" ? ".claude/settings.json" : ".codex/hooks.json"), JSON.stringify(settings))
  for (const [path, content] of Object.entries(files)) {
    write(join(path.startsWith("~/") ? home : cwd, path.replace(/^~\//, "")), content)
  }
  const place = {
    cwd,
    home,
    managed: join(root, "managed"),
    sources: [dialect],
    graceMs: 50,
    projectAllows: true,
    drainMs: 1_000,
    ...options
  }
  for (const { trust } of HookFiles.load(place).untrusted) trust()
  const { hooks, untrusted, warnings: found } = HookFiles.load(place)
  assert.deepEqual(untrusted, [])
  const ran: Array<readonly [string, Json]> = []
  const tools = names.map((name) =>
    defineTool({
      name,
      description: name,
      input: Schema.Record(Schema.String, Schema.Json),
      execute: (args): Json => {
        ran.push([name, args])
        const answer = answers[name] ?? "done"
        if (answer instanceof Error) throw answer
        return answer
      }
    })
  )
  const { provider, requests } = scripted(lines)
  const events: Array<AgentEvent> = []
  await using agent = createAgent({
    provider,
    tools: [...tools, ...more],
    hooks,
    cwd,
    ...(policy === undefined ? {} : { policy })
  })
  agent.on((event) => void events.push(event))
  const session = await agent.session()
  const results: Array<Awaited<ReturnType<typeof session.run>> | Error> = []
  for (const prompt of prompts) results.push(await session.run(prompt).catch((error: unknown) => error as Error))
  await during?.(session)
  await session.close()
  const last = results.at(-1)
  const messages = last === undefined || last instanceof Error ? [] : last.messages
  return {
    cwd,
    home,
    root,
    /** What was wrong with the files. */
    found,
    ran,
    requests,
    results,
    /** What the model reads of its calls. */
    said: messages.filter(({ role }) => role === "tool").map(text),
    /** All texts of a request to the model. */
    heard: (index: number) => requests[index]?.messages.map(text).join("\n") ?? "",
    warnings: events.flatMap((event) => event.type === "warning" ? [event.message] : []),
    notices: events.flatMap((event) => event.type === "notice" ? [event.message] : []),
    events
  }
}

export const command = (line: string, more: object = {}) => ({ type: "command", command: line, ...more })

/** What became of a call: it ran (maybe with other arguments), was refused, or waits for a person. */
export type Verdict =
  | { readonly is: "ran"; readonly args: Json }
  | { readonly is: "blocked"; readonly reason: string }
  | { readonly is: "asked"; readonly reason: string }
  | { readonly is: "stopped"; readonly reason: string }

/** One call under hooks of one event. */
export const decide = async (
  setup: Omit<Setup, "lines" | "settings"> & {
    readonly call?: Call
    readonly hooks: ReadonlyArray<object>
    readonly matcher?: string
  }
): Promise<
  Verdict & {
    readonly warnings: ReadonlyArray<string>
    readonly notices: ReadonlyArray<string>
    readonly heard: string
  }
> => {
  const { call = ["Bash", { command: "ls" }], hooks, matcher, ...rest } = setup
  const group = { ...(matcher === undefined ? {} : { matcher }), hooks }
  const found = await work({ ...rest, settings: { hooks: { PreToolUse: [group] } }, lines: [calls(call)] })
  const { notices, ran, said, warnings } = found
  const told = { warnings: [...found.found.map(({ reason }) => reason), ...warnings], notices, heard: found.heard(1) }
  const result = found.results[0]!
  if (result instanceof Error) return { is: "stopped", reason: String(result), ...told }
  if (result.status === "suspended") return { is: "asked", reason: result.pending[0]!.reason, ...told }
  if (ran.length > 0) return { is: "ran", args: ran[0]![1], ...told }
  return result.status === "completed"
    ? { is: "blocked", reason: said[0] ?? "", ...told }
    : { is: "stopped", reason: JSON.stringify(result), ...told }
}
