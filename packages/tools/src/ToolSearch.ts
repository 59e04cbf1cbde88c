/**
 * Tool search: for agents with many tools. The model reads the names of the tools, searches for those that it needs,
 * and reads only their definitions.
 *
 * @since 0.2.0
 */
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import { messageOf } from "@belay/core/ErrorMessage"
import type { Json } from "@belay/core/Json"
import { matcher, nearest } from "@belay/core/NamePattern"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import type { ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { namesOf, tokensOf } from "./internal/search/names.ts"
import { makeIndex } from "./internal/search/rank.ts"
import {
  callDescription,
  callTool,
  readCall,
  searchDescription,
  searchHook,
  searchTool,
  vendorHook
} from "./internal/search/searchHook.ts"
import { closest, type Vectors } from "./internal/search/vectors.ts"
import { ToolError } from "./ToolError.ts"

/** Makes vectors from texts, such as `Embeddings.make` of `@belay/providers`. @category models @since 0.2.0 */
export interface Embedder {
  /** Returns a vector for each text, in the same order. */
  readonly embed: (
    texts: ReadonlyArray<string>
  ) => PromiseLike<{ readonly vectors: ReadonlyArray<ReadonlyArray<number>> }>
}

/** Options of `ToolSearch.make`. @category models @since 0.2.0 */
export interface Options {
  /** All tools of the agent, or those that may be left out of the requests. */
  readonly tools: ReadonlyArray<AnyTool>
  /** Up to this number of tools, nothing is left out, and the tools are returned as they are. Default 30. */
  readonly above?: number
  /**
   * Names of tools that are never left out; `*` matches any characters. Tools with `instructions`, such as those of
   * `Skills`, never are. Default: none.
   */
  readonly always?: string | ReadonlyArray<string>
  /**
   * The most tokens that the names in the instructions and the two tools may cost, as an estimate. With fewer tokens,
   * the names have shorter descriptions, then none, and then only groups of names are listed. Default 2,500.
   */
  readonly maxTokens?: number
  /** How many definitions a search returns, unless the model wants another number. Default 5. */
  readonly results?: number
  /**
   * Ranks by meaning in addition to words. The descriptions of all tools are sent to it at the first search. Default:
   * words only, without any request.
   */
  readonly embedder?: Embedder
  /**
   * Lets the vendor search: requests contain all tools, and those that would be left out are marked, so that the model
   * reads them only when the vendor's search has found them. Use it with the Responses API of vendors that have it; a
   * request to another API fails before it is sent. `maxTokens`, `results` and `embedder` then do nothing. Default
   * false.
   */
  readonly vendor?: boolean
}

const optionKinds: OptionKinds<Options> = {
  tools: "list",
  above: "number",
  always: "texts",
  maxTokens: "number",
  results: "number",
  embedder: "object",
  vendor: "flag"
}

const maxResults = 20

/**
 * Returns the tools for an agent that has many. If there are more than `above`, requests to the model contain only
 * `search_tools`, `call_tool` and the tools of `always`; the instructions list the names of the others. The model
 * searches, reads the definitions in the result, and calls the tools through `call_tool`. Definitions that were read
 * are part of the conversation, so the beginning of the requests stays the same, byte for byte.
 *
 * Everything else sees calls of the tools themselves, with their own names and arguments: policies, hooks, approvals,
 * data flow, events and stores. What was read is remembered for each agent, also after a resume in another process. A
 * call of a tool whose definition was not read does not run; its result is an error with the definition.
 *
 * Throws a `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import type { AnyTool } from "@belay/core/defineTool"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import { Toolset, ToolSearch } from "@belay/tools"
 *
 * const make = (provider: LlmProvider, hundreds: ReadonlyArray<AnyTool>) =>
 *   createAgent({
 *     provider,
 *     tools: ToolSearch.make({ tools: [...Toolset.files(), ...hundreds], always: ["Read", "Grep"] })
 *   })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (options: Options): ReadonlyArray<AnyTool> => {
  Result.getOrThrow(checkKinds("ToolSearch", options, optionKinds, ["tools"]))
  const { above = 30, always = [], maxTokens = 2_500, results = 5, tools } = options
  Result.getOrThrow(
    checkOptions(
      "ToolSearch",
      [
        "tools",
        tools,
        (all: Options["tools"]) => all.every(isTool),
        "a list of tools, each with a name and a description"
      ],
      whole("above", above, 0, 1_000_000),
      whole("maxTokens", maxTokens, 300, 1_000_000),
      whole("results", results, 1, maxResults),
      [
        "embedder",
        options.embedder,
        (embedder: Embedder) => typeof embedder.embed === "function",
        "an object with a function embed"
      ]
    )
  )
  const isNamed = [always].flat().length === 0 ? () => false : matcher(always)
  // The instructions of a tool tell the model to call it.
  const stays = ({ instructions, name }: AnyTool) => instructions !== undefined || isNamed(name)
  const deferred = tools.filter((tool) => !stays(tool))
  if (tools.length <= above || deferred.length === 0) return tools
  if (options.vendor === true) {
    const hooks = [vendorHook()]
    return [
      ...tools.filter(stays),
      ...deferred.map((tool) => withParts(tool, { deferred: "vendor", hooks: [...(tool.hooks ?? []), ...hooks] }))
    ]
  }
  return [
    ...tools.filter(stays),
    ...searchTools(deferred, maxTokens, results, options.embedder),
    ...deferred.map((tool) => withParts(tool, { deferred: true }))
  ]
}

/** A program without types may pass anything. */
const isTool = ({ description, name }: { readonly description?: unknown; readonly name?: unknown }): boolean =>
  typeof name === "string" && typeof description === "string"

/** A tool may be an instance of a class, whose methods are not its own. */
const withParts = (tool: AnyTool, parts: Partial<AnyTool>): AnyTool =>
  Object.assign(Object.create(Object.getPrototypeOf(tool) as object) as AnyTool, tool, parts)

const searchInput = Schema.Struct({
  query: Schema.String.annotate({ description: "What the tool should do, in a few words, or names of tools" }),
  limit: Schema.optionalKey(Schema.Int.annotate({ description: `The most tools to return, up to ${maxResults}` }))
})
const callInput = Schema.Struct({
  name: Schema.String.annotate({ description: "The name of a tool that search_tools has returned" }),
  arguments: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Json).annotate({ description: "The arguments that its definition describes" })
  )
})

