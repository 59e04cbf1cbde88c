/** A project and a home in a temporary folder, and the command line over them: in this process, or as a process. */
import type { System } from "@belay/hook-files/Systems"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll } from "vitest"
import { Systems } from "../src/internal/flags.ts"
import { platformLayer, run as runMain } from "../src/internal/program/main.ts"

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, with something on its standard input. */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  input = "",
  env: NodeJS.ProcessEnv = {},
  cwd = process.cwd()
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { cwd, env: { ...process.env, ...env } })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (data) => void (stdout += String(data)))
    child.stderr.on("data", (data) => void (stderr += String(data)))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  })

/** Runs the command line in this process, on a terminal where nobody can be asked. */
export const runHere = async (
  args: ReadonlyArray<string>,
  input = "",
  systems: ReadonlyArray<System> = []
): Promise<Ended> => {
  let [stdout, stderr] = ["", ""]
  const write = (target: "stdout" | "stderr") => (...parts: ReadonlyArray<unknown>) => {
    const line = `${parts.join(" ")}\n`
    if (target === "stdout") stdout += line
    else stderr += line
  }
  const [out, error] = [write("stdout"), write("stderr")]
  const terminal: Console.Console = {
    ...console,
    debug: out,
    error,
    info: out,
    log: out,
    warn: error
  }
  const stdin = Stdio.layerTest({ stdin: Stream.encodeText(Stream.succeed(input)) })
  const screen = { columns: 100, colors: false, interactive: false, path: process.env["PATH"] ?? "" }
  const code = await Effect.runPromise(
    runMain(args, screen).pipe(
      Effect.provide(Layer.merge(platformLayer, stdin)),
      Effect.provideService(Console.Console, terminal),
      Effect.provideService(Systems, systems)
    )
  )
  return { code, stdout, stderr }
}

const folders: Array<string> = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/** Files by path, `home/…` and `project/…`; what begins with `#!` may be executed. */
export const world = (files: { readonly [path: string]: string | object } = {}) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-cli-")))
  folders.push(root)
  const write = (path: string, content: string | object): void => {
    const full = join(root, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content, null, 2))
    if (typeof content === "string" && content.startsWith("#!")) chmodSync(full, 0o755)
  }
  for (const folder of ["home", "project", "managed"]) mkdirSync(join(root, folder))
  for (const [path, content] of Object.entries(files)) write(path, content)
  const places = { cwd: join(root, "project"), home: join(root, "home"), managed: join(root, "managed") }
  const flags = Object.entries(places).flatMap(([name, path]) => [`--${name}`, path])
  const hooks = (...args: ReadonlyArray<string>): Promise<Ended> => runHere(["hooks", ...args, ...flags])
  return {
    ...places,
    root,
    write,
    hooks,
    json: async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await hooks(...args, "--json")
      if (stdout === "") throw new Error(`no output: ${stderr}`)
      return { code, value: JSON.parse(stdout) }
    },
    /** The same with text on standard input. */
    withInput: (input: string, ...args: ReadonlyArray<string>): Promise<Ended> =>
      runHere(["hooks", ...args, ...flags], input)
  }
}

/** A settings file with one group. */
export const settings = (event: string, hooks: ReadonlyArray<object>, matcher?: string): object => ({
  hooks: {
    [event]: [{
      ...(matcher === undefined ? {} : { matcher }),
      hooks: hooks.map((one) => ({ type: "command", ...one }))
    }]
  }
})

/** A script that answers with JSON. */
export const answering = (answer: object): string =>
  `#!/bin/bash\ncat > /dev/null\ncat <<'END'\n${JSON.stringify(answer)}\nEND\n`
