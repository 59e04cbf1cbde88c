/** Finds what a tool call does from its arguments: the commands it runs, the files, the addresses and the agents. */
import type { Json } from "@belay/core/Json"

/**
 * What a tool does: it runs commands, writes files, reads files, fetches addresses or starts agents.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "shell" | "write" | "read" | "fetch" | "agent"

/**
 * One thing that a tool does, and the name of the argument with the command, path, address or agent. The argument is a
 * text or a list of texts.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolKind {
  readonly kind: Kind
  readonly field: string
}

/**
 * What tools do, by their exact names. What other tools do is guessed from their names and arguments.
 *
 * @category models
 * @since 0.1.0
 */
export type Kinds = { readonly [tool: string]: ToolKind | ReadonlyArray<ToolKind> }

/** A tool call that rules are matched against. @category models @since 0.1.0 */
export interface Call {
  readonly tool: string
  readonly args: Json
  /** The tool declares that it changes nothing. Default false. */
  readonly readOnly?: boolean
}

/** One thing that a call does. */
export interface CallOperation {
  readonly kind: Kind
  /** The command, path, address or agent. `undefined` when the argument is missing or has another type. */
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
  `path paths filepath filepaths filename filenames file files pathname notebookpath directory dir folder targetfile
   targetpath sourcepath destinationpath oldpath newpath outputpath inputpath outfile infile absolutepath relativepath
   outputfile inputfile localpath relativeworkspacepath`
)
const moveKeys = set("source src destination dest dst from to target output oldname newname")

/** Words that may be in the name of a tool. */
const shellWords = set("bash shell sh zsh terminal powershell console command commands cmd")
const certainShellWords = set("bash shell zsh terminal powershell")
const otherLanguageWords = set("python js javascript node ruby sql query")
const readWords = set("read view cat ls list glob grep search find stat open show head tail tree")
const writeWords = set(
  "write edit multiedit create save append patch delete remove move rename mkdir copy replace update insert upload put"
)
const fileWords = set("file files dir directory folder fs path")
const agentWords = set("agent task")

const maxOperations = 1_000
const maxDepth = 12

/** What the last call does, because all rules of a guard ask about the same call, one after the other. */
let last: {
  readonly call: Call
  readonly kinds: Kinds
  readonly found: ReadonlyArray<CallOperation>
} | undefined

/** Returns what a call does: as `kinds` says, or guessed from the tool's name and arguments. */
export const operationsOf = (call: Call, kinds: Kinds = noKinds): ReadonlyArray<CallOperation> => {
  if (last?.call === call && last.kinds === kinds) return last.found
  const found = readOperations(call, kinds)
  last = { call, kinds, found }
  return found
}

const noKinds: Kinds = {}

const readOperations = (call: Call, kinds: Kinds): ReadonlyArray<CallOperation> => {
  const declared = Object.hasOwn(kinds, call.tool) ? kinds[call.tool]! : undefined
  if (declared === undefined) return guessOperations(call)
  // `Array.isArray` does not narrow a readonly array.
  const list: ReadonlyArray<ToolKind> = Array.isArray(declared) ? declared : [declared as ToolKind]
  return list.flatMap(({ field, kind }): ReadonlyArray<CallOperation> => {
    const value = ownValue(call.args, field)
    if (typeof value === "string") return [{ kind, value }]
    if (isTextList(value)) {
      return kind === "shell"
        ? [{ kind, value: quoteWords(value) }]
        : value.map((one) => ({ kind, value: one }))
    }
    return [{ kind, value: undefined }]
  })
}

/** The value of an object's own key, not of its prototype's. */
export const ownValue = (args: Json, key: string): Json | undefined =>
  typeof args === "object" && args !== null && !Array.isArray(args) && Object.hasOwn(args, key)
    ? (args as { readonly [key: string]: Json })[key]
    : undefined

const isTextList = (value: Json | undefined): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string")

const quoteWords = (words: ReadonlyArray<string>): string =>
  words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ")

/** Tools with the name of a shell that run nothing. */
const shellManagers = new Set(["BashOutput", "KillShell", "KillBash"])

/** What the name of a tool says about it. */
interface NameHints {
  readonly shell: boolean
  readonly certainShell: boolean
  readonly agent: boolean
  readonly reads: boolean
  readonly writes: boolean
  readonly files: boolean
}

/** Module state: caches of pure functions. An agent calls few tools, and calls them often. */
const hintsByTool = new Map<string, NameHints>()
const normalizedKeys = new Map<string, string>()

