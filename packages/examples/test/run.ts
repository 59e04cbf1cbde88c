/** Runs a program of this package as a user would: a process of its own, on the node that runs the tests. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

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
    const { NODE_OPTIONS: _options, OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, OPENAI_MODEL: _model, ...env } = process.env
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
