/** A folder of made-up invoices, and the tools an agent may use in it. */
import { defineTool } from "@belay/core"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import * as z from "zod"

const files = {
  "2026-09-invoice.txt": "Invoice 118 from Nordlicht Papier\nTotal: 410.00 EUR\nDue: 2026-10-15",
  "2026-10-invoice.txt": "Invoice 131 from Nordlicht Papier\nTotal: 1,204.50 EUR\nDue: 2026-11-15",
  "draft-1.tmp": "scratch",
  "draft-2.tmp": "scratch"
}

/** Makes the folder; `dispose` removes it. */
export const make = async () => {
  const root = await mkdtemp(join(tmpdir(), "belay-demo-"))
  const folder = join(root, "invoices")
  await mkdir(folder)
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)))
  const inside = (name: string) => join(folder, basename(name))
  const outbox: Array<{ readonly to: string; readonly subject: string; readonly body: string }> = []

  const tools = [
    defineTool({
      name: "list_files",
      description: "List the files in the invoices folder",
      input: z.object({}),
      readOnly: true,
      execute: async () => (await readdir(folder)).sort()
    }),
    defineTool({
      name: "read_file",
      description: "Read one file of the invoices folder",
      input: z.object({ path: z.string().describe("file name") }),
      readOnly: true,
      execute: async ({ path }) => readFile(inside(path), "utf8")
    }),
    defineTool({
      name: "delete_files",
      description: "Delete the files that end with a suffix",
      input: z.object({ suffix: z.string().describe("file name ending, for example .tmp") }),
      destructive: true,
      execute: async ({ suffix }) => {
        const doomed = (await readdir(folder)).filter((name) => name.endsWith(suffix))
        await Promise.all(doomed.map((name) => rm(join(folder, name))))
        return { deleted: doomed.sort() }
      }
    }),
    defineTool({
      name: "send_mail",
      description: "Send a mail",
      input: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
      execute: ({ body, subject, to }) => {
        outbox.push({ to, subject, body })
        return `sent to ${to}`
      }
    })
  ]
  return { root, tools, outbox, dispose: () => rm(root, { recursive: true, force: true }) }
}
