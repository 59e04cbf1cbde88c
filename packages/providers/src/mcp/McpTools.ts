/**
 * Tools of an MCP server as tools of an agent: policy, approval and every hook treat them like any other.
 *
 * @since 0.1.0
 */
import type { Tool } from "@belay/core/defineTool"
import { canonical, digest, type JsonObject, whyNot } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as Answer from "./internal/answer.ts"
import { type Client, list, messageOf, never } from "./internal/client.ts"
import { McpError } from "./internal/error.ts"
import * as Input from "./internal/input.ts"
import { isSchema } from "./internal/schema.ts"

export type { Client } from "./internal/client.ts"
export { McpError } from "./internal/error.ts"

/** @category models @since 0.1.0 */
export interface Options {
  /** What the server is called: a part of its tools' names. */
  readonly server: string
  /**
   * Only tools of these names, as the server has them: `*` stands for any characters, a leading `!` excludes. Default:
   * all.
   */
  readonly include?: string | ReadonlyArray<string>
  /** No tools of these names, as the server has them; `*` stands for any characters. */
  readonly exclude?: string | ReadonlyArray<string>
  /** What goes before the tool's own name. Default `mcp__<server>__`. */
  readonly prefix?: string
  /**
   * Characters of a result that are read at most; a longer text is cut and says so, a larger file is left out. Default
   * 1,000,000.
   */
  readonly maxResultLength?: number
}

/** @category models @since 0.1.0 */
export type McpTool = Tool<string, JsonObject>

/**
 * Asks a connected client for its tools, page by page, and makes a tool of each that is wanted:
 * `mcp__<server>__<tool>`, with the server's JSON Schema and, where it states them, its hints `readOnly`, `destructive`
 * and `idempotent`. A result is the structured content where there is one, else the text, or content parts. A schema
 * that cannot be read here is shown to the model as it is and checked by the server alone. What the server calls an
 * error fails the call. A cancelled turn cancels the call at the server; how long it may take is the agent's to say
 * (`limits.toolMs`), not the client's. Rejects with an `McpError` when the server cannot list its tools, or describes
 * one that cannot be one.
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
    const { server } = options
    const wanted = chosen(options)
    const names = new Set<string>()
    const tools: Array<McpTool> = []
    for (const listed of yield* list(client, server)) {
      const named = Schema.decodeUnknownResult(Named)(listed)
      if (Result.isFailure(named)) return yield* new McpError({ server, message: `${server}: a tool without a name` })
      if (!wanted(named.success.name)) continue
      const described = Schema.decodeUnknownResult(Described)(listed)
      if (Result.isFailure(described)) {
        const { message } = described.failure
        return yield* new McpError({
          server,
          tool: named.success.name,
          message: `${server}: the tool ${JSON.stringify(named.success.name)} is no tool: ${message}`
        })
      }
      const tool = made(client, options, described.success)
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
  }))

const chosen = ({ exclude, include }: Options): (name: string) => boolean => {
  const isIn = include === undefined ? () => true : matcher(include)
  const isOut = exclude === undefined ? () => false : matcher(exclude)
  return (name) => isIn(name) && !isOut(name)
}

const Named = Schema.Struct({ name: Schema.NonEmptyString })
const Described = Schema.Struct({
  name: Schema.NonEmptyString,
  description: Schema.optional(Schema.String),
  inputSchema: Schema.Unknown.check(
    Schema.makeFilter((schema) => isSchema(schema) ? undefined : whyNot(schema) ?? "expected an object")
  ),
  annotations: Schema.optional(Schema.Struct({
    readOnlyHint: Schema.optional(Schema.Boolean),
    destructiveHint: Schema.optional(Schema.Boolean),
    idempotentHint: Schema.optional(Schema.Boolean)
  }))
})

const made = (
  client: Client,
  options: Options,
  { annotations = {}, description, inputSchema, name }: typeof Described.Type
): McpTool => {
  const { maxResultLength = 1_000_000, prefix, server } = options
  const { destructiveHint, idempotentHint, readOnlyHint } = annotations
  return {
    name: nameOf(`${prefix ?? `mcp__${server}__`}${name}`),
    description: description ?? name,
    ...Input.of(inputSchema as JsonObject),
    ...(readOnlyHint === undefined ? {} : { readOnly: readOnlyHint }),
    ...(destructiveHint === undefined ? {} : { destructive: destructiveHint }),
    ...(idempotentHint === undefined ? {} : { idempotent: idempotentHint }),
    execute: (args, { signal }) =>
      Effect.tryPromise({
        try: async () => client.callTool({ name, arguments: { ...args } }, { signal, timeout: never }),
        catch: (error) => new McpError({ server, tool: name, message: messageOf(error) })
      }).pipe(Effect.flatMap((said) =>
        Result.match(Answer.read(said, maxResultLength), {
          onSuccess: Effect.succeed,
          onFailure: (message) => Effect.fail(new McpError({ server, tool: name, message }))
        })
      ))
  }
}

/** What may not be in a name becomes `_`; what is too long ends with a digest. */
const nameOf = (full: string): string => {
  const name = full.replaceAll(/[^A-Za-z0-9_.-]/g, "_")
  return name.length <= 64 ? name : `${name.slice(0, 49)}_${digest(full)}`
}

/** What tools were, by name: SHA-256 over name, description, schema and hints. @category drift @since 0.1.0 */
export interface Fingerprint {
  readonly [name: string]: string
}

/** What has changed between two fingerprints, by name. @category drift @since 0.1.0 */
export interface Drift {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
}

/**
 * Makes a fingerprint of tools, to be kept as JSON: a server may describe its tools otherwise once they were reviewed.
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
export const fingerprint = (tools: ReadonlyArray<McpTool>): Fingerprint =>
  Object.fromEntries(
    tools.map(({ description, destructive, idempotent, input, jsonSchema = input, name, readOnly }) => [
      name,
      createHash("sha256").update(canonical({ name, description, jsonSchema, readOnly, destructive, idempotent }))
        .digest("hex")
    ])
  )

/** Says what has changed, in the order of the alphabet. @category drift @since 0.1.0 */
export const drift = (before: Fingerprint, after: Fingerprint): Drift => {
  const [old, now] = [Object.keys(before).sort(), Object.keys(after).sort()]
  return {
    added: now.filter((name) => !Object.hasOwn(before, name)),
    removed: old.filter((name) => !Object.hasOwn(after, name)),
    changed: old.filter((name) => Object.hasOwn(after, name) && before[name] !== after[name])
  }
}
