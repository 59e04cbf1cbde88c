/** What was said before the event, as scripts read it: a line of JSON a message, in a folder that is thrown away. */
import type { JsonObject } from "@belay/core/Json"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Occasion } from "../guide/guide.ts"
import { type Facts, filled, isAboutTool, lastOf } from "./occasions.ts"

/** The session that everything is tried in. */
export const sessionId = "session-1"

/** Writes it for every hook. What is said at the event itself, the hooks write. */
export const write = (folder: string, hooks: ReadonlyArray<{ readonly name: string }>, facts: Facts, cwd: string): void => {
  const names = ["subagent-start", "subagent-stop"].includes(facts.occasion) ? [sessionId, `agent-${sessionId}`] : [sessionId]
  for (const { name } of hooks) {
    const own = join(folder, name)
    mkdirSync(own, { recursive: true, mode: 0o700 })
    for (const file of names) {
      const isAgent = file !== sessionId
      const lines = isAgent && facts.occasion === "subagent-start" ? [] : saidBefore(facts)
      const begin = Date.parse("2026-01-01T09:00:00Z")
      const told = lines.map((line, index) =>
        JSON.stringify({
          ...line,
          uuid: `${file}-${index + 1}`,
          parentUuid: index === 0 ? null : `${file}-${index}`,
          isSidechain: isAgent,
          ...(isAgent ? { agentId: sessionId } : {}),
          sessionId: file,
          cwd,
          timestamp: new Date(begin + index * 1_000).toISOString()
        })
      )
      if (told.length > 0) writeFileSync(join(own, `${file}.jsonl`), `${told.join("\n")}\n`, { mode: 0o600 })
    }
  }
}

const saidBefore = (facts: Facts): ReadonlyArray<JsonObject> => {
  const { occasion, tool } = facts
  const { call, output, prompt } = filled(facts)
  const user = { type: "user", message: { role: "user", content: prompt } }
  const asked = assistant([{ type: "tool_use", id: call.id, name: call.name, input: call.args }])
  const gave = {
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: output, is_error: false }] }
  }
  if (nothing.has(occasion)) return []
  if (isAboutTool(occasion)) return [user, asked]
  if (begun.has(occasion)) return [user]
  const used = tool === undefined && occasion !== "step" ? [] : [asked, gave]
  return occasion === "step" ? [user, ...used] : [user, ...used, assistant([{ type: "text", text: lastOf(facts) }])]
}

const nothing: ReadonlySet<Occasion> = new Set<Occasion>(["session-start", "prompt"])
const begun: ReadonlySet<Occasion> = new Set<Occasion>([
  "subagent-start",
  "model-request",
  "model-response",
  "model-failure",
  "turn-failure"
])

const assistant = (content: ReadonlyArray<JsonObject>): JsonObject => ({
  type: "assistant",
  message: {
    type: "message",
    role: "assistant",
    model: "no-model",
    content: [...content],
    usage: { input_tokens: 1_200, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 80 }
  }
})
