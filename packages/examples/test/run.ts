/** Runs a program of this package as a user would: a process of its own, on the node that runs the tests. */
import { Endpoint } from "@belay/testing"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
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
    const { NODE_OPTIONS: _options, OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, OPENAI_MODEL: _model, ...env } =
      process.env
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

/**
 * Starts an endpoint for the tests of a file. Runs a program against it, which has to end well and say nothing but
 * warnings of its hooks on standard error: its lines.
 */
export const atEndpoint = () => {
  let endpoint: Endpoint.Endpoint
  beforeAll(async () => {
    endpoint = await Endpoint.start()
  })
  afterAll(() => endpoint.close())
  return async (name: string, env: NodeJS.ProcessEnv = {}): Promise<ReadonlyArray<string>> => {
    const finished = await runProgram(name, {
      env: { OPENAI_BASE_URL: endpoint.url, OPENAI_API_KEY: "test-key", OPENAI_MODEL: "demo-large", ...env }
    })
    assert.deepEqual(finished.stderr.split("\n").filter((line) => !/^$|^\[[\d:.]+\] WARN \(#\d+\): /.test(line)), [])
    assert.strictEqual(finished.code, 0)
    return finished.stdout.trimEnd().split("\n")
  }
}
