/** What the agent of the demonstration can do in its folder. Mail and commands are only pretended. */
import { defineTool } from "@belay/core/defineTool"
import * as Glob from "@belay/tools/Glob"
import * as Read from "@belay/tools/Read"
import * as Schema from "effect/Schema"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

export const toolsFor = (folder: string) => {
  const names = () => readdirSync(folder).filter((name) => !name.startsWith(".")).sort()
  return [
    Glob.make(),
    Read.make(),
    defineTool({
      name: "delete_files",
      description: "Deletes the files whose names end with a suffix, such as .tmp",
      input: Schema.Struct({ suffix: Schema.String }),
      destructive: true,
      execute: ({ suffix }) => {
        const deleted = names().filter((name) => name.endsWith(suffix))
        for (const name of deleted) rmSync(join(folder, name))
        return { deleted }
      }
    }),
    defineTool({
      name: "send_mail",
      description: "Sends a mail",
      input: Schema.Struct({ to: Schema.String, subject: Schema.String, body: Schema.String }),
      execute: ({ to }) => `sent to ${to}`
    }),
    defineTool({
      name: "bash",
      description: "Runs a command in the folder",
      input: Schema.Struct({ command: Schema.String }),
      execute: ({ command }) => `the demonstration runs no commands, so it did not run ${command}`
    })
  ]
}
