/**
 * What a tool call is about, whatever the tool is called: the commands, files, addresses and agents in its arguments.
 */
import type { Json } from "@belay/core/Json"

/** What a tool does. @category models @since 0.1.0 */
export type Kind = "shell" | "write" | "read" | "fetch" | "agent"

/**
 * One thing a tool does, and the argument that says with what: a text or a list of texts.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolKind {
  readonly kind: Kind
  readonly field: string
}

/**
 * What tools do, by their exact names. Tools that are not here are guessed by their names and arguments.
 *
 * @category models
 * @since 0.1.0
 */
export type Kinds = { readonly [tool: string]: ToolKind | ReadonlyArray<ToolKind> }

/** A tool call that a rule is held against. @category models @since 0.1.0 */
export interface Call {
  readonly tool: string
  readonly args: Json
  /** The tool's own word that it changes nothing. Default false. */
  readonly readOnly?: boolean
}

/** One thing a call does. */
export interface Fact {
  readonly kind: Kind
  /** Absent when the argument is not there or is of another shape: it cannot be told. */
  readonly value: string | undefined
}

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Names of arguments, in lower case and without `_` and `-`. */
const commandKeys = set("command commands cmd commandline shellcommand bash")
const codeKeys = set("script code input line")
const argumentKeys = set("args argv arguments params parameters")
const urlKeys = set("url uri href urls link links endpoint")
const agentKeys = set("subagenttype agenttype subagent agent agentname")
const pathKeys = set(
  `path paths filepath filepaths filename filenames file files pathname notebookpath directory dir folder targetfile targetpath sourcepath
   destinationpath oldpath newpath outputpath inputpath outfile infile absolutepath relativepath outputfile inputfile localpath
   relativeworkspacepath`
)
const moveKeys = set("source src destination dest dst from to target output oldname newname")

/** Words in the names of tools. */
const shellWords = set("bash shell sh zsh terminal powershell console command commands cmd")
const sureShells = set("bash shell zsh terminal powershell")
const otherLanguages = set("python js javascript node ruby sql query")
const readWords = set("read view cat ls list glob grep search find stat open show head tail tree")
const writeWords = set(
  "write edit multiedit create save append patch delete remove move rename mkdir copy replace update insert upload put"
)
const fileWords = set("file files dir directory folder fs path")
const agentWords = set("agent task")

const maxFacts = 1_000
const maxDepth = 12

/** What a call does. */
export const factsOf = (call: Call, kinds: Kinds = {}): ReadonlyArray<Fact> => {
  const told = Object.hasOwn(kinds, call.tool) ? kinds[call.tool]! : undefined
  if (told === undefined) return guessed(call)
  const list: ReadonlyArray<ToolKind> = Array.isArray(told) ? told : [told as ToolKind]
  return list.flatMap(({ field, kind }): ReadonlyArray<Fact> => {
    const value = own(call.args, field)
    if (typeof value === "string") return [{ kind, value }]
    if (isTexts(value)) {
      return kind === "shell"
        ? [{ kind, value: quoted(value) }]
        : value.map((one) => ({ kind, value: one }))
    }
    return [{ kind, value: undefined }]
  })
}

/** The value of an object's own key. */
export const own = (args: Json, key: string): Json | undefined =>
  typeof args === "object" && args !== null && !Array.isArray(args) && Object.hasOwn(args, key)
    ? (args as { readonly [key: string]: Json })[key]
    : undefined

const isTexts = (value: Json | undefined): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string")

const quoted = (words: ReadonlyArray<string>): string =>
  words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ")

/** Tools that only have a shell in their names. */
const aboutShells = new Set(["BashOutput", "KillShell", "KillBash"])

/** What a tool's name says. */
interface Named {
  readonly shell: boolean
  readonly sureShell: boolean
  readonly agent: boolean
  readonly reads: boolean
  readonly writes: boolean
  readonly files: boolean
}

const names = new Map<string, Named>()
const keys = new Map<string, string>()

/** The name of an argument, in lower case and without `_` and `-`. */
const plain = (key: string): string => {
  const known = keys.get(key)
  if (known !== undefined) return known
  const made = key.toLowerCase().replaceAll(/[_-]/g, "")
  if (keys.size >= 256) keys.clear()
  if (key.length <= 128) keys.set(key, made)
  return made
}

/** Agents call few tools, and often. */
const named = (tool: string): Named => {
  const known = names.get(tool)
  if (known !== undefined) return known
  const words = tool.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase().split(/[^a-z]+/)
  const is = (known: ReadonlySet<string>) => words.some((word) => known.has(word))
  const foreign = is(otherLanguages)
  const made: Named = {
    shell: is(shellWords) && !foreign,
    sureShell: is(sureShells) && !foreign,
    agent: is(agentWords),
    reads: is(readWords),
    writes: is(writeWords),
    files: is(fileWords)
  }
  if (names.size >= 256) names.clear()
  if (tool.length <= 128) names.set(tool, made)
  return made
}

const guessed = ({ args, readOnly, tool }: Call): ReadonlyArray<Fact> => {
  if (aboutShells.has(tool)) return []
  const is = named(tool)
  const { shell } = is
  const reads = readOnly === true || is.reads
  const writes = readOnly !== true && is.writes
  const about: ReadonlyArray<Kind> = writes && !reads ? ["write"] : reads && !writes ? ["read"] : ["read", "write"]
  const files = reads || writes || is.files
  const found: Array<Fact> = []
  let lost = false
  const visit = (value: Json, key: string, depth: number): void => {
    if (found.length > maxFacts || depth > maxDepth) {
      lost = true
    } else if (typeof value === "string") {
      if (commandKeys.has(key) || (shell && codeKeys.has(key))) found.push({ kind: "shell", value })
      else if (urlKeys.has(key)) found.push({ kind: "fetch", value })
      else if (agentKeys.has(key) || (key === "type" && is.agent)) found.push({ kind: "agent", value })
      else if (pathKeys.has(key) || (files && moveKeys.has(key))) {
        for (const kind of about) found.push({ kind, value })
      }
    } else if (Array.isArray(value)) {
      if (isTexts(value) && commandKeys.has(key)) {
        found.push({ kind: "shell", value: quoted(value) })
        // Words of one command, unless they look like commands of their own.
        if (key !== "commands" && !value.some((one) => /\s/.test(one))) return
      }
      for (const one of value) visit(one, key, depth + 1)
    } else if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value).map(([inner, one]) => [plain(inner), one] as const)
      const rest = entries.find(([inner, one]) => argumentKeys.has(inner) && isTexts(one))?.[1]
      for (const [inner, one] of entries) {
        visit(
          typeof one === "string" && commandKeys.has(inner) && isTexts(rest) ? `${one} ${quoted(rest)}` : one,
          inner,
          depth + 1
        )
      }
    }
  }
  visit(args, "", 0)
  if (lost) { for (const kind of all) found.push({ kind, value: undefined }) }
  else if (is.sureShell && !found.some(({ kind }) => kind === "shell")) {
    found.push({ kind: "shell", value: undefined })
  }
  return found
}

const all: ReadonlyArray<Kind> = ["shell", "write", "read", "fetch", "agent"]
