/** Tools under the names and with the fields that scripts know, and back. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolMeta } from "@belay/core/Tool"
import { isAbsolute, resolve } from "node:path"

/** What a tool is called in settings files, and which of its arguments is which field there. */
export interface ToolName {
  readonly name: string
  /** The field by the argument's own name, such as `{ where: "file_path" }`. */
  readonly fields?: { readonly [argument: string]: string }
}

export type ToolNames = { readonly [tool: string]: string | ToolName }

/** A call as scripts read it, and what their new input means for the tool. */
export interface Known {
  readonly name: string
  readonly input: JsonObject
  readonly back: (input: JsonObject) => Json
}

const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** Names that tools often have. */
const guesses = new Map(
  Object.entries({
    Bash:
      "bash shell sh terminal run_command run_shell_command execute_command exec_command run_bash run_terminal_cmd shell_command",
    Read: "read read_file view view_file open_file cat",
    Write: "write write_file create_file save_file",
    Edit: "edit edit_file str_replace replace_in_file apply_edit update_file",
    MultiEdit: "multi_edit multiedit",
    NotebookEdit: "notebook_edit notebookedit edit_notebook",
    TodoWrite: "todo_write todowrite",
    Glob: "glob find_files file_search",
    Grep: "grep search_files grep_search ripgrep",
    LS: "ls list_files list_directory list_dir",
    WebFetch: "web_fetch webfetch fetch fetch_url http_get",
    WebSearch: "web_search websearch search_web"
  }).flatMap(([name, tools]) => words(tools).map((tool) => [tool, name] as const))
)

const file = { file_path: words("path file filepath filename file_name target_file") }

/** Names that arguments often have. */
const aliases: { readonly [tool: string]: { readonly [field: string]: ReadonlyArray<string> } } = {
  Bash: { command: words("cmd script command_line commandline shell_command") },
  Read: file,
  Write: { ...file, content: words("contents text data") },
  Edit: {
    ...file,
    old_string: words("old_str old_text oldtext oldstring old search"),
    new_string: words("new_str new_text newtext newstring new replace replacement")
  },
  MultiEdit: file,
  NotebookEdit: { notebook_path: words("path file filepath") },
  Glob: { pattern: words("glob") },
  Grep: { pattern: words("regex query search") },
  WebFetch: { url: words("uri href link") },
  WebSearch: { query: words("q search") }
}

const pathFields: ReadonlySet<string> = new Set(["file_path", "notebook_path"])

const plain = (name: string): string => name.toLowerCase().replaceAll("-", "_")

/** What a tool is called: as the host says, or as its name suggests. */
export const nameOf = (tool: string, names: ToolNames): string => {
  const told = Object.hasOwn(names, tool) ? names[tool]! : undefined
  return told === undefined ? guessed(tool) : typeof told === "string" ? told : told.name
}

const guessed = (tool: string): string => {
  const before = remembered.get(tool)
  if (before !== undefined) return before
  const name = guesses.get(plain(tool)) ?? guesses.get(plain(tool.replaceAll(/([a-z])([A-Z])/g, "$1_$2"))) ?? tool
  if (remembered.size === 256) remembered.clear()
  if (tool.length <= 128) remembered.set(tool, name)
  return name
}

/** Agents call few tools, and often. */
const remembered = new Map<string, string>()

/** The arguments that a tool takes, where its schema says so. */
const takenBy = (tool: ToolMeta | undefined): (argument: string) => boolean => {
  const properties = tool !== undefined && Object.hasOwn(tool.inputSchema, "properties")
    ? tool.inputSchema["properties"]
    : undefined
  return typeof properties === "object" && properties !== null
    ? (argument) => Object.hasOwn(properties, argument)
    : () => true
}

/**
 * Reads a call. Paths of files are absolute, as scripts expect. Where an argument stands for a field, another one that
 * has the field's name by itself
 * but is none of the tool's is not shown: a script would judge what the tool never reads.
 */
export const known = (tool: string, args: Json, names: ToolNames, cwd: string, about?: ToolMeta): Known => {
  const name = nameOf(tool, names)
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return { name, input: { value: args }, back: (input) => Object.hasOwn(input, "value") ? input["value"]! : null }
  }
  const own = args as JsonObject
  const takes = takenBy(about)
  const told = Object.hasOwn(names, tool) ? names[tool]! : undefined
  const fields = new Map(
    typeof told === "object"
      ? Object.entries(told.fields ?? {}).filter(([argument]) => Object.hasOwn(own, argument))
      : []
  )
  const wanted = Object.hasOwn(aliases, name) ? aliases[name]! : {}
  for (const field in wanted) {
    if ((Object.hasOwn(own, field) && takes(field)) || [...fields.values()].includes(field)) continue
    const argument = Object.keys(own).find((key) =>
      !fields.has(key) && takes(key) && wanted[field]!.includes(plain(key))
    )
    if (argument !== undefined) fields.set(argument, field)
  }
  const originals = new Map([...fields].map(([argument, field]) => [field, argument]))
  const shown = (field: string, value: Json): Json => isRelative(field, value) ? resolve(cwd, value) : value
  const isSame = fields.size === 0 && !Object.keys(own).some((field) => isRelative(field, own[field]!))
  const input = isSame ? own : Object.fromEntries(
    Object.entries(own).filter(([argument]) => fields.has(argument) || !originals.has(argument)).map(
      ([argument, value]) => {
        const field = fields.get(argument) ?? argument
        return [field, shown(field, value)]
      }
    )
  )
  return {
    name,
    input,
    back: (changed) =>
      Object.fromEntries(
        Object.entries(changed).map(([field, value]) => {
          const argument = originals.get(field) ?? field
          return [argument, Object.hasOwn(input, field) && input[field] === value ? own[argument]! : value]
        })
      )
  }
}

const isRelative = (field: string, value: Json): value is string =>
  pathFields.has(field) && typeof value === "string" && value !== "" && !isAbsolute(value) && !value.startsWith("~") &&
  !/^\w+:\/\//.test(value)

const maxVariable = 32_768
const maxVariables = 262_144
const maxCount = 500

/**
 * The call as variables, `tool_name` and a `tool_input_…` for each text, number or boolean: never a part of a line of
 * shell.
 */
export const variables = (name: string, ...inputs: ReadonlyArray<Json>): { readonly [name: string]: string } => {
  const found: Record<string, string> = { tool_name: name }
  let total = 0
  let count = 0
  for (const input of inputs) {
    if (typeof input !== "object" || input === null || Array.isArray(input)) continue
    for (const [key, value] of Object.entries(input as JsonObject)) {
      const variable = `tool_input_${key}`
      if (!/^\w{1,64}$/.test(key) || typeof value === "object" || Object.hasOwn(found, variable)) continue
      const text = String(value)
      // More than the system takes would keep the command from being started at all.
      if (
        text.length > maxVariable || total + text.length > maxVariables || count === maxCount || text.includes("\0")
      ) continue
      total += text.length
      count++
      found[variable] = text
    }
  }
  return found
}
