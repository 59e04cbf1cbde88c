/**
 * Runs the settings of `packages/hook-files/test/oracle` through the program of Claude Code, against a small Messages
 * endpoint on loopback, and compares what happened with what is known and with Belay.
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
import { availableParallelism, tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { done, files, runInBelay, type Told } from "../packages/hook-files/test/oracle/belay.ts"
import { inBelay } from "../packages/hook-files/test/oracle/differences.ts"
import { fieldsOf } from "../packages/hook-files/test/oracle/fields.ts"
import {
  type Call,
  countedRequests,
  type Outcome,
  printed,
  type Setting,
  settingsFiles,
  wordsIn
} from "../packages/hook-files/test/oracle/setting.ts"
import { settings } from "../packages/hook-files/test/oracle/settings.ts"
import { type Block, sendMessage } from "../test/cli/messages-stream.ts"

const recordFile = resolve("packages/hook-files/test/oracle/recorded.json")
const [vendor, sdk] = ["@anthropic-ai", `claude-agent-sdk-${process.platform}-${process.arch}`]
const installed = resolve("test/cli/node_modules", vendor!, sdk!, "claude")
const hasAll = ["--allowedTools", "Agent,Bash,Edit,Glob,Grep,Read,Write"]

/** What a request of the program has. */
interface Body {
  readonly messages?: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
  readonly tools?: ReadonlyArray<{ readonly name?: string }>
}

/** The model of an agent, and what it has read. */
const modelOf = (steps: ReadonlyArray<ReadonlyArray<Call>>, name: string, says: string, cwd: string) => {
  const requests: Array<string> = []
  /** Tools of the program want absolute paths. */
  const inputOf = ({ input }: Call) =>
    typeof input["file_path"] === "string" ? { ...input, file_path: join(cwd, input["file_path"]) } : input
  const answer = (messages: NonNullable<Body["messages"]>): ReadonlyArray<Block> => {
    requests.push(JSON.stringify(messages.filter(({ role }) => role !== "assistant")))
    const step = steps[requests.length - 1]
    return step === undefined ? [{ type: "text", text: says }] : step.map((call, index) => ({
      type: "tool_use",
      id: `toolu_${name}_${requests.length}_${index}`,
      name: call.tool,
      input: inputOf(call)
    }))
  }
  return { requests, answer }
}

/** A script that writes down what it reads, and answers with the files of its number. */
const hook = `input=$(cat)
printf '%s\\t%s\\n' "$1" "$input" >> "$0.log"
cat "$0.$1.out"
cat "$0.$1.err" >&2
exit "$(cat "$0.$1.code")"
`
const note = `#!/bin/sh
echo "note $1" >> "$0.log"
[ "$1" = fail ] && { echo w-failed >&2; exit 1; }
echo "w-ran-$1"
`

/** The texts of requests, without the escapes of JSON, which would join words. */
const plain = (requests: ReadonlyArray<string>): string => requests.join("\n").replaceAll(/\\[nt]/g, " ")

const linesOf = (path: string): ReadonlyArray<string> =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").filter((line) => line !== "") : []

/** Writes the project of a setting, and returns where its scripts are. */
const prepare = (setting: Setting, root: string) => {
  const [cwd, home, bin] = [join(root, "project"), join(root, "home"), join(root, "bin")]
  for (const folder of [cwd, home]) mkdirSync(join(folder, ".claude"), { recursive: true })
  mkdirSync(bin)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content)
  const script = join(root, "hook.sh")
  writeFileSync(script, hook)
  writeFileSync(join(bin, "note"), note)
  chmodSync(join(bin, "note"), 0o755)
  for (const [index, { answer = {} }] of setting.entries.entries()) {
    writeFileSync(`${script}.${index}.out`, printed(answer))
    writeFileSync(`${script}.${index}.err`, answer.stderr ?? "")
    writeFileSync(`${script}.${index}.code`, String(answer.code ?? 0))
  }
  for (const [path, content] of settingsFiles(setting, { cwd, home }, (index) => `sh ${script} ${index}`)) {
    writeFileSync(path, JSON.stringify(content))
  }
  return { cwd, home, bin, script }
}

