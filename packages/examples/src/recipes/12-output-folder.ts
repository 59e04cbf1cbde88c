/** Files are written below one folder: not above it, not elsewhere, and not through a symbolic link. */
import { createAgent, defineHook, defineTool, HookAction, Message } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { lstat, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import * as z from "zod"

const workspace = await realpath(await mkdtemp(join(tmpdir(), "belay-workspace-")))
const [output, outside] = [join(workspace, "output"), join(workspace, "outside")]
await Promise.all([mkdir(output), mkdir(outside)])
await symlink(outside, join(output, "link"))
await symlink(join(outside, "new.md"), join(output, "dangling.md"))

const fileWrite = defineTool({
  name: "file_write",
  description: "Write a file",
  input: z.object({ path: z.string(), text: z.string() }),
  execute: async ({ path, text }) => {
    const file = resolve(output, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    return `wrote ${relative(output, file)}`
  }
})

/**
 * Why a path may not be written. Every existing part is looked at itself, so that a link that leads nowhere yet is
 * found, too.
 */
const whyNot = async (path: string): Promise<string | undefined> => {
  if (path.includes("\0")) return "it is no path"
  const way = relative(output, resolve(output, path))
  if (way === "" || way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    return "it is not below the output folder"
  }
  for (let at = output, parts = way.split(sep); parts.length > 0;) {
    at = join(at, parts.shift()!)
    const found = await lstat(at).catch((error: NodeJS.ErrnoException) =>
      error.code === "ENOENT" ? undefined : Promise.reject(error)
    )
    if (found === undefined) return undefined
    if (found.isSymbolicLink()) return `${relative(output, at)} is a symbolic link`
  }
  return undefined
}
const outputFolder = defineHook({
  name: "output-folder",
  tools: fileWrite,
  kind: "policy",
  reinvoke: "ifChanged",
  preToolCall: async ({ args }) => {
    const why = await whyNot(args.path)
    return why === undefined ? undefined : HookAction.reject(`file_write is refused: ${why}`)
  }
})

const paths = [
  "report.md",
  "parts/one.md",
  "..notes.md",
  join(output, "absolute.md"),
  "../outside/up.md",
  "parts/../../outside/up.md",
  join(outside, "absolute.md"),
  `${output}-beside/x.md`,
  "link/through.md",
  "dangling.md",
  ".",
  "nul\u0000.md"
]
const provider = Scripted.make([
  ...paths.map((path) => Scripted.toolCalls({ name: "file_write", args: { path, text: "x" } })),
  "done"
])
const agent = createAgent({ provider, tools: [fileWrite], hooks: [outputFolder] })
const { messages } = await agent.run("Write the report")
const results = messages.filter(({ role }) => role === "tool").map(Message.text)
for (const [index, path] of paths.entries()) {
  console.log(`${JSON.stringify(path.replace(workspace, "WORKSPACE"))}: ${results[index]}`)
}
console.log(
  `outside there are ${(await readdir(outside)).length} files, beside ${(await readdir(workspace)).length} folders`
)
await rm(workspace, { recursive: true })
await agent.close()
