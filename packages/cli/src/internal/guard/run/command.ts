/** The command that a system calls: reads its payload, decides, and answers in its protocol. */
import { named } from "@belay/hook-files/Wires"
import { fstatSync, read, writeSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute } from "node:path"
import { noteFailure } from "./journal.ts"
import { maxPayload } from "./occasion.ts"
import { placesIn } from "./places.ts"
import { messageOf, Refusal } from "./refusal.ts"
import { run } from "./run.ts"
import { type Output, refused } from "./said.ts"
import { storedId } from "./storage.ts"
import { tooLong, withinUntil } from "./within.ts"

/** How long a decision may take, in seconds. Systems wait longer than that, except at the end of a session. */
const patience = 20

/** Flags, as an entry of a system writes them. */
interface Flags {
  readonly system?: string
  readonly event?: string
  readonly config?: string
  /** After how many seconds the guard must have decided. */
  readonly limit?: string
}

/** Runs the command to its end. */
export const command = async (argv: ReadonlyArray<string>, finish: () => void): Promise<void> => {
  const { config, event, limit, system = "" } = flagsOf(argv)
  quiet()
  // It may be empty or relative where an agent sets it. The folder of a project would then count as the user's own.
  const places = isAbsolute(homedir()) ? placesIn() : undefined
  const wire = named(system)
  const cwd = (wire?.projectVariable === undefined ? undefined : process.env[wire.projectVariable]) || workingFolder()
  const row = event === undefined ? undefined : wire?.events[event]
  const most = (row?.maxLimit ?? row?.limit ?? wire?.limit ?? 60) * 0.7
  const seconds = Math.min(Number(limit) > 0 ? Number(limit) : patience, most)
  const deadline = performance.now() + seconds * 1_000
  let onFailure = "deny"
  let means = row?.means
  let session: string | undefined
  let happened = event
  let isReading = false
  let hasEnded = false
  const fail = (error: unknown): Output => {
    const reason = `belay guard: ${messageOf(error)}`
    if (places !== undefined) noteFailure(places, { time: Date.now(), system, session, event: happened, cwd, reason })
    // An agent that may not stop would go on for ever.
    const goesOn = onFailure === "allow" || means === "stop" || means === "agentStop"
    return goesOn ? { code: 0, stdout: "{}", stderr: reason } : refused(reason)
  }
  const end = (output: Output): never => {
    hasEnded = true
    // A decision that the system cannot read would be a yes.
    const isSaid = write(1, output.stdout) || output.stdout === "{}"
    const { code, stderr } = isSaid ? output : fail(new Refusal("the system does not read the answer"))
    write(2, stderr)
    finish()
    // A read that waits for input would keep the process. The entry of the system makes a refusal of this.
    if (isReading) process.kill(process.pid, "SIGKILL")
    process.exit(code)
  }
  // A config or a hook that ends the process would decide nothing, and that would be a yes.
  process.on("exit", () => {
    if (hasEnded) return
    const { code, stderr, stdout } = fail(new Refusal("the config or a hook has ended the process"))
    write(1, stdout)
    write(2, stderr)
    process.exitCode = code
  })
  setTimeout(() => end(fail(new Refusal(tooLong))), seconds * 1_000)
  try {
    if (places === undefined) throw new Refusal("HOME has to be the absolute path of the home folder")
    if (cwd === undefined) throw new Refusal("the folder in which it was started does not exist any more")
    if (wire === undefined) throw new Refusal(`--system is not one of the systems: ${JSON.stringify(system)}`)
    isReading = true
    const text = await inputText()
    isReading = false
    const output = await run({
      wire,
      text,
      cwd,
      places,
      deadline,
      within: withinUntil(deadline),
      ...(event === undefined ? {} : { event }),
      ...(config === undefined ? {} : { config }),
      onOccasion: (occasion) => {
        means = occasion.row.means
        session = storedId(system, occasion.session)
        happened = occasion.event
      },
      onConfigured: (configured) => {
        onFailure = configured.onFailure
      }
    })
    end(output)
  } catch (error) {
    isReading = false
    end(fail(error))
  }
}

/** Standard output is the answer. What a config or a hook prints goes to standard error, a stream that starts late. */
const quiet = (): void => {
  Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr })
}

const flagsOf = (argv: ReadonlyArray<string>): Flags =>
  Object.fromEntries(
    argv.flatMap((word, index) => {
      const [, name = "", value] = /^--(system|event|config|limit)(?:=(.*))?$/s.exec(word) ?? []
      return name === "" ? [] : [[name, value ?? argv[index + 1] ?? ""]]
    })
  )

/** Reads standard input. Streams of Node are slow to start. */
const inputText = (): Promise<string> =>
  new Promise((resolve, reject) => {
    if (isTerminal()) throw new Refusal("there is no payload on standard input: an agent calls this command")
    const parts: Array<Buffer> = []
    let size = 0
    const more = (): void => {
      const buffer = Buffer.allocUnsafe(65_536)
      read(0, buffer, 0, buffer.length, null, (error, length) => {
        if (error?.code === "EAGAIN") return void setTimeout(more, 5)
        if (error !== null && error.code !== "EOF") return reject(error)
        if (error === null && length > 0) {
          size += length
          // What is too large is read to its end, because the system writes all of it.
          if (size <= maxPayload) parts.push(buffer.subarray(0, length))
          return more()
        }
        if (size > maxPayload) {
          return reject(new Refusal(`the payload has ${size} bytes: at most ${maxPayload} are read`))
        }
        resolve(Buffer.concat(parts).toString("utf8"))
      })
    }
    more()
  })

const isTerminal = (): boolean => {
  try {
    return fstatSync(0).isCharacterDevice() && process.stdin.isTTY
  } catch {
    return false
  }
}

/** The folder can be removed while the agent works in it. */
const workingFolder = (): string | undefined => {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}

/** Writes all of a text, also if the reader is slow. Returns whether it could. */
const write = (file: 1 | 2, text: string): boolean => {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(file, bytes, at)
    } catch (error) {
      if (Object(error).code !== "EAGAIN") return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
  return true
}
