/** Shell lines for the guards of commands and paths, and how many of them a guard stops. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as DestructiveCommands from "@belay/hooks/DestructiveCommands"
import * as EgressGuard from "@belay/hooks/EgressGuard"
import * as ProtectedPaths from "@belay/hooks/ProtectedPaths"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { decide } from "./decide.ts"

const folder = join(import.meta.dirname, "../permission/lines")

/** Reads a file of shell lines, by the headings in it. `⏎` stands for the end of a line inside of one command. */
export const readLines = (name: string): { readonly [heading: string]: ReadonlyArray<string> } => {
  const sections: { [heading: string]: Array<string> } = {}
  let lines: Array<string> = []
  for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
    if (line.startsWith("## ")) sections[line.slice(3)] = lines = []
    else if (line !== "") lines.push(line.replaceAll("⏎", "\n"))
  }
  return sections
}

/** The globs that the measured guard keeps from being read. */
const secretFiles = [".env*", "secrets/**", "~/.ssh/**"]

const projectFiles = [
  ...[
    ".env",
    ".env.local",
    ".env.example",
    ".git/config",
    ".git/hooks/x",
    "sub/.env",
    "secrets/key.txt",
    "package.json"
  ],
  ...[
    "src/app.ts",
    "docs/a.md",
    "dist/app.js",
    "certs/server.pem",
    "tests/a.ts",
    "templates/app/a",
    "packages/web/package.json",
    "a",
    "b"
  ]
]

/** Makes a folder with the files of a small project. It is removed when the effect's scope closes. */
export const project = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "guard-lines-"))
    for (const file of projectFiles) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), "x")
    }
    return root
  }),
  (root) => Effect.sync(() => rmSync(root, { recursive: true }))
)

/** The guards that are measured. */
export const guards = (root: string) => ({
  destructive: DestructiveCommands.make(),
  write: ProtectedPaths.make({ home: `${root}-ada` }),
  read: ProtectedPaths.make({ home: `${root}-ada`, write: [], read: secretFiles }),
  egress: EgressGuard.make({ allow: ["api.example.com"] }),
  everydayEgress: EgressGuard.make({ allow: ["*", "localhost", "127.0.0.1"] }),
  everydayRead: ProtectedPaths.make({ home: `${root}-ada`, write: [], read: [".env", "~/.ssh/**"] })
})

/** The lines that a guard lets pass. */
export const passed = (hook: AgentHook, lines: ReadonlyArray<string>, cwd: string) =>
  Effect.filter(
    lines,
    (command) => Effect.map(decide(hook, "bash", { command }, { cwd }), ({ _tag }) => _tag === "Continue")
  )
