/**
 * The guard inside programs of other vendors, against small endpoints on loopback. Their packages are large, so they are
 * installed apart: `npm run test:cli` does it, too.
 */
import * as Trust from "@belay/hook-files/TrustStore"
import * as Result from "effect/Result"
import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { withEntries } from "../packages/cli/src/internal/guard/entries.ts"
import { coveredBy } from "../packages/cli/src/internal/guard/run/covered.ts"
import { named, type Wire } from "../packages/hook-files/src/system/Wires.ts"
import { guardBundle } from "../scripts/guardBundle.mjs"

const execute = promisify(execFile)

const config = `import { DataFlow, PermissionRules } from "@belay/hooks"
import { defineHook, HookAction } from "@belay/sdk"

const two = defineHook({
  name: "two",
  preToolCall: (call, ctx) => {
    const { command } = Object(call.args)
    if (command !== "echo one > echoed.txt") return undefined
    ctx.inject("be careful")
    return HookAction.transform({ ...call, args: { ...Object(call.args), command: "echo two > echoed.txt" } })
  },
  // Some systems have no place for a text before the call.
  postToolCall: (_call, ctx) => ctx.inject("be careful")
})
export default {
  hooks: [
    two,
    DataFlow.coding({ sinks: { Agent: "local", wait_agent: "local" } }),
    PermissionRules.make({ otherwise: "allow", deny: ["Bash(git push*)"] })
  ],
  allowUnguarded: ["data-flow"]
}
`

/** What has held in a program, by the name of the path. */
export interface Proved {
  readonly program: string
  readonly paths: { readonly [name: string]: boolean }
  /** What the program wrote on standard error. */
  readonly stderr: string
}

/** A program that may be installed. */
interface Program {
  readonly name: string
  /** The package that brings it. */
  readonly installed: string
  /** The script that runs it. */
  readonly script: string
  /** The system whose settings call the guard. Without one, the script adds the guard as a plugin. */
  readonly wire?: Wire
}

const commandIn = (system: string, installed: string, script: string): Program => {
  const wire = named(system)!
  return { name: wire.name, installed, script, wire }
}

const programs: ReadonlyArray<Program> = [
  commandIn("claude", "@anthropic-ai/claude-agent-sdk", "claude-command.ts"),
  commandIn("codex", "@openai/codex", "codex-command.ts"),
  commandIn("gemini", "@google/gemini-cli", "gemini-command.ts"),
  { name: "opencode", installed: "opencode-ai", script: "opencode.ts" }
]

/** Makes a project whose settings call the guard, as `belay guard init` and `belay guard install` do. */
const install = async (wire: Wire, root: string, cwd: string, home: string): Promise<void> => {
  const program = join(root, "bin", "guard.cjs")
  cpSync(resolve("packages/cli/bin/guard.cjs"), program)
  await guardBundle(join(root, "dist", "guard", "run.cjs"))
  const path = join(cwd, "belay.guard.ts")
  writeFileSync(path, config)
  Trust.folder(join(home, ".belay", "trust")).trust(cwd, coveredBy(path).fingerprint)
  const settings = join(cwd, wire.settings.project)
  mkdirSync(join(settings, ".."), { recursive: true })
  writeFileSync(settings, Result.getOrThrow(withEntries(wire, settings, "", `"${process.execPath}" "${program}"`)))
}

/** Runs every program that is installed. */
export const provePrograms = async (): Promise<ReadonlyArray<Proved>> => {
  const proved: Array<Proved> = []
  for (const { installed, name, script, wire } of programs) {
    if (!existsSync(resolve("test/cli/node_modules", installed))) continue
    const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-program-")))
    try {
      const [cwd, home] = [join(root, "project"), join(root, "home")]
      for (const folder of [cwd, home, join(root, "bin")]) mkdirSync(folder)
      if (wire !== undefined) await install(wire, root, cwd, home)
      const args = ["--conditions=@belay/source", join("test/cli", script), cwd, home]
      const { stdout } = await execute(process.execPath, args, { timeout: 120_000 })
      const { stderr, ...paths } = JSON.parse(stdout)
      proved.push({ program: name, paths, stderr })
    } finally {
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  return proved
}