/** Runs a setting through a program, in a new folder. */
export const runInProgram = async (
  program: string,
  setting: Setting,
  root: string
): Promise<{ readonly outcome: Outcome; readonly told: ReadonlyArray<Told> }> => {
  const { bin, cwd, home, script } = prepare(setting, root)
  const lead = modelOf(setting.steps, "lead", "w-answer", cwd)
  const child = modelOf(setting.child, "child", "w-done", cwd)
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (piece) => body += String(piece))
    request.on("end", () => {
      const { messages = [], tools = [] }: Body = request.method === "POST" && body !== "" ? JSON.parse(body) : {}
      const text = JSON.stringify(messages)
      // The program also asks for titles and the like, without tools.
      const isLoop = tools.some(({ name }) => name === "Bash" || name === "Read")
      const model = text.includes("guard me") ? lead : child
      const blocks = isLoop ? model.answer(messages) : [{ type: "text", text: "done" }]
      sendMessage(response, blocks)
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const args = ["-p", "guard me", ...(setting.isAllowed ? hasAll : []), "--output-format", "json"]
  const started = spawn(program, args, {
    cwd,
    stdio: "ignore",
    timeout: 180_000,
    killSignal: "SIGKILL",
    env: {
      PATH: `${bin}${delimiter}${process.env["PATH"]}`,
      SHELL: "/bin/sh",
      HOME: home,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
    }
  })
  await new Promise((ended) => started.on("exit", ended).on("error", ended))
  server.closeAllConnections()
  server.close()
  const told = linesOf(`${script}.log`).map((line) => {
    const [index, payload] = line.split("\t")
    return { index: Number(index), payload: JSON.parse(payload!) }
  })
  return {
    told,
    outcome: {
      hooks: told.map(({ index }) => index).sort((a, b) => a - b),
      ran: done(cwd, linesOf(join(bin, "note.log"))),
      read: wordsIn(plain(lead.requests)),
      child: wordsIn(plain(child.requests)),
      requests: countedRequests(setting, lead.requests.length)
    }
  }
}

/** Runs in a new folder that is gone afterwards. */
const inFolder = async <A>(run: (root: string) => Promise<A>): Promise<A> => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-setting-")))
  try {
    return await run(root)
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
}

const show = (name: string, outcomes: { readonly [who: string]: Outcome }): void => {
  console.log(name)
  for (const [who, outcome] of Object.entries(outcomes)) console.log(`  ${who.padEnd(8)} ${JSON.stringify(outcome)}`)
}

/** Writes what the program did to the file that the tests compare with. */
const keep = (outcomes: { readonly [name: string]: Outcome }): void => {
  const { version } = JSON.parse(readFileSync(resolve("test/cli/node_modules", vendor!, sdk!, "package.json"), "utf8"))
  const old = JSON.parse(readFileSync(recordFile, "utf8"))
  const file = {
    ...old,
    program: `Claude Code, in ${sdk} ${version}`,
    date: new Date().toISOString().slice(0, 10),
    how: "npm run proof -- --settings --record",
    outcomes: { ...old.outcomes, ...outcomes }
  }
  writeFileSync(recordFile, `${JSON.stringify(file, null, 2)}\n`)
}

/** So many settings are tried before what they did is kept, so that a run that is stopped has not been for nothing. */
const batch = 12

/**
 * Runs all settings whose name contains a text, as many at once as there are cores, and prints those that differ. With
 * `record`, it writes what the program did to the file that the tests compare with.
 */
export const proveSettings = async (part: string, record: boolean): Promise<void> => {
  if (!existsSync(installed)) {
    return console.log("Claude Code is not installed: run node scripts/setup.mjs --cli first.")
  }
  const chosen = settings.filter(({ name }) => name.includes(part))
  const fields = new Set<string>()
  let same = 0
  const prove = async (setting: Setting): Promise<readonly [name: string, outcome: Outcome]> => {
    const { outcome: there, told } = await inFolder((root) => runInProgram(installed, setting, root))
    const { outcome: here, told: heard } = await inFolder((root) => runInBelay(setting, root))
    for (const [event, names] of fieldsOf(told)) fields.add(`program  ${event}: ${names}`)
    for (const [event, names] of fieldsOf(heard)) fields.add(`belay    ${event}: ${names}`)
    if (isDeepStrictEqual(there, here)) same++
    const known = { ...setting.expected, ...inBelay.get(setting.name) }
    const isKnown = isDeepStrictEqual(there, setting.expected) && isDeepStrictEqual(here, known)
    if (!isKnown) show(setting.name, { program: there, known: setting.expected, belay: here })
    return [setting.name, there]
  }
  for (let from = 0; from < chosen.length; from += batch) {
    const waiting = chosen.slice(from, from + batch)
    const outcomes: { [name: string]: Outcome } = {}
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [name, outcome] = await prove(next)
        outcomes[name] = outcome
      }
    }
    await Promise.all(Array.from({ length: availableParallelism() }, work))
    if (record) keep(outcomes)
    console.error(`${Math.min(from + batch, chosen.length)} of ${chosen.length} settings`)
  }
  console.log([...fields].sort((a, b) => a.slice(9) < b.slice(9) ? -1 : 1).join("\n"))
  console.log(`${same} of ${chosen.length} settings do the same in Claude Code and in Belay.`)
}
