/** The built command in a folder of its own, with a home and a project, and the payloads that agents send it. */
import type { JsonObject } from "@belay/core/Json"
import { folder as trustIn } from "@belay/hook-files/TrustStore"
import { named } from "@belay/hook-files/Wires"
import { spawn } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { guardBundle } from "../../../../../scripts/guardBundle.mjs"
import { coveredBy } from "../../../src/internal/guard/run/covered.ts"
import { type Facts, payloadOf } from "../../../src/internal/guard/sample.ts"

// Several test files share it. The folder for temporary files is removed at the end of the run.
const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-guard-")))

/** The command of an installed package. */
export const program = join(root, "bin", "guard.cjs")
mkdirSync(join(root, "bin"), { recursive: true })
cpSync(resolve(import.meta.dirname, "../../../bin/guard.cjs"), program)
/** The file that the command loads. */
export const bundle = join(root, "dist", "guard", "run.cjs")
await guardBundle(bundle)

/** How the command ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command with something on its standard input. */
export const runWith = (
  args: ReadonlyArray<string>,
  input: string,
  options: {
    readonly cwd: string
    readonly home: string
    readonly killAfterMs?: number
    readonly env?: NodeJS.ProcessEnv
  }
): Promise<Ended> =>
  new Promise((done, failed) => {
    const { cwd, env = {}, home, killAfterMs } = options
    const child = spawn(process.execPath, [program, "guard", "run", ...args], {
      cwd,
      env: { PATH: process.env["PATH"], HOME: home, NODE_COMPILE_CACHE: join(root, "cache"), ...env }
    })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (data) => void (stdout += String(data)))
    child.stderr.on("data", (data) => void (stderr += String(data)))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
    if (killAfterMs !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfterMs)
    child.on("error", failed)
    child.on("close", (code, signal) => done({ code, signal, stdout, stderr }))
  })

let count = 0

/** A project with a config. */
export interface Project {
  readonly cwd: string
  readonly home: string
  /** Writes a config, and trusts it. */
  readonly configure: (text: string, name?: string) => void
  /** Sends an event of a system. */
  readonly send: (
    system: string,
    event: string,
    facts?: Partial<Facts>,
    args?: ReadonlyArray<string>
  ) => Promise<Ended>
  /** Sends an event of Claude Code, and returns its answer. */
  readonly claude: (event: string, facts?: Partial<Facts>) => Promise<Answer>
  /** Sends a text. */
  readonly text: (system: string, text: string, args?: ReadonlyArray<string>) => Promise<Ended>
}

/** An answer in the format of Claude Code. */
export interface Answer {
  readonly decision?: string
  readonly reason?: string
  readonly continue?: boolean
  readonly stopReason?: string
  readonly hookSpecificOutput?: { readonly [field: string]: unknown }
}

/** Makes a project with a trusted config in TypeScript. */
export const projectWith = (config?: string): Project => {
  const folder = join(root, `p${count++}`)
  const [cwd, home] = [join(folder, "project"), join(folder, "home")]
  mkdirSync(cwd, { recursive: true })
  mkdirSync(home, { recursive: true })
  const configure: Project["configure"] = (text, name = "belay.guard.ts") => {
    const path = join(cwd, name)
    writeFileSync(path, text)
    const { fingerprint } = coveredBy(path)
    trustIn(join(home, ".belay", "trust")).trust(dirname(path), fingerprint)
  }
  if (config !== undefined) configure(config)
  const text: Project["text"] = (system, input, args = []) =>
    runWith(["--system", system, ...args], input, { cwd, home })
  const send: Project["send"] = (system, event, facts = {}, args = []) => {
    const payload = payloadOf(named(system)!, event, { session: "s1", cwd, ...facts })
    return text(system, JSON.stringify(payload), ["--event", event, ...args])
  }
  return {
    cwd,
    home,
    configure,
    text,
    send,
    claude: async (event, facts = {}) => {
      const { code, stderr, stdout } = await send("claude", event, facts)
      if (code !== 0) throw new Error(`the guard ended with ${String(code)}: ${stderr}`)
      return JSON.parse(stdout) as Answer
    }
  }
}

/** A call of a tool. */
export const call = (id: string, name: string, args: JsonObject) => ({ call: { id, name, args } })