const searchTools = (
  deferred: ReadonlyArray<AnyTool>,
  maxTokens: number,
  results: number,
  embedder: Embedder | undefined
): ReadonlyArray<AnyTool> => {
  const names = new Set(deferred.map(({ name }) => name))
  const metas = new Map<string, ToolMeta>()
  const hook = searchHook({
    deferred: names,
    learn: (tools) => {
      if (metas.size > 0) return
      for (const tool of tools()) if (names.has(tool.name)) metas.set(tool.name, tool)
    }
  })
  const definitionOf = ({ description, name }: AnyTool): Json => {
    const meta = metas.get(name)
    return { name, description, ...(meta === undefined ? {} : { input: meta.inputSchema }) }
  }
  const head = `There are ${deferred.length} more tools. Before you use one of them, find it with ${searchTool}, ` +
    `which returns its definition; then call it with ${callTool}. These are`
  const index = lazily(() =>
    makeIndex(
      deferred.map(({ description, name }) => ({ name, description, arguments: argumentsOf(metas.get(name)) }))
    )
  )
  let vectors: Vectors | undefined
  const search = defineTool({
    name: searchTool,
    description: searchDescription,
    input: searchInput,
    readOnly: true,
    hooks: [hook],
    instructions: `${head}:\n${namesOf(deferred, maxTokens - fixedTokens(head))}`,
    execute: Effect.fnUntraced(function*({ limit = results, query }) {
      const words = index().search(query)
      const meaning = embedder === undefined ? undefined : yield* Effect.result(Effect.tryPromise({
        try: async () => {
          vectors ??= (await embedder.embed(deferred.map(({ description, name }) => `${name}: ${description}`))).vectors
          const [wanted] = (await embedder.embed([query])).vectors
          return closest(vectors, wanted ?? [])
        },
        catch: messageOf
      }))
      const ranked = meaning === undefined || Result.isFailure(meaning) ? words : mixed(words, meaning.success)
      const found = ranked.slice(0, Math.min(Math.max(1, limit), maxResults)).map((at) => deferred[at]!)
      const notes = [
        ...(found.length === 0 ? ["No tool fits. Try other words, or a name from the instructions."] : []),
        ...(meaning !== undefined && Result.isFailure(meaning)
          ? [`The tools were ranked by words only: ${meaning.failure}`]
          : [])
      ]
      return { tools: found.map(definitionOf), ...(notes.length === 0 ? {} : { note: notes.join(" ") }) }
    })
  })
  const call = defineTool({
    name: callTool,
    description: callDescription,
    input: callInput,
    readOnly: true,
    hooks: [hook],
    execute: (given) => {
      // Calls of tools whose definitions were read never come here: the hook turned them into calls of those tools.
      const { args, name = "" } = readCall(given as Json)
      const tool = deferred.find((one) => one.name === name)
      if (tool === undefined) {
        const near = nearest(name, names)
        const hint = near === undefined ? `search with ${searchTool}` : `did you mean ${near}?`
        return failed("missing", `there is no tool ${JSON.stringify(name.slice(0, 80))} to call: ${hint}`)
      }
      const why = args === undefined ? "its arguments are not an object" : "its definition was not loaded"
      return failed(
        "arguments",
        `${name} did not run, because ${why}. Here is its definition; call it again with ${callTool}, and arguments ` +
          `that fit: ${JSON.stringify(definitionOf(tool))}`
      )
    }
  })
  return [search, call]
}

/** What the two tools and the words around the names cost. */
const fixedTokens = (head: string): number => tokensOf(`${head}${searchDescription}${callDescription}`) + 180

const lazily = <A>(make: () => A): () => A => {
  let made: A | undefined
  return () => made ??= make()
}

/** Each list gives points by rank, which needs no common scale. */
const mixed = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): ReadonlyArray<number> => {
  const points = new Map<number, number>()
  for (const list of [one, other]) {
    list.forEach((at, rank) => points.set(at, (points.get(at) ?? 0) + 1 / (60 + rank)))
  }
  return [...points].sort(([a, x], [b, y]) => y - x || a - b).map(([at]) => at)
}

/** The names and descriptions of the arguments. */
const argumentsOf = (meta: ToolMeta | undefined): string => {
  const properties = meta?.inputSchema["properties"]
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return ""
  return Object.entries(properties as { readonly [name: string]: Json }).map(([name, schema]) => {
    const about = typeof schema === "object" && schema !== null && !Array.isArray(schema)
      ? (schema as { readonly [key: string]: Json })["description"]
      : undefined
    return typeof about === "string" ? `${name} ${about}` : name
  }).join(" ")
}

const failed = (reason: ToolError["reason"], message: string): Effect.Effect<never, ToolError> =>
  Effect.fail(new ToolError({ tool: callTool, reason, message }))
