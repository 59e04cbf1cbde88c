/** Runs a setting through Belay: its hook files, an agent with a scripted model, and tools of Claude Code's names. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import type { Json } from "@belay/core/Json"
import { type LlmRequest, textResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import { unrestricted } from "@belay/core/Tool"
import * as Command from "@belay/hook-files/Command"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Bash from "@belay/tools/Bash"
import * as Toolset from "@belay/tools/Toolset"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Call, type Outcome, printed, type Setting, settingsFiles, wordsIn } from "./setting.ts"

/** What an entry has read. */
export interface Told {
  readonly index: number
  readonly payload: { readonly [field: string]: unknown }
}

/** The files of the project of every setting. */
export const files: { readonly [name: string]: string } = { "notes.txt": "w-note\n" }

/** What the tools have done: the commands that `log` has, and files that differ from those of the project. */
export const done = (cwd: string, log: ReadonlyArray<string>): ReadonlyArray<string> => {
  const changed = [...Object.keys(files), "new.txt"].filter((name) => {
    const path = join(cwd, name)
    return existsSync(path) && readFileSync(path, "utf8") !== files[name]
  })
  return [...log, ...changed]
}

const ended = (more: Partial<Command.Finished>): Command.Finished => ({
  exitCode: 0,
  stdout: "",
  stderr: "",
  timedOut: false,
  overflowed: false,
  durationMs: 1,
  ...more
})

/** Runs `note WORD` as the program in the project does. */
const notes = (log: Array<string>): Command.Runner => ({ command }) =>
  Effect.sync(() => {
    const [ran, word] = /\bnote (\w+)/.exec(command) ?? []
    if (ran === undefined) return ended({ exitCode: 127, stderr: "not found" })
    log.push(ran)
    return word === "fail" ? ended({ exitCode: 1, stderr: "w-failed" }) : ended({ stdout: `w-ran-${word}\n` })
  })

/** A model that makes the calls of each step, and then says that it is done. */
const modelOf = (
  steps: ReadonlyArray<ReadonlyArray<Call>>,
  idOf: string,
  says: string
): { readonly provider: LlmProvider; readonly requests: Array<LlmRequest> } => {
  const requests: Array<LlmRequest> = []
  const complete: LlmProvider["complete"] = (request) =>
    Effect.sync(() => {
      const step = steps[requests.push(request) - 1]
      if (step === undefined) return textResponse(says)
      const toolCalls = step.map(({ input, tool }, index) => ({
        id: `${idOf}_${requests.length}_${index}`,
        ...(tool === "Agent"
          ? { name: "general-purpose", args: { message: String(input["prompt"]) } }
          : { name: tool, args: input as Json })
      }))
      return { ...textResponse(""), toolCalls, finishReason: "tool-calls" as const }
    })
  return { provider: { name: "scripted", complete }, requests }
}

const wordsOf = (requests: ReadonlyArray<LlmRequest>): ReadonlyArray<string> =>
  wordsIn(requests.flatMap(({ messages }) => messages.filter(({ role }) => role !== "assistant").map(text)).join("\n"))

/** Runs a setting in a new folder, and returns its outcome, and what its entries have read. */
export const runInBelay = async (
  setting: Setting,
  root: string
): Promise<{ readonly outcome: Outcome; readonly told: ReadonlyArray<Told> }> => {
  const [cwd, home] = [join(root, "project"), join(root, "home")]
  mkdirSync(join(cwd, ".claude"), { recursive: true })
  mkdirSync(join(home, ".claude"), { recursive: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content)
  for (const [path, content] of settingsFiles(setting, { cwd, home }, (index) => `hook ${index}`)) {
    writeFileSync(path, JSON.stringify(content))
  }

  const [told, log]: [Array<Told>, Array<string>] = [[], []]
  const run: Command.Runner = (request) => {
    const [, number] = /^hook (\d+)$/.exec(request.command) ?? []
    if (number === undefined) return Command.run(request)
    return Effect.sync(() => {
      told.push({ index: Number(number), payload: JSON.parse(request.input) })
      const { answer = {} } = setting.entries[Number(number)]!
      return ended({ exitCode: answer.code ?? 0, stdout: printed(answer), stderr: answer.stderr ?? "" })
    })
  }
  const options: HookFiles.Options = {
    cwd,
    home,
    trust: join(home, "trust"),
    transcripts: join(home, "transcripts"),
    managed: join(root, "managed"),
    sources: ["claude"],
    projectAllows: true,
    run
  }
  HookFiles.load(options).untrusted[0]?.trust()
  const tools = [...Toolset.files(), Bash.make({ run: notes(log) })]
  const [lead, other] = [modelOf(setting.steps, "lead", "w-answer"), modelOf(setting.child, "child", "w-done")]
  const child = createAgent({ name: "general-purpose", provider: other.provider, tools, cwd })
  await using agent = createAgent({
    provider: lead.provider,
    tools: [...tools, agentTool({ name: "general-purpose", description: "Does what is left", agent: child })],
    hooks: HookFiles.load(options).hooks,
    cwd,
    // As the program does when nobody watches it.
    onAsk: ({ reason }) => ({ type: "deny", reason }),
    log: false,
    ...(setting.isAllowed ? {} : {
      policy: {
        check: ({ name }) =>
          ["Bash", "Edit", "Write"].includes(name)
            ? { type: "ask", reason: "it changes something", grant: unrestricted }
            : { type: "allow", grant: unrestricted }
      }
    })
  })
  await agent.run("guard me").catch(() => undefined)
  await agent.close()
  return {
    told,
    outcome: {
      hooks: told.map(({ index }) => index).sort((a, b) => a - b),
      ran: done(cwd, log),
      read: wordsOf(lead.requests),
      child: wordsOf(other.requests),
      requests: lead.requests.length
    }
  }
}
