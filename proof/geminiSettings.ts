/** Runs the settings of `packages/hook-files/test/oracle/gemini` through the program of Gemini CLI. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { geminiSettings } from "../packages/hook-files/test/oracle/gemini/settings.ts"
import { type Program, proveNoted } from "./notedProject.ts"

const installed = resolve("test/cli/node_modules/@google/gemini-cli")

const answer: Program["answer"] = (response, id, word, path) => {
  const part = word === undefined
    ? { text: "w-answer" }
    : { functionCall: { id, name: "run_shell_command", args: { command: `./note ${word}` } } }
  const body = JSON.stringify({
    candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  })
  const isStream = path.includes("alt=sse")
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" })
  response.end(isStream ? `data: ${body}\n\n` : body)
}

const start: Program["start"] = ({ home, url }) => {
  mkdirSync(join(home, ".gemini"))
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false }
  }
  writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(settings))
  return {
    args: [join(installed, "bundle/gemini.js"), "--yolo", "-m", "gemini-2.5-pro", "-p", "guard me"],
    env: {
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_CLI_NO_RELAUNCH: "true"
    }
  }
}

/** Runs the settings whose name contains a text. With `record`, it writes down what the program did. */
export const proveGeminiSettings = async (part: string, record: boolean): Promise<void> => {
  if (!existsSync(installed)) return console.log("Gemini CLI is not installed: run node scripts/setup.mjs --cli first.")
  const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))
  const program: Program = {
    name: "Gemini CLI",
    version,
    recordFile: resolve("packages/hook-files/test/oracle/gemini/recorded.json"),
    answer,
    readOf: ({ contents }) => (Array.isArray(contents) ? contents : []).filter(({ role }) => role !== "model"),
    start
  }
  await proveNoted(program, geminiSettings, part, record)
}
