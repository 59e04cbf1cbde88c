/**
 * Turns the tools of an MCP server into tools of an agent. Policy, approval and hooks treat them like other tools.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import { checked } from "@belay/core/ArgumentCheck"
import type { Tool, ToolContext } from "@belay/core/defineTool"
import { defined } from "@belay/core/Fields"
import { canonical, digest, type JsonObject, whyNot } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import { checkKinds, checkOptions, type OptionKinds, within } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Answer from "./internal/answer.ts"
import { call, callLive, readerOf } from "./internal/call.ts"
import { type Client, list } from "./internal/client.ts"
import { McpError } from "./internal/error.ts"
import * as Input from "./internal/input.ts"
import { markOf } from "./internal/listing.ts"
import { poolOf } from "./internal/pool.ts"
import { isSchema } from "./internal/schema.ts"
import type { McpServers } from "./McpServers.ts"

export type { Client, Progress } from "./internal/client.ts"
export { McpError } from "./internal/error.ts"

/** Options of `McpTools.fromClient`. @category models @since 0.1.0 */
export interface Options {
  /** Name of the server. It is part of the names of its tools. */
  readonly server: string
  /**
   * Only tools with these names, as the server lists them. `*` matches any characters, a leading `!` excludes. Default:
   * all.
   */
  readonly include?: string | ReadonlyArray<string>
  /** Leaves out tools with these names, as the server lists them. `*` matches any characters. */
  readonly exclude?: string | ReadonlyArray<string>
  /**
   * Whose hints are believed when they loosen something: that a tool only reads, is idempotent, or is not destructive.
   * `true` for all tools of the server, or names as the server lists them; `*` matches any characters. Hints are claims
   * of the server, so by default only the claim that a tool is destructive counts.
   */
  readonly trustHints?: boolean | string | ReadonlyArray<string>
  /**
   * Text before the name of each tool. Default `mcp__<server>__`. Hooks know by `mcp__` that the server chose the name,
   * and then believe no word in it, such as `read`.
   */
  readonly prefix?: string
  /**
   * Maximum number of characters of a result. A longer text is cut and marked, a larger file is left out. Default
   * 1,000,000.
   */
  readonly maxResultLength?: number
  /** How many milliseconds the server has to list all its tools. Default 30,000. */
  readonly timeoutMs?: number
}

const optionKinds: OptionKinds<Options> = {
  server: "text",
  include: "texts",
  exclude: "texts",
  trustHints: ["flag", "texts"],
  prefix: "text",
  maxResultLength: "number",
  timeoutMs: "number"
}

/** A tool of an MCP server. @category models @since 0.1.0 */
export type McpTool = Tool<string, JsonObject>

/**
 * Lists the tools of a connected client, page by page, and returns a tool `mcp__<server>__<tool>` for each selected
 * one. It has the JSON Schema of the server. Of the hints of the server it has `destructive`, and with `trustHints`
 * also `readOnly` and `idempotent`.
 *
 * - The result of a call is the structured content if there is one, otherwise the text, otherwise content parts.
 * - A schema that Belay cannot use, or whose check could take long (`SchemaCost`), is shown to the model, and only the
 *   server checks the arguments. If all schemas of the server together are very large, this holds for the last ones.
 * - An error that the server reports fails the call. If the connection fails, `fate` says whether the call was sent.
 * - Progress that the server reports becomes `tool-progress` events: `{ progress, total, message }`.
 * - Cancelling a turn cancels the call at the server. The time limit is `limits.toolMs` of the agent; the timeout of
 *   the client is switched off.
 *
 * Rejects with an `McpError` if the server does not list its tools within `timeoutMs`, lists an invalid one, or lists
 * more than 5,000. Rejects with a `ConfigError` for an option that is unknown or not valid.
 *
 * @example
 * ```ts
 * import { Client } from "@modelcontextprotocol/client"
 * import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
 * import * as McpTools from "@belay/providers/McpTools"
 *
 * const client = new Client({ name: "my-agent", version: "1.0.0" })
 * await client.connect(new StdioClientTransport({ command: "my-server" }))
 * const tools = await McpTools.fromClient(client, { server: "files", exclude: "delete_*" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const fromClient = (client: Client, options: Options): Promise<ReadonlyArray<McpTool>> =>
  Effect.runPromise(Effect.gen(function*() {
    yield* checkUse("McpTools", options)
    const listed = yield* list(client, options.server, options.timeoutMs)
    return yield* toTools(
      listed,
      options,
      ({ name }) => (args, ctx) => call(client, { name, args, ctx }, options.server)
    )
  }))

/** Options of `McpTools.fromServers`. @category models @since 0.2.0 */
export interface ServerOptions extends Options {
  /**
   * Adds the tool `<prefix>read_resource`, with which the model reads a resource by its address, such as one that a
   * result links to. Default `false`.
   */
  readonly resources?: boolean
}

