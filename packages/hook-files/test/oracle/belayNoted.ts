/** Runs a setting through Belay, with a scripted model and a tool that runs commands. */
import { createAgent } from "@belay/core/createAgent"
import { type LlmRequest, textResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import * as Command from "@belay/hook-files/Command"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Bash from "@belay/tools/Bash"
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type NotedOutcome, type NotedSetting, printed, wordsIn } from "./setting.ts"

const ended = (more: Partial<Command.Finished>): Command.Finished => ({
  exitCode: 0,
  stdout: "",
  stderr: "",
  timedOut: false,
  overflowed: false,
  durationMs: 1,
  ...more
})

/** Runs `./note WORD` as the program in the project does. */
const notes = (log: Array<string>): Command.Runner => ({ command }) =>
  Effect.sync(() => {
    const [, word] = /\bnote (\w+)/.exec(command) ?? []
    if (word === undefined) return ended({ exitCode: 127, stderr: "not found" })
    log.push(`note ${word}`)
    return word === "fail" ? ended({ exitCode: 1, stderr: "w-failed" }) : ended({ stdout: `w-ran-${word}\n` })
  })

/** Runs a setting of a system in a new folder. */
export const runNotedInBelay = async (
  system: "codex" | "gemini",
  setting: NotedSetting,
  root: string
): Promise<NotedOutcome> => {
  const [cwd, home] = [join(root, "project"), join(root, "home")]
  const [path, content] = setting.file((index) => `hook ${index}`)
  for (const folder of [dirname(join(cwd, path)), home]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(cwd, path), content)

  const [hooks, ran, requests]: [Array<number>, Array<string>, Array<LlmRequest>] = [[], [], []]
  const run: Command.Runner = (request) => {
    const [, number] = /hook (\d+)$/.exec([request.command, ...request.args ?? []].join(" ")) ?? []
    if (number === undefined) return Command.run(request)
    return Effect.sync(() => {
      hooks.push(Number(number))
      const answer = setting.answers[Number(number)]!
      return ended({ exitCode: answer.code ?? 0, stdout: printed(answer), stderr: answer.stderr ?? "" })
    })
  }
  const complete: LlmProvider["complete"] = (request) =>
    Effect.sync(() => {
      const word = setting.words[requests.push(request) - 1]
      if (word === undefined) return textResponse("w-answer")
      const toolCalls = [{ id: `call_${requests.length}`, name: "Bash", args: { command: `./note ${word}` } }]
      return { ...textResponse(""), toolCalls, finishReason: "tool-calls" as const }
    })
  const options: HookFiles.Options = {
    cwd,
    home,
    trust: join(home, "trust"),
    transcripts: join(home, "transcripts"),
    sources: [system],
    projectAllows: true,
    run
  }
  HookFiles.load(options).untrusted[0]?.trust()
  await using agent = createAgent({
    provider: { name: "scripted", complete },
    tools: [Bash.make({ run: notes(ran) })],
    hooks: HookFiles.load(options).hooks,
    cwd,
    log: false
  })
  await agent.run("guard me").catch(() => undefined)
  await agent.close()
  const read = requests.flatMap(({ messages }) => messages.filter(({ role }) => role !== "assistant").map(text))
  return { hooks: hooks.sort((a, b) => a - b), ran, read: wordsIn(read.join("\n")), requests: requests.length }
}
