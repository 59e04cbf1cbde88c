/**
 * Runs the settings of `packages/hook-files/test/oracle/codex` through the program of Codex, against a small Responses
 * endpoint on loopback, and compares what happened with what is recorded.
 */
import { spawn } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { isDeepStrictEqual } from "node:util"
import type { CodexOutcome } from "../packages/hook-files/test/oracle/codex/belay.ts"
import { type CodexSetting, codexSettings, printed } from "../packages/hook-files/test/oracle/codex/settings.ts"
import { wordsIn } from "../packages/hook-files/test/oracle/setting.ts"

const recordFile = resolve("packages/hook-files/test/oracle/codex/recorded.json")
const installed = resolve("test/cli/node_modules/@openai/codex")

const hook = `cat > /dev/null
echo "$1" >> "$0.log"
cat "$0.$1.out"
cat "$0.$1.err" >&2
exit "$(cat "$0.$1.code")"
`
const note = `#!/bin/sh
echo "note $1" >> "$0.log"
[ "$1" = fail ] && { echo w-failed >&2; exit 1; }
echo "w-ran-$1"
`

const linesOf = (path: string): ReadonlyArray<string> =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").filter((line) => line !== "") : []

/** A model that runs `./note` with each word, and then says that it is done. */
const startModel = async (words: ReadonlyArray<string>) => {
  const requests: Array<string> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (piece) => body += String(piece))
    request.on("end", () => {
      if (request.method !== "POST") return response.writeHead(404).end()
      const { input = [] }: { readonly input?: ReadonlyArray<{ readonly role?: string; readonly type?: string }> } =
        JSON
          .parse(body)
      const word = words[requests.length]
      requests.push(JSON.stringify(input.filter(({ role, type }) => role !== "assistant" && type !== "function_call")))
      const id = String(requests.length)
      const item = word === undefined
        ? { type: "message", role: "assistant", id, content: [{ type: "output_text", text: "w-answer" }] }
        : {
          type: "function_call",
          id,
          call_id: id,
          name: "exec_command",
          arguments: JSON.stringify({ cmd: `./note ${word}` })
        }
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (
        const event of [
          { type: "response.created", response: { id } },
          { type: "response.output_item.done", output_index: 0, item },
          {
            type: "response.completed",
            response: { id, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }
          }
        ]
      ) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      return response.end()
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  return { requests, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const runInCodex = async (setting: CodexSetting, root: string): Promise<CodexOutcome> => {
  const [cwd, home, script] = [join(root, "project"), join(root, "home"), join(root, "hook.sh")]
  for (const folder of [cwd, home]) mkdirSync(join(folder, ".codex"), { recursive: true })
  writeFileSync(script, hook)
  writeFileSync(join(cwd, "note"), note)
  chmodSync(join(cwd, "note"), 0o755)
  for (const [index, answer] of setting.answers.entries()) {
    writeFileSync(`${script}.${index}.out`, printed(answer))
    writeFileSync(`${script}.${index}.err`, answer.stderr ?? "")
    writeFileSync(`${script}.${index}.code`, String(answer.code ?? 0))
  }
  const [path, content] = setting.file((index) => `sh ${script} ${index}`)
  writeFileSync(join(cwd, path), content)
  const { requests, server, url } = await startModel(setting.words)
  const config = `
model = "demo"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "${url}/v1"
wire_api = "responses"
[features]
hooks = true
[projects.${JSON.stringify(cwd)}]
trust_level = "trusted"
`
  writeFileSync(join(home, ".codex", "config.toml"), config)
  const flags = [
    "--skip-git-repo-check",
    "--dangerously-bypass-hook-trust",
    "--dangerously-bypass-approvals-and-sandbox"
  ]
  const started = spawn(process.execPath, [join(installed, "bin/codex.js"), "exec", ...flags, "guard me"], {
    cwd,
    stdio: "ignore",
    timeout: 60_000,
    killSignal: "SIGKILL",
    env: { PATH: process.env["PATH"], SHELL: "/bin/sh", HOME: home }
  })
  await new Promise((ended) => started.on("exit", ended).on("error", ended))
  server.closeAllConnections()
  server.close()
  return {
    hooks: linesOf(`${script}.log`).map(Number).sort((a, b) => a - b),
    ran: linesOf(join(cwd, "note.log")),
    read: wordsIn(requests.join("\n").replaceAll(/\\[nt]/g, " ")),
    requests: requests.length
  }
}

/** Runs the settings whose name contains a text. With `record`, it writes down what the program did. */
export const proveCodexSettings = async (part: string, record: boolean): Promise<void> => {
  if (!existsSync(installed)) return console.log("Codex is not installed: run node scripts/setup.mjs --cli first.")
  const old = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")) : { outcomes: {} }
  const outcomes: { [name: string]: CodexOutcome } = {}
  const chosen = codexSettings.filter(({ name }) => name.includes(part))
  let same = 0
  for (const setting of chosen) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-codex-")))
    const outcome = outcomes[setting.name] = await runInCodex(setting, root)
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    if (isDeepStrictEqual(outcome, old.outcomes[setting.name])) same++
    else console.log(setting.name, JSON.stringify({ program: outcome, recorded: old.outcomes[setting.name] }))
  }
  console.log(`${same} of ${chosen.length} settings do in Codex what is recorded.`)
  if (!record) return
  const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))
  const date = new Date().toISOString().slice(0, 10)
  const file = { program: `Codex ${version}`, date, outcomes: { ...old.outcomes, ...outcomes } }
  writeFileSync(recordFile, `${JSON.stringify(file, null, 2)}\n`)
}
