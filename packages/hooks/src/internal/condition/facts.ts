/** What a tool call is about, whatever the tool is called: the commands, files, addresses and agents in its arguments. */
import type { Json } from "@belay/core/Json"

/** What a tool does. @category models @since 0.1.0 */
export type Kind = "shell" | "write" | "read" | "fetch" | "agent"

/** One thing a tool does, and the argument that says with what: a text or a list of texts. @category models @since 0.1.0 */
export interface ToolKind {
  readonly kind: Kind
  readonly field: string
}

/** What tools do, by their exact names. Tools that are not here are guessed by their names and arguments. @category models @since 0.1.0 */
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

const commandKeys = new Set(["command", "commands", "cmd", "commandline", "shellcommand", "bash"])
const codeKeys = new Set(["script", "code", "input", "line"])
const urlKeys = new Set(["url", "uri", "href", "urls", "link", "links", "endpoint"])
const agentKeys = new Set(["subagenttype", "agenttype", "subagent", "agent", "agentname"])
const pathKeys = new Set([
  ...[
    "path",
    "paths",
    "filepath",
    "filepaths",
    "filename",
    "filenames",
    "file",
    "files",
    "pathname",
    "notebookpath",
    "directory",
    "dir",
    "folder"
  ],
  ...[
    "targetfile",
    "targetpath",
    "sourcepath",
    "destinationpath",
    "oldpath",
    "newpath",
    "outputpath",
    "inputpath",
    "outfile",
    "infile",
    "absolutepath"
  ],
  ...["relativepath", "outputfile", "inputfile", "filepathname", "localpath", "relativeworkspacepath"]
])
const moveKeys = new Set(["source", "src", "destination", "dest", "dst", "from", "to", "target", "output", "oldname", "newname"])

const maxNodes = 2_000
const maxDepth = 4

/** What a call does. */
export const factsOf = (call: Call, kinds: Kinds = {}): ReadonlyArray<Fact> => {
  const told = Object.hasOwn(kinds, call.tool) ? kinds[call.tool]! : undefined
  if (told === undefined) return guessed(call)
  const list: ReadonlyArray<ToolKind> = Array.isArray(told) ? told : [told as ToolKind]
  return list.flatMap(({ field, kind }): ReadonlyArray<Fact> => {
    const value = own(call.args, field)
    if (typeof value === "string") return [{ kind, value }]
    if (isTexts(value)) return kind === "shell" ? [{ kind, value: quoted(value) }] : value.map((one) => ({ kind, value: one }))
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

const quoted = (words: ReadonlyArray<string>): string => words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ")

/** Tools that only have a shell in their names. */
const aboutShells = new Set(["BashOutput", "KillShell", "KillBash"])

const guessed = ({ args, readOnly, tool }: Call): ReadonlyArray<Fact> => {
  if (aboutShells.has(tool)) return []
  const name = tool.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase()
  const words = new Set(name.split(/[^a-z]+/))
  const is = (...all: ReadonlyArray<string>) => all.some((word) => words.has(word))
  const shell = is(
    "bash",
    "shell",
    "sh",
    "zsh",
    "terminal",
    "exec",
    "execute",
    "powershell",
    "console",
    "command",
    "commands",
    "cmd",
    "run"
  )
  const reads = readOnly === true ||
    is("read", "view", "cat", "ls", "list", "glob", "grep", "search", "find", "stat", "open", "show", "head", "tail", "tree")
  const writes = readOnly !== true &&
    is(
      "write",
      "edit",
      "multiedit",
      "create",
      "save",
      "append",
      "patch",
      "delete",
      "remove",
      "move",
      "rename",
      "mkdir",
      "copy",
      "replace",
      "update",
      "insert",
      "upload",
      "put"
    )
  const about: ReadonlyArray<Kind> = writes && !reads ? ["write"] : reads && !writes ? ["read"] : ["read", "write"]
  const files = reads || writes || is("file", "files", "dir", "directory", "folder", "fs", "path")
  const found: Array<Fact> = []
  let nodes = 0
  const visit = (value: Json, key: string, depth: number): void => {
    if (++nodes > maxNodes || depth > maxDepth) return
    if (typeof value === "string") {
      if (commandKeys.has(key) || (shell && codeKeys.has(key))) found.push({ kind: "shell", value })
      else if (urlKeys.has(key)) found.push({ kind: "fetch", value })
      else if (agentKeys.has(key) || (key === "type" && is("agent", "task"))) found.push({ kind: "agent", value })
      else if (pathKeys.has(key) || (files && moveKeys.has(key))) { for (const kind of about) found.push({ kind, value }) }
    } else if (Array.isArray(value)) {
      if (isTexts(value) && commandKeys.has(key)) found.push({ kind: "shell", value: quoted(value) })
      for (const one of value) visit(one, key, depth + 1)
    } else if (typeof value === "object" && value !== null) {
      for (const [inner, one] of Object.entries(value)) visit(one, inner.toLowerCase().replaceAll(/[_-]/g, ""), depth + 1)
    }
  }
  visit(args, "", 0)
  if (nodes > maxNodes) { for (const kind of all) found.push({ kind, value: undefined }) }
  else if (shell && !found.some(({ kind }) => kind === "shell") && is("bash", "shell", "zsh", "terminal", "powershell")) {
    found.push({ kind: "shell", value: undefined })
  }
  return found
}

const all: ReadonlyArray<Kind> = ["shell", "write", "read", "fetch", "agent"]
