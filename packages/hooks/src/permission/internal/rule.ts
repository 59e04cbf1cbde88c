/** Rules as they are written, taken apart. */
import { ConfigError } from "@belay/core/AgentError"
import { matcher } from "@belay/core/NamePattern"
import * as Result from "effect/Result"
import { type CommandGlob, compile } from "./commands.ts"
import type { Kind } from "./facts.ts"
import { glob, maxGlob, type PathGlob } from "./paths.ts"

/** What a rule may speak of instead of a tool: whatever tool does it. */
type Capability = "read" | "write" | "exec" | "network"

/** A rule, compiled. @category models @since 0.1.0 */
export interface Rule {
  /** As it was written. */
  readonly text: string
  /** The tool it is for, a pattern of names, or a capability. */
  readonly tool: string
  /** What stands between the parentheses; absent when every call counts. */
  readonly spec: string | undefined
  /** The folder that `/docs/**` starts at, relative to the working folder; absent when the setting says it. */
  readonly folder: string | undefined
  /** @internal */
  readonly compiled: Compiled
}

interface Compiled {
  readonly capability: Capability | undefined
  /** Whether the tool of this name is meant. */
  readonly named: (tool: string) => boolean
  /** Whether a tool that does this is meant, whatever its name. */
  readonly kinds: ReadonlySet<Kind>
  readonly command: CommandGlob
  readonly path: PathGlob
  readonly domain: ((host: string) => boolean) | undefined
  readonly param:
    | { readonly key: string; readonly fits: (value: string) => boolean; readonly command: CommandGlob }
    | undefined
  readonly text: (value: string) => boolean
}

const groups: {
  readonly [tool: string]: { readonly names: ReadonlyArray<string>; readonly kinds: ReadonlyArray<Kind> }
} = {
  Bash: { names: ["Bash"], kinds: ["shell"] },
  Edit: { names: ["Edit", "MultiEdit", "Write", "NotebookEdit"], kinds: ["write"] },
  Write: { names: ["Write"], kinds: ["write"] },
  Read: { names: ["Read", "Grep", "Glob"], kinds: ["read"] },
  WebFetch: { names: ["WebFetch"], kinds: ["fetch"] },
  Agent: { names: ["Agent", "Task"], kinds: ["agent"] },
  Task: { names: ["Agent", "Task"], kinds: ["agent"] }
}

/** Tools that are what their names say, and nothing else. */
export const wellKnown: ReadonlySet<string> = new Set([
  ...[
    "Bash",
    "BashOutput",
    "PowerShell",
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "Read",
    "Grep",
    "Glob",
    "WebFetch",
    "WebSearch",
    "Agent",
    "Task"
  ]
])

const capabilities: { readonly [name: string]: Kind } = {
  read: "read",
  write: "write",
  exec: "shell",
  network: "fetch"
}

/** Takes a rule apart. */
export const parse = (text: string, key: string, folder?: string): Result.Result<Rule, ConfigError> => {
  const refuse = (why: string) =>
    Result.fail(new ConfigError({ key, message: `${key}: ${JSON.stringify(text)} is no rule, ${why}` }))
  if (typeof text !== "string") return refuse("expected a text such as Bash(git push *)")
  const trimmed = text.trim()
  const open = trimmed.indexOf("(")
  const tool = (open < 0 ? trimmed : trimmed.slice(0, open)).trim()
  if (tool === "") return refuse("it names no tool")
  if (/[\s|,!&()]/.test(tool)) return refuse("it names more or less than one tool: write one rule for each")
  if (open >= 0 && !trimmed.endsWith(")")) return refuse("its parenthesis is not closed")
  if (/\)\s*(?:\|\||&&|,)\s*[\w*]+\(/.test(trimmed)) return refuse("it is more than one rule: write each on its own")
  const spec = open < 0 ? undefined : trimmed.slice(open + 1, -1).trim()
  if (spec === "") return refuse("nothing stands between its parentheses")
  if (spec !== undefined && spec.length > maxGlob) return refuse(`it is longer than ${maxGlob} characters`)
  if (spec?.startsWith("!")) return refuse("a rule cannot exclude: list what it is for")
  const whole = spec === undefined || spec === "*" || spec === "**"
  return Result.succeed({
    text: trimmed,
    tool,
    spec: whole ? undefined : spec,
    folder,
    compiled: compiled(tool, spec ?? "*")
  })
}

const compiled = (tool: string, spec: string): Compiled => {
  const capability = Object.hasOwn(capabilities, tool) ? tool as Capability : undefined
  const group = Object.hasOwn(groups, tool) ? groups[tool] : undefined
  const [, key, value] = /^([A-Za-z_][\w-]*):([\s\S]*)$/.exec(spec) ?? []
  // `mcp__server` means every tool of the server.
  const names = group?.names ?? (/^mcp__[^_]+(?:_[^_]+)*$/.test(tool) ? [tool, `${tool}__*`] : [tool])
  return {
    capability,
    named: capability === undefined ? matcher(names) : () => false,
    kinds: new Set(capability === undefined ? group?.kinds ?? [] : [capabilities[capability]!]),
    command: compile(spec),
    path: glob(spec, capability === undefined ? "source" : "file"),
    domain: key === "domain" ? hosts(value!) : undefined,
    param: key === undefined ? undefined : { key, fits: matcher([value!.trim()]), command: compile(value!) },
    text: matcher([spec])
  }
}

/** `*.example.com` is every host below it, not itself. */
const hosts = (pattern: string): (host: string) => boolean => matcher([pattern.trim().toLowerCase().replace(/\.$/, "")])
