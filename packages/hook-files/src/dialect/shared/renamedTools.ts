/** Tools under the names and with the fields of a dialect, by way of those that Claude's scripts know. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolMeta } from "@belay/core/Tool"
import * as Claude from "./toolNames.ts"

/** How a dialect calls what Claude calls otherwise. */
export interface Vocabulary {
  /** Names of tools by Claude's. */
  readonly names: { readonly [tool: string]: string }
  /** More names that tools have there, and Claude's for them. */
  readonly others: { readonly [name: string]: string }
  /** Names of fields by Claude's, for a tool of Claude's. */
  readonly fields: { readonly [tool: string]: { readonly [field: string]: string } }
  /** What a tool that Claude has no name for is called. */
  readonly plain: (tool: string) => string
}

/** A call as scripts of the dialect read it, with Claude's words for the same beside it. */
export interface Known extends Claude.Known {
  readonly claude: Claude.Known
  /** Fields of the dialect by Claude's, where they differ. */
  readonly fields: ReadonlyMap<string, string>
}

export interface Renamed {
  readonly known: (tool: string, args: Json, cwd: string, about?: ToolMeta) => Known
  readonly nameOf: (tool: string) => string
}

export const make = ({ fields, names, others, plain }: Vocabulary, told: Claude.ToolNames): Renamed => {
  const claudes = new Map([
    ...Object.entries(names).map(([claude, name]) => [name, claude] as const),
    ...Object.entries(others)
  ])
  const fieldsOf = (tool: string) => Object.hasOwn(fields, tool) ? fields[tool]! : {}
  const claudeOf = (name: string) => claudes.get(name) ?? name
  /** What the host says in the words of the dialect, said in Claude's. */
  const translated = new Map(
    Object.entries(told).map(([tool, said]): readonly [string, string | Claude.ToolName] => {
      if (typeof said === "string") return [tool, claudeOf(said)]
      const name = claudeOf(said.name)
      const back = new Map(Object.entries(fieldsOf(name)).map(([claude, field]) => [field, claude]))
      const renamed = Object.entries(said.fields ?? {}).map(([argument, field]) => [argument, back.get(field) ?? field])
      return [tool, { name, fields: Object.fromEntries(renamed) as { readonly [argument: string]: string } }]
    })
  )
  const namesFor = (tool: string): Claude.ToolNames => {
    const said = translated.get(tool) ?? claudes.get(tool)
    return said === undefined ? {} : { [tool]: said }
  }
  const called = (claude: string) => Object.hasOwn(names, claude) ? names[claude]! : plain(claude)
  return {
    nameOf: (tool) => called(Claude.known(tool, {}, namesFor(tool), "/").name),
    known: (tool, args, cwd, about) => {
      const claude = Claude.known(tool, args, namesFor(tool), cwd, about)
      const { input } = claude
      // An argument that the tool never reads does not pass for a field that another one stands for.
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

/** Whether a tool has an argument, as far as its schema says. */
const takes = (about: ToolMeta | undefined, argument: string): boolean => {
  const properties = about !== undefined && Object.hasOwn(about.inputSchema, "properties")
    ? about.inputSchema["properties"]
    : undefined
  return typeof properties !== "object" || properties === null || Object.hasOwn(properties, argument)
}
