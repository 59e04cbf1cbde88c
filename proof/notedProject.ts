/**
 * A project whose command `./note` writes down that it ran, and whose hooks write down that they ran and answer with
 * files. The settings of Codex and Gemini CLI are run in it, and compared with what is recorded.
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
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { type NotedOutcome, type NotedSetting, printed, wordsIn } from "../packages/hook-files/test/oracle/setting.ts"

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

/** How many run at once: a program waits for most of its time. */
const atOnce = 4

/** A program that runs hooks, and the protocol of its model. */
export interface Program {
  readonly name: string
  readonly version: string
  readonly recordFile: string
  /** Answers a request of the model: with the call of `./note WORD`, or with the text `w-answer` without a word. */
  readonly answer: (response: ServerResponse, id: string, word: string | undefined, path: string) => void
  /** The part of a request that the model reads, without its own messages. */
  readonly readOf: (body: { readonly [key: string]: unknown }) => unknown
  /** Writes the settings of the user, and returns how to start the program. */
  readonly start: (folders: { readonly cwd: string; readonly home: string; readonly url: string }) => {
    readonly args: ReadonlyArray<string>
    readonly env?: { readonly [name: string]: string }
  }
}

/** A model that runs `./note` with each word, and then says that it is done. */
const startModel = async ({ answer, readOf }: Program, words: ReadonlyArray<string>) => {
  const requests: Array<string> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (piece) => body += String(piece))
    request.on("end", () => {
      if (request.method !== "POST") return response.writeHead(404).end()
      const word = words[requests.length]
      requests.push(JSON.stringify(readOf(JSON.parse(body))))
      return answer(response, String(requests.length), word, request.url ?? "")
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  return { requests, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const runInProgram = async (program: Program, setting: NotedSetting, root: string): Promise<NotedOutcome> => {
  const [cwd, home, script] = [join(root, "project"), join(root, "home"), join(root, "hook.sh")]
  for (const folder of [cwd, home]) mkdirSync(folder)
  writeFileSync(script, hook)
  writeFileSync(join(cwd, "note"), note)
  chmodSync(join(cwd, "note"), 0o755)
  for (const [index, answer] of setting.answers.entries()) {
    writeFileSync(`${script}.${index}.out`, printed(answer))
    writeFileSync(`${script}.${index}.err`, answer.stderr ?? "")
    writeFileSync(`${script}.${index}.code`, String(answer.code ?? 0))
  }
  const [path, content] = setting.file((index) => `sh ${script} ${index}`)
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), content)
  const { requests, server, url } = await startModel(program, setting.words)
  const { args, env } = program.start({ cwd, home, url })
  const started = spawn(process.execPath, args, {
    cwd,
    stdio: "ignore",
    timeout: 120_000,
    killSignal: "SIGKILL",
    env: { PATH: process.env["PATH"], SHELL: "/bin/sh", HOME: home, ...env }
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

/**
 * Runs the settings whose name contains a text, and prints those that do something else than is recorded. With `record`,
 * it writes down what the program did.
 */
export const proveNoted = async (
  program: Program,
  settings: ReadonlyArray<NotedSetting>,
  part: string,
  record: boolean
): Promise<void> => {
  const { name, recordFile, version } = program
  const old = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")) : { outcomes: {} }
  const outcomes: { [name: string]: NotedOutcome } = {}
  const chosen = settings.filter((setting) => setting.name.includes(part))
  let same = 0
  const left = [...chosen]
  const runSome = async (): Promise<void> => {
    const setting = left.shift()
    if (setting === undefined) return
    const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-noted-")))
    const outcome = outcomes[setting.name] = await runInProgram(program, setting, root)
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    if (isDeepStrictEqual(outcome, old.outcomes[setting.name])) same++
    else console.log(setting.name, JSON.stringify({ program: outcome, recorded: old.outcomes[setting.name] }))
    return runSome()
  }
  await Promise.all(Array.from({ length: atOnce }, runSome))
  console.log(`${same} of ${chosen.length} settings do in ${name} what is recorded.`)
  if (!record) return
  const date = new Date().toISOString().slice(0, 10)
  const all = { ...old.outcomes, ...outcomes }
  const known = settings.flatMap((one) => one.name in all ? [[one.name, all[one.name]]] : [])
  const file = { program: `${name} ${version}`, date, outcomes: Object.fromEntries(known) }
  writeFileSync(recordFile, `${JSON.stringify(file, null, 2)}\n`)
}
