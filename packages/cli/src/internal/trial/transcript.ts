/** Writes a transcript of the messages before the event, in a temporary folder. */
import type { Occasion } from "@belay/hook-files/Guide"
import * as Transcript from "@belay/hook-files/Transcript"
import { join } from "node:path"
import { type Facts, isAboutTool, lastOf, withDefaults } from "./occasions.ts"

/** The session of all trials. */
export const sessionId = "session-1"

/** Writes the transcript for every system. The hooks add the messages of the event itself. */
export const write = (
  folder: string,
  hooks: ReadonlyArray<{ readonly name: string }>,
  facts: Facts,
  cwd: string
): void => {
  const { occasion } = facts
  const said = earlierMessages(facts)
  for (const { name } of hooks) {
    const transcript = Transcript.make(join(folder, name))
    for (const entry of said) transcript.add(sessionId, entry, cwd)
    if (occasion === "subagent-stop") {
      for (const entry of said) transcript.add(`agent-${sessionId}`, entry, cwd, sessionId)
    }
  }
}

const earlierMessages = (facts: Facts): ReadonlyArray<Transcript.Entry> => {
  const { occasion, tool } = facts
  const { call, output, prompt } = withDefaults(facts)
  const user: Transcript.Entry = { role: "user", content: prompt }
  const asked = assistant("", [call])
  const gave: Transcript.Entry = { role: "tool", toolCallId: call.id, content: output, isError: false }
  if (nothing.has(occasion)) return []
  if (isAboutTool(occasion)) return [user, asked]
  if (begun.has(occasion)) return [user]
  const used = tool === undefined && occasion !== "step" ? [] : [asked, gave]
  return occasion === "step" ? [user, ...used] : [user, ...used, assistant(lastOf(facts))]
}

const nothing: ReadonlySet<Occasion> = new Set<Occasion>(["session-start", "prompt"])
const begun: ReadonlySet<Occasion> = new Set<Occasion>([
  "subagent-start",
  "model-request",
  "model-response",
  "model-failure",
  "turn-failure"
])

const assistant = (
  content: string,
  toolCalls: Extract<Transcript.Entry, { role: "assistant" }>["toolCalls"] = []
): Transcript.Entry => ({
  role: "assistant",
  content,
  toolCalls,
  model: "no-model",
  usage: { inputTokens: 1_200, outputTokens: 80 }
})
