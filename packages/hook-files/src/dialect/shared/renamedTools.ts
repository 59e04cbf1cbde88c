/**
 * Maps tools to the names and fields of a dialect. It first maps them to the names and fields of Claude Code, and then
 * to those of the dialect.
 */
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolMeta } from "@belay/core/Tool"
import * as Claude from "./toolNames.ts"

/** The differences between the names of a dialect and those of Claude Code. */
export interface Vocabulary {
  /** Maps tool names of Claude Code to those of the dialect. */
  readonly names: { readonly [tool: string]: string }
  /** Maps other tool names of the dialect to those of Claude Code. */
  readonly others: { readonly [name: string]: string }
  /** For each tool of Claude Code, maps its field names to those of the dialect. */
  readonly fields: { readonly [tool: string]: { readonly [field: string]: string } }
  /** Returns the name of a tool that Claude Code does not have. */
  readonly plain: (tool: string) => string
}

/** A call in the format of the dialect, with the same call in the format of Claude Code. */
export interface Known extends Claude.Known {
  readonly claude: Claude.Known
  /** Maps field names of Claude Code to those of the dialect, if they differ. */
  readonly fields: ReadonlyMap<string, string>
}

export interface Renamed {
  /** Paths stay as the model wrote them. */
  readonly known: (tool: string, args: Json, about?: ToolMeta) => Known
  readonly nameOf: (tool: string) => string
}

export const make = ({ fields, names, others, plain }: Vocabulary, configured: Claude.ToolNames): Renamed => {
  const claudes = new Map([
    ...Object.entries(names).map(([claude, name]) => [name, claude] as const),
    ...Object.entries(others)
  ])
  const fieldsOf = (tool: string) => Object.hasOwn(fields, tool) ? fields[tool]! : {}
  const claudeOf = (name: string) => claudes.get(name) ?? name
  /** The tool names that the host configured with names of the dialect, translated to the names of Claude Code. */
  const translated = new Map(
    Object.entries(configured).map(([tool, said]): readonly [string, string | Claude.ToolName] => {
      if (typeof said === "string") return [tool, claudeOf(said)]
      const name = claudeOf(said.name)
      const back = new Map(Object.entries(fieldsOf(name)).map(([claude, field]) => [field, claude]))
      const renamed = Object.entries(said.fields ?? {}).map(([argument, field]) => [argument, back.get(field) ?? field])
      return [tool, { name, fields: Object.fromEntries(renamed) as { readonly [argument: string]: string } }]
    })
  )
  const namesFor = (tool: string): Claude.ToolNames => {
    const name = translated.get(tool) ?? claudes.get(tool)
    return name === undefined ? {} : { [tool]: name }
  }
  const called = (claude: string) => Object.hasOwn(names, claude) ? names[claude]! : plain(claude)
  return {
    nameOf: (tool) => called(Claude.known(tool, {}, namesFor(tool), undefined).name),
    known: (tool, args, about) => {
      const claude = Claude.known(tool, args, namesFor(tool), undefined, about)
      const { input } = claude
      // A field is renamed unless the call already has an argument with the new name. If the tool does not take that
      // argument, the argument is hidden, because the script would check a value that the tool never reads.
      const own = new Map(
        Object.entries(fieldsOf(claude.name)).filter(([field, name]) =>
          !Object.hasOwn(input, name) || (Object.hasOwn(input, field) && !takes(about, name))
        )
      )
      const shown = Object.fromEntries(Object.entries(input).filter(([field]) => ![...own.values()].includes(field)))
      const back = new Map([...own].map(([field, name]) => [name, field]))
      const rename = (input: JsonObject, by: ReadonlyMap<string, string>): JsonObject =>
        Object.fromEntries(Object.entries(input).map(([field, value]) => [by.get(field) ?? field, value]))
      return {
        name: called(claude.name),
        input: rename(shown, own),
        back: (input) => claude.back(rename(input, back)),
        claude,
        fields: own
      }
    }
  }
}

/** Whether a tool has an argument. Returns true if the schema does not list its arguments. */
const takes = (about: ToolMeta | undefined, argument: string): boolean => {
  const properties = about !== undefined && Object.hasOwn(about.inputSchema, "properties")
    ? about.inputSchema["properties"]
    : undefined
  return typeof properties !== "object" || properties === null || Object.hasOwn(properties, argument)
}
