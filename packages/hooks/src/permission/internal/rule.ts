/** Compiles the text of a rule, such as `Bash(git push *)`. */
import type { ConfigError } from "@belay/core/AgentError"
import { matcher } from "@belay/core/NamePattern"
import { invalidOption, show } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import type { Kind } from "./callOperations.ts"
import { type CommandGlob, compileCommandGlob } from "./commandGlob.ts"
import { compilePathGlob, maxGlobLength, type PathGlob } from "./pathGlob.ts"

/** What a rule may name instead of a tool. The rule then applies to every tool that does this. */
type Capability = "read" | "write" | "exec" | "network"

/** A compiled rule. @category models @since 0.1.0 */
export interface Rule {
  /** The rule as it was written. */
  readonly text: string
  /** The tool that the rule is for, a pattern of names, or a capability. */
  readonly tool: string
  /** The text between the parentheses; `undefined` when the rule is for every call of the tool. */
  readonly spec: string | undefined
  /**
   * The folder that a pattern such as `/docs/**` starts at, relative to the working folder; `undefined` when the
   * setting decides.
   */
  readonly folder: string | undefined
  /** @internal */
  readonly compiled: CompiledRule
}

interface CompiledRule {
  readonly capability: Capability | undefined
  /** Whether the rule is for the tool of this name. */
  readonly matchesTool: (tool: string) => boolean
  /** The rule applies to every tool that does this, whatever its name. */
  readonly kinds: ReadonlySet<Kind>
  readonly command: CommandGlob
  readonly path: PathGlob
  readonly domain: ((host: string) => boolean) | undefined
  readonly param:
    | { readonly key: string; readonly matches: (value: string) => boolean; readonly command: CommandGlob }
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

/** Tools whose names say exactly what they do. */
export const wellKnownTools: ReadonlySet<string> = new Set(
  `Bash BashOutput PowerShell Edit MultiEdit Write NotebookEdit Read Grep Glob WebFetch WebSearch Agent Task`.split(" ")
)

const capabilities: { readonly [name: string]: Kind } = {
  read: "read",
  write: "write",
  exec: "shell",
  network: "fetch"
}

/** Parses and compiles a rule. Fails with a `ConfigError` that names the option `key`. */
export const parseRule = (text: string, key: string, folder?: string): Result.Result<Rule, ConfigError> => {
  const invalid = (why: string) => invalidOption(key, `${show(text)} is not a rule: ${why}`)
  if (typeof text !== "string") return invalid("expected a text such as Bash(git push *)")
  const trimmed = text.trim()
  const open = trimmed.indexOf("(")
  const tool = (open < 0 ? trimmed : trimmed.slice(0, open)).trim()
  if (tool === "") return invalid("it names no tool")
  if (/[\s|,!&()]/.test(tool)) return invalid("it does not name exactly one tool; write one rule for each tool")
  if (open >= 0 && !trimmed.endsWith(")")) return invalid("its parenthesis is not closed")
  if (/\)\s*(?:\|\||&&|,)\s*[\w*]+\(/.test(trimmed)) {
    return invalid("it is more than one rule; write each as a text of the list")
  }
  const spec = open < 0 ? undefined : trimmed.slice(open + 1, -1).trim()
  if (spec === "") return invalid("there is nothing between its parentheses")
  if (spec !== undefined && spec.length > maxGlobLength) return invalid(`it is longer than ${maxGlobLength} characters`)
  if (spec?.startsWith("!")) return invalid("a rule cannot exclude anything; write what it applies to")
  const isForEveryCall = spec === undefined || spec === "*" || spec === "**"
  return Result.succeed({
    text: trimmed,
    tool,
    spec: isForEveryCall ? undefined : spec,
    folder,
    compiled: compile(tool, spec ?? "*")
  })
}

const compile = (tool: string, spec: string): CompiledRule => {
  const capability = Object.hasOwn(capabilities, tool) ? tool as Capability : undefined
  const group = Object.hasOwn(groups, tool) ? groups[tool] : undefined
  const [, key, value] = /^([A-Za-z_][\w-]*):([\s\S]*)$/.exec(spec) ?? []
  // `mcp__server` means every tool of the server.
  const names = group?.names ?? (/^mcp__[^_]+(?:_[^_]+)*$/.test(tool) ? [tool, `${tool}__*`] : [tool])
  let command: CommandGlob | undefined
  let path: PathGlob | undefined
  let text: ((value: string) => boolean) | undefined
  return {
    capability,
    matchesTool: capability === undefined ? toolMatcher(names) : () => false,
    kinds: new Set(capability === undefined ? group?.kinds ?? [] : [capabilities[capability]!]),
    // A rule is about commands or about paths, and a settings file can have thousands of rules.
    get command() {
      return command ??= compileCommandGlob(spec)
    },
    get path() {
      return path ??= compilePathGlob(spec, capability === undefined ? "source" : "root")
    },
    domain: key === "domain" ? hostMatcher(value!) : undefined,
    param: key === undefined ? undefined : parameter(key, value!),
    get text() {
      return text ??= matcher([spec])
    }
  }
}

const parameter = (key: string, value: string): CompiledRule["param"] => ({
  key,
  matches: matcher([value.trim()]),
  command: compileCommandGlob(value)
})

/** Module state: the matcher that was made last. Most rules of a list are about the same tool. */
let lastTool: { readonly names: string; readonly matches: (tool: string) => boolean } | undefined

const toolMatcher = (names: ReadonlyArray<string>): (tool: string) => boolean => {
  const key = names.join("|")
  if (lastTool?.names !== key) lastTool = { names: key, matches: matcher(names) }
  return lastTool.matches
}

/** `*.example.com` matches every host below it, but not `example.com` itself. */
const hostMatcher = (pattern: string): (host: string) => boolean =>
  matcher([pattern.trim().toLowerCase().replace(/\.$/, "")])