/**
 * The tools of a server of `McpServers.make`. They are like those of `fromClient`, and they live longer than a
 * connection:
 *
 * - After a server has started again, the next call connects to it, with growing pauses. A call that was not sent is
 *   sent then. A call whose outcome is unknown fails and says so; it is repeated once only if the tool is `readOnly` or
 *   `idempotent` by a trusted hint.
 * - When the server changes a tool, its calls are refused until the tools are listed again. So nobody runs a tool that
 *   is not the one that was reviewed. `onToolsChanged` of the servers tells the program.
 * - While a tool runs, the server may ask the user and the model, if the servers allow it.
 *
 * Rejects like `fromClient`.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as McpServers from "@belay/providers/McpServers"
 * import * as McpTools from "@belay/providers/McpTools"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 *
 * const mcp = McpServers.make({ files: { command: "my-server" } })
 * const tools = await McpTools.fromServers(mcp, { server: "files" })
 * const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools, mcp })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const fromServers = (
  servers: McpServers,
  options: ServerOptions
): Promise<ReadonlyArray<McpTool>> =>
  Effect.runPromise(Effect.gen(function*() {
    yield* checkUse("McpTools.fromServers", options)
    const pool = typeof servers === "object" && servers !== null ? poolOf(servers) : undefined
    if (pool === undefined) {
      const message = "McpTools.fromServers: expected what McpServers.make returned"
      return yield* new ConfigError({ key: "servers", message })
    }
    const { prefix, resources = false, server, timeoutMs } = options
    const listed = yield* pool.use(server, ({ client }) => list(client, server, timeoutMs))
    const tools = yield* toTools(listed, options, (tool) => {
      const mark = markOf(tool.listed)
      const mayRepeat = tool.trusted && (tool.readOnly === true || tool.idempotent === true)
      return (args, ctx) => callLive(pool, server, { name: tool.name, args, ctx, mark, mayRepeat })
    })
    if (!resources) return tools
    const reader = readerOf(pool, server, `${prefix ?? `mcp__${server}__`}read_resource`, options)
    return [...tools.filter(({ name }) => name !== reader.name), reader]
  }))

const checkUse = (owner: string, options: ServerOptions): Effect.Effect<void, ConfigError> =>
  Effect.fromResult(
    Result.andThen(
      checkKinds(owner, options, owner === "McpTools" ? optionKinds : { ...optionKinds, resources: "flag" }, [
        "server"
      ]),
      () => checkOptions(owner, within("timeoutMs", options.timeoutMs, 1))
    )
  )

/** A tool as it was listed, with the hints that count. */
interface Listed extends Pick<McpTool, "readOnly" | "idempotent"> {
  readonly name: string
  readonly listed: unknown
  readonly trusted: boolean
}

/** Runs a call of a tool. */
type Run = (args: JsonObject, ctx: ToolContext) => Effect.Effect<unknown, McpError>

const toTools = (
  all: ReadonlyArray<unknown>,
  options: Options,
  runOf: (tool: Listed) => Run
): Effect.Effect<ReadonlyArray<McpTool>, McpError> =>
  Effect.gen(function*() {
    const { server } = options
    const wanted = nameFilter(options)
    const isTrusted = hintTrust(options)
    const names = new Set<string>()
    const tools: Array<McpTool> = []
    const readInput = Input.makeReader()
    for (const listed of all) {
      const named = Schema.decodeUnknownResult(ToolName)(listed)
      if (Result.isFailure(named)) return yield* new McpError({ server, message: `${server}: a tool without a name` })
      if (!wanted(named.success.name)) continue
      const described = Schema.decodeUnknownResult(ToolDescription)(listed)
      if (Result.isFailure(described)) {
        const { message } = described.failure
        return yield* new McpError({
          server,
          tool: named.success.name,
          message: `${server}: the tool ${JSON.stringify(named.success.name)} is not valid: ${message}`
        })
      }
      const { name, annotations: { idempotentHint, readOnlyHint } = {} } = described.success
      const run = runOf({
        name,
        listed,
        trusted: isTrusted(name),
        ...defined({ readOnly: readOnlyHint, idempotent: idempotentHint })
      })
      // The schema of this declaration has checked it.
      const input = readInput(described.success.inputSchema as JsonObject)
      const tool = toTool(options, isTrusted, input, described.success, run)
      if (names.has(tool.name)) {
        return yield* new McpError({
          server,
          tool: described.success.name,
          message: `${server}: two tools are named ${tool.name}`
        })
      }
      names.add(tool.name)
      tools.push(tool)
    }
    return tools
  })

