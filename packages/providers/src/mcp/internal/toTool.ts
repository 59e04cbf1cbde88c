/** A tool of a server, as a tool of an agent. */
import type { ToolContext } from "@belay/core/defineTool"
import { defined } from "@belay/core/Fields"
import { digest, type JsonObject, whyNot } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { McpTool, Options } from "../McpTools.ts"
import * as Answer from "./answer.ts"
import { McpError } from "./error.ts"
import { isSchema } from "./schema.ts"

/** Runs a call of a tool. */
export type Run = (args: JsonObject, ctx: ToolContext) => Effect.Effect<unknown, McpError>

export const ToolName = Schema.Struct({ name: Schema.NonEmptyString })

export const ToolDescription = Schema.Struct({
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
export const hintTrust = ({ trustHints = false }: Options): (name: string) => boolean =>
  typeof trustHints === "boolean" ? () => trustHints : matcher(trustHints)

export const toTool = (
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
