/** Runs the programs of this package: in this process, or as a user would, in a process of its own. */
import { Endpoint } from "@belay/testing"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { format } from "node:util"
import { afterAll, assert, beforeAll } from "vitest"

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export const program = (name: string): string => fileURLToPath(new URL(`../src/${name}`, import.meta.url))

export const runProgram = (
  name: string,
  options: { readonly args?: ReadonlyArray<string>; readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {}
): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const { OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, OPENAI_MODEL: _model, ...env } = process.env
    const child = spawn(process.execPath, ["--conditions=@belay/source", program(name), ...(options.args ?? [])], {
      env: { ...env, NO_COLOR: "1", ...options.env },
      stdio: ["pipe", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text)
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
    child.stdin.end(options.input ?? "")
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, stdout, stderr }))
  })

/** Runs a program in this process: imports it and collects what it writes. Programs may run one after another only. */
const importProgram = async (name: string, env: NodeJS.ProcessEnv): Promise<Finished> => {
  let [stdout, stderr] = ["", ""]
  const before = { env: { ...process.env }, error: console.error, log: console.log, warn: console.warn }
  Object.assign(process.env, { NO_COLOR: "1", ...env })
  console.log = (...parts: ReadonlyArray<unknown>) => void (stdout += `${format(...parts)}\n`)
  console.error = (...parts: ReadonlyArray<unknown>) => void (stderr += `${format(...parts)}\n`)
  console.warn = console.error
  try {
    // Without the query a program would run only once.
    await import(`${program(name)}?run=${++runs}`)
    return { code: 0, stdout, stderr }
  } finally {
    Object.assign(console, { error: before.error, log: before.log, warn: before.warn })
    for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name]
    Object.assign(process.env, before.env)
  }
}

let runs = 0

/**
 * Starts an endpoint for the tests of a file. Runs a program against it, which has to end well and write nothing but
 * warnings of its hooks on standard error. Returns its lines.
 */
export const atEndpoint = () => {
  let endpoint: Endpoint.Endpoint
  beforeAll(async () => {
    endpoint = await Endpoint.start()
  })
  afterAll(() => endpoint.close())
  return async (
    name: string,
    env: NodeJS.ProcessEnv = {},
    { asProcess = false }: { readonly asProcess?: boolean } = {}
  ): Promise<ReadonlyArray<string>> => {
    const all = { OPENAI_BASE_URL: endpoint.url, OPENAI_API_KEY: "test-key", OPENAI_MODEL: "demo-large", ...env }
    const { code, stderr, stdout } = await (asProcess ? runProgram(name, { env: all }) : importProgram(name, all))
    assert.deepEqual(stderr.split("\n").filter((line) => !/^$|^\[[\d:.]+\] WARN \(#\d+\): /.test(line)), [])
    assert.strictEqual(code, 0)
    return stdout.trimEnd().split("\n")
  }
}
