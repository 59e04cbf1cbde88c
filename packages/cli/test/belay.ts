/** A project and a home of their own, and the command line as a process. */
import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export const program = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))

/** Runs a program to its end, with something on its standard input. */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  input = "",
  env: NodeJS.ProcessEnv = {}
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { env: { ...process.env, ...env } })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (data) => void (stdout += String(data)))
    child.stderr.on("data", (data) => void (stderr += String(data)))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  })

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
  const hooks = (...args: ReadonlyArray<string>): Promise<Ended> =>
    run(process.execPath, ["--conditions=@belay/source", program, "hooks", ...args, ...flags])
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
    said: (...args: ReadonlyArray<string>) => ({
      with: (input: string) =>
        run(process.execPath, ["--conditions=@belay/source", program, "hooks", ...args, ...flags], input)
    })
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
