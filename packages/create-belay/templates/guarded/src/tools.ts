/** What the agent can do in a folder. */
import { defineTool } from "@belay/core"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { promisify } from "node:util"

const text = { type: "string" } as const
const object = (...names: ReadonlyArray<string>) => ({
  type: "object" as const,
  properties: Object.fromEntries(names.map((name) => [name, text])),
  required: [...names]
})

export const toolsFor = (root: string) => {
  const inside = (path: string) => {
    const full = resolve(root, path)
    const real = join(realpathSync(dirname(full)), relative(dirname(full), full))
    if (real !== realpathSync(root) && !real.startsWith(realpathSync(root) + sep)) {
      throw new Error(`${path} is outside of the folder`)
    }
    return real
  }
  return [
    defineTool({
      name: "list_files",
      description: "Lists the files of a folder",
      input: object("path"),
      readOnly: true,
      execute: (args) => readdirSync(inside((args as { readonly path: string }).path))
    }),
    defineTool({
      name: "read_file",
      description: "Reads a file",
      input: object("path"),
      readOnly: true,
      execute: (args) => readFileSync(inside((args as { readonly path: string }).path), "utf8")
    }),
    defineTool({
      name: "write_file",
      description: "Writes a file",
      input: object("path", "content"),
      execute: (args) => {
        const { content, path } = args as { readonly path: string; readonly content: string }
        writeFileSync(inside(path), content)
        return `wrote ${content.length} characters`
      }
    }),
    defineTool({
      name: "run_command",
      description: "Runs a command in a shell, in the folder",
      input: object("command"),
      destructive: true,
      execute: async (args, { signal }) => {
        const { command } = args as { readonly command: string }
        const { stderr, stdout } = await promisify(execFile)("sh", ["-c", command], {
          cwd: root,
          signal,
          timeout: 60_000
        })
        return { stdout, stderr }
      }
    })
  ]
}
