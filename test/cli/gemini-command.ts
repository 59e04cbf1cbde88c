/**
 * Runs the program of Gemini CLI with `belay guard` in its settings, against a small endpoint for generateContent, and
 * prints what its tools have done as JSON.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { commands, endpoint, folder, home, mail, mails, prompt, read, report, run, task } from "./scene.ts"

interface Part {
  readonly [key: string]: unknown
}

const call = (id: string, name: string, args: object): Part => ({ functionCall: { id: `call_${id}`, name, args } })

/** What the model does, one step after the other. The model of the sub-agent is another one. */
const steps: ReadonlyArray<ReadonlyArray<Part>> = [
  [
    call("1", "run_shell_command", { command: commands.refused }),
    call("2", "run_shell_command", { command: commands.changed })
  ],
  [call("3", "read_file", { file_path: join(folder, "notes.txt") })],
  [call("5", "mcp_mail_send_mail", mails.wanted)],
  [call("6", "invoke_agent", { agent_name: "generalist", prompt: task })],
  // Nobody is there who could answer, so this is the last step.
  [call("4", "mcp_mail_send_mail", mails.poisoned)]
]
const ofAgent: typeof steps = [
  [call("7", "run_shell_command", { command: commands.refusedInAgent })],
  [call("8", "run_shell_command", { command: commands.inAgent })],
  [call("9", "complete_task", { result: "done" })]
]

const idOf = ([first]: ReadonlyArray<Part>): string => String(Object(first?.["functionCall"]).id)

const url = await endpoint(({ contents = [] }, response, path) => {
  const text = JSON.stringify(contents)
  const script = text.includes("guard me") ? steps : ofAgent
  const next = script.find((parts) => !text.includes(`"${idOf(parts)}"`))
  read.push(text)
  const answer = {
    candidates: [{ content: { role: "model", parts: next ?? [{ text: "done" }] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  }
  const isStream = path.includes("alt=sse")
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" })
  response.end(isStream ? `data: ${JSON.stringify(answer)}\n\n` : JSON.stringify(answer))
})

mkdirSync(join(home, ".gemini"), { recursive: true })
const settings = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false },
  mcpServers: { mail }
}
writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(settings))
const program = resolve("test/cli/node_modules/@google/gemini-cli/bundle/gemini.js")
report(
  await run(process.execPath, [program, "--yolo", "-m", "gemini-2.5-pro", "-p", prompt], {
    GEMINI_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    // Otherwise the program starts itself once more, and that process would be ended only by a person.
    GEMINI_CLI_NO_RELAUNCH: "true"
  }, true)
)