const nameFilter = ({ exclude, include }: Options): (name: string) => boolean => {
  const isIn = include === undefined ? () => true : matcher(include)
  const isOut = exclude === undefined ? () => false : matcher(exclude)
  return (name) => isIn(name) && !isOut(name)
}

const ToolName = Schema.Struct({ name: Schema.NonEmptyString })
const ToolDescription = Schema.Struct({
  name: Schema.NonEmptyString,
  description: Schema.optional(Schema.String),
  inputSchema: Schema.Unknown.check(
    Schema.makeFilter((schema) => isSchema(schema) ? undefined : whyNot(schema) ?? "expected an object")
  ),
  annotations: Schema.optional(Schema.Struct({
    readOnlyHint: Schema.optional(Schema.Boolean),
    destructiveHint: Schema.optional(Schema.Boolean),
    idempotentHint: Schema.optional(Schema.Boolean),
    openWorldHint: Schema.optional(Schema.Boolean)
  }))
})

/** Whether the hints of a tool may loosen something. */
const hintTrust = ({ trustHints = false }: Options): (name: string) => boolean =>
  typeof trustHints === "boolean" ? () => trustHints : matcher(trustHints)

const toTool = (
  options: Options,
  isTrusted: (name: string) => boolean,
  input: Pick<McpTool, "input" | "jsonSchema">,
  { annotations = {}, description, name }: typeof ToolDescription.Type,
  run: Run
): McpTool => {
  const { maxResultLength = 1_000_000, prefix, server } = options
  const { destructiveHint, idempotentHint, openWorldHint, readOnlyHint } = annotations
  return {
    name: nameOf(`${prefix ?? `mcp__${server}__`}${name}`),
    description: description ?? name,
    ...input,
    ...(isTrusted(name)
      ? defined({
        readOnly: readOnlyHint,
        destructive: destructiveHint,
        idempotent: idempotentHint,
        openWorld: openWorldHint
      })
      : defined({
        destructive: destructiveHint === true ? true : undefined,
        openWorld: openWorldHint === true ? true : undefined
      })),
    execute: (args, ctx) =>
      Effect.flatMap(run(args, ctx), (said) =>
        Result.match(Answer.readAnswer(said, maxResultLength), {
          onSuccess: Effect.succeed,
          onFailure: (message) => Effect.fail(new McpError({ server, tool: name, message }))
        }))
  }
}

/** Replaces characters that are not allowed in a name by `_`. A name that is too long ends with a digest. */
const nameOf = (full: string): string => {
  const name = full.replaceAll(/[^A-Za-z0-9_.-]/g, "_")
  return name.length <= 64 ? name : `${name.slice(0, 49)}_${digest(full)}`
}

/** SHA-256 of each tool over its name, description, schema and hints, by name. @category drift @since 0.1.0 */
export interface Fingerprint {
  readonly [name: string]: string
}

/** The tools that differ between two fingerprints, by name. @category drift @since 0.1.0 */
export interface Drift {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
}

/**
 * Returns a fingerprint of tools. Store it as JSON when you have reviewed the tools, to find out later whether the
 * server changed them.
 *
 * @example
 * ```ts
 * import * as McpTools from "@belay/providers/McpTools"
 *
 * const isAsReviewed = (reviewed: McpTools.Fingerprint, tools: ReadonlyArray<McpTools.McpTool>): boolean => {
 *   const { added, changed } = McpTools.drift(reviewed, McpTools.fingerprint(tools))
 *   return added.length === 0 && changed.length === 0
 * }
 * ```
 * @category drift
 * @since 0.1.0
 */
export const fingerprint = checked(
  "McpTools.fingerprint",
  ["tools"],
  (tools: ReadonlyArray<McpTool>): Fingerprint =>
    Object.fromEntries(
      tools.map(({ description, destructive, idempotent, input, jsonSchema = input, name, openWorld, readOnly }) => [
        name,
        process.getBuiltinModule("node:crypto").createHash("sha256").update(
          canonical({ name, description, jsonSchema, readOnly, destructive, idempotent, openWorld })
        )
          .digest("hex")
      ])
    )
)

/** Compares two fingerprints. The names are sorted. @category drift @since 0.1.0 */
export const drift = checked(
  "McpTools.drift",
  ["before", "after"],
  (before: Fingerprint, after: Fingerprint): Drift => {
    const [old, now] = [Object.keys(before).sort(), Object.keys(after).sort()]
    return {
      added: now.filter((name) => !Object.hasOwn(before, name)),
      removed: old.filter((name) => !Object.hasOwn(after, name)),
      changed: old.filter((name) => Object.hasOwn(after, name) && before[name] !== after[name])
    }
  }
)
