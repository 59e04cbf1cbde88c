/** Maps tools and their arguments to the names and fields that hook scripts know, and back. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolMeta } from "@belay/core/Tool"
import { isAbsolute, resolve } from "node:path"

/** The name of a tool in hook files, and the fields for its arguments. */
export interface ToolName {
  readonly name: string
  /** Maps argument names to field names, such as `{ where: "file_path" }`. */
  readonly fields?: { readonly [argument: string]: string }
}

/** The names of your tools in hook files. @category models @since 0.1.0 */
export type ToolNames = { readonly [tool: string]: string | ToolName }

/** A call in the format of scripts. `back` converts changed input to the arguments of the tool. */
export interface Known {
  readonly name: string
  readonly input: JsonObject
  readonly back: (input: JsonObject) => Json
}

const splitWords = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** Maps common tool names to those of Claude Code. */
const guesses = new Map(
  Object.entries({
    Bash: "bash shell sh terminal run_command run_shell_command execute_command exec_command run_bash " +
      "run_terminal_cmd shell_command",
    Read: "read read_file view view_file open_file cat",
    Write: "write write_file create_file save_file",
    Edit: "edit edit_file str_replace replace_in_file apply_edit update_file",
    MultiEdit: "multi_edit multiedit",
    NotebookEdit: "notebook_edit notebookedit edit_notebook",
    TodoWrite: "todo_write todowrite",
    Glob: "glob find_files file_search",
    Grep: "grep search_files grep_search ripgrep",
    LS: "ls list_files list_directory list_dir",
    Skill: "skill load_skill",
    WebFetch: "web_fetch webfetch fetch fetch_url http_get",
    WebSearch: "web_search websearch search_web"
  }).flatMap(([name, tools]) => splitWords(tools).map((tool) => [tool, name] as const))
)

const file = { file_path: splitWords("path file filepath filename file_name target_file") }

/** Lists common argument names for the fields of each tool. */
const aliases: { readonly [tool: string]: { readonly [field: string]: ReadonlyArray<string> } } = {
  Bash: { command: splitWords("cmd script command_line commandline shell_command") },
  Read: file,
  Write: { ...file, content: splitWords("contents text data") },
  Edit: {
    ...file,
    old_string: splitWords("old_str old_text oldtext oldstring old search"),
    new_string: splitWords("new_str new_text newtext newstring new replace replacement")
  },
  MultiEdit: file,
  NotebookEdit: { notebook_path: splitWords("path file filepath") },
  Glob: { pattern: splitWords("glob") },
  Grep: { pattern: splitWords("regex query search") },
  WebFetch: { url: splitWords("uri href link") },
  WebSearch: { query: splitWords("q search") }
}

const pathFields: ReadonlySet<string> = new Set(["file_path", "notebook_path"])

const plain = (name: string): string => name.toLowerCase().replaceAll("-", "_")

/** Returns the name of a tool in hook files: the name that the host set, or a guess from the tool's own name. */
export const nameOf = (tool: string, names: ToolNames): string => {
  const configured = Object.hasOwn(names, tool) ? names[tool]! : undefined
  return configured === undefined ? guessName(tool) : typeof configured === "string" ? configured : configured.name
}

const guessName = (tool: string): string => {
  const before = guessedNames.get(tool)
  if (before !== undefined) return before
  const name = guesses.get(plain(tool)) ?? guesses.get(plain(tool.replaceAll(/([a-z])([A-Z])/g, "$1_$2"))) ?? tool
  if (guessedNames.size === 256) guessedNames.clear()
  if (tool.length <= 128) guessedNames.set(tool, name)
  return name
}

/** A cache of guessName names. It is kept because agents call the same few tools many times. */
const guessedNames = new Map<string, string>()

/**
 * Returns a function that tells whether a tool takes an argument. It returns true if the schema does not list the
 * arguments.
 */
const takenBy = (tool: ToolMeta | undefined): (argument: string) => boolean => {
  const properties = tool !== undefined && Object.hasOwn(tool.inputSchema, "properties")
    ? tool.inputSchema["properties"]
    : undefined
  return typeof properties === "object" && properties !== null
    ? (argument) => Object.hasOwn(properties, argument)
    : () => true
}

/**
 * Converts a call to the format of scripts. With `cwd`, paths of files become absolute, as scripts of Claude Code
 * expect. If an argument is mapped to a field, another argument that already has the field's name but is not in the
 * tool's schema is hidden, because the script would check a value that the tool never reads.
 */
export const known = (
  tool: string,
  args: Json,
  names: ToolNames,
  cwd: string | undefined,
  about?: ToolMeta
): Known => {
  const name = nameOf(tool, names)
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return { name, input: { value: args }, back: (input) => Object.hasOwn(input, "value") ? input["value"]! : null }
  }
  const own = args as JsonObject
  const takes = takenBy(about)
  const configured = Object.hasOwn(names, tool) ? names[tool]! : undefined
  const fields = new Map(
    typeof configured === "object"
      ? Object.entries(configured.fields ?? {}).filter(([argument]) => Object.hasOwn(own, argument))
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
  const shown = (field: string, value: Json): Json =>
    cwd !== undefined && isRelative(field, value) ? resolve(cwd, value) : value
  const isSame = fields.size === 0 &&
    (cwd === undefined || !Object.keys(own).some((field) => isRelative(field, own[field]!)))
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
 * Returns the call as environment variables: `tool_name`, and `tool_input_…` for each text, number or boolean. The
 * values are never inserted into a shell command.
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
      // A value over the limits of the operating system is skipped, because the command could not be started with it.
      if (
        text.length > maxVariable || total + text.length > maxVariables || count === maxCount || text.includes("\0")
      ) continue
      total += text.length
      count++
      found[variable] = text
    }
  }
  // Many linters are started with `--file $tool_input_path`.
  const { tool_input_file_path: file, tool_input_path: path } = found
  return file === undefined || path !== undefined ? found : { ...found, tool_input_path: file }
}