/** The name of an argument, in lower case and without `_` and `-`. */
const normalizeKey = (key: string): string => {
  const cached = normalizedKeys.get(key)
  if (cached !== undefined) return cached
  const normalized = key.toLowerCase().replaceAll(/[_-]/g, "")
  // A full cache stays as it is: a model may write any number of names.
  if (normalizedKeys.size < 256 && key.length <= 128) normalizedKeys.set(key, normalized)
  return normalized
}

const hintsOf = (tool: string): NameHints => {
  const cached = hintsByTool.get(tool)
  if (cached !== undefined) return cached
  const words = tool.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase().split(/[^a-z]+/)
  const is = (list: ReadonlySet<string>) => words.some((word) => list.has(word))
  const isOtherLanguage = is(otherLanguageWords)
  const hints: NameHints = {
    shell: is(shellWords) && !isOtherLanguage,
    certainShell: is(certainShellWords) && !isOtherLanguage,
    agent: is(agentWords),
    reads: is(readWords),
    writes: is(writeWords),
    files: is(fileWords)
  }
  if (hintsByTool.size >= 256) hintsByTool.clear()
  if (tool.length <= 128) hintsByTool.set(tool, hints)
  return hints
}

const allKinds: ReadonlyArray<Kind> = ["shell", "write", "read", "fetch", "agent"]

const guessOperations = ({ args, readOnly, tool }: Call): ReadonlyArray<CallOperation> => {
  if (shellManagers.has(tool)) return []
  const hints = hintsOf(tool)
  const search = new OperationSearch(hints, readOnly === true, tool.startsWith("mcp__"))
  search.visit(args, "", 0)
  const { found, isIncomplete } = search
  if (isIncomplete) return [...found, ...allKinds.map((kind) => ({ kind, value: undefined }))]
  const isShellWithoutCommand = hints.certainShell && !found.some(({ kind }) => kind === "shell")
  return isShellWithoutCommand ? [...found, { kind: "shell", value: undefined }] : found
}

type JsonObject = { readonly [key: string]: Json }

/** Searches the arguments of a call. A class: the list that it fills is shared by the steps of one recursion. */
class OperationSearch {
  readonly found: Array<CallOperation> = []
  /** The arguments are too large to be searched completely. */
  isIncomplete = false
  private readonly hints: NameHints
  private readonly fileKinds: ReadonlyArray<Kind>
  private readonly hasFiles: boolean

  /** `isForeign`: an MCP server chose the name, so a word such as `read` in it is only a claim. */
  constructor(hints: NameHints, readOnly: boolean, isForeign: boolean) {
    const reads = readOnly || hints.reads
    const writes = !readOnly && (hints.writes || (isForeign && hints.reads))
    this.hints = hints
    this.hasFiles = reads || writes || hints.files
    this.fileKinds = reads === writes ? ["read", "write"] : [writes ? "write" : "read"]
  }

  visit(value: Json, key: string, depth: number): void {
    if (this.found.length > maxOperations || depth > maxDepth) this.isIncomplete = true
    else if (typeof value === "string") this.text(value, key)
    else if (Array.isArray(value)) this.list(value, key, depth)
    // `Array.isArray` does not narrow a readonly array.
    else if (typeof value === "object" && value !== null) this.object(value as JsonObject, depth)
  }

  private text(value: string, key: string): void {
    if (commandKeys.has(key) || (this.hints.shell && codeKeys.has(key))) this.found.push({ kind: "shell", value })
    else if (urlKeys.has(key)) this.found.push({ kind: "fetch", value })
    else if (agentKeys.has(key) || (key === "type" && this.hints.agent)) this.found.push({ kind: "agent", value })
    else if (pathKeys.has(key) || (this.hasFiles && moveKeys.has(key))) {
      for (const kind of this.fileKinds) this.found.push({ kind, value })
    }
  }

  private list(values: ReadonlyArray<Json>, key: string, depth: number): void {
    if (isTextList(values) && commandKeys.has(key)) {
      this.found.push({ kind: "shell", value: quoteWords(values) })
      // The texts are the words of one command, unless they contain spaces: then each may be a command.
      if (key !== "commands" && !values.some((value) => /\s/.test(value))) return
    }
    for (const value of values) this.visit(value, key, depth + 1)
  }

  private object(object: JsonObject, depth: number): void {
    const entries = Object.entries(object).map(([key, value]) => [normalizeKey(key), value] as const)
    const words = entries.find(([key, value]) => argumentKeys.has(key) && isTextList(value))?.[1]
    for (const [key, value] of entries) {
      const isSplitCommand = typeof value === "string" && commandKeys.has(key) && isTextList(words)
      this.visit(isSplitCommand ? `${value} ${quoteWords(words)}` : value, key, depth + 1)
    }
  }
}
