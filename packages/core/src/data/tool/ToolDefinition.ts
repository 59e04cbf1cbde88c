/**
 * What a person approved when they approved a tool: its description, its schema and its hints. An approval counts only
 * while they are the same.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { withoutMadeDefaults } from "../internal/madeDefaults.ts"
import { canonical } from "../Json.ts"
import type { ToolMeta } from "./Tool.ts"

/**
 * The definition of a tool, as texts. A text of more than 2,000 characters is replaced by its length and its SHA-256.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolDefinition extends Schema.Schema.Type<typeof ToolDefinition> {}
/** @category schemas @since 0.1.0 */
export const ToolDefinition = Schema.Struct({
  description: Schema.String,
  /** The JSON Schema of the arguments, as canonical JSON, without defaults that a function makes. */
  schema: Schema.String,
  /** The hints that are set, such as `readOnly`. */
  hints: Schema.String
})

/** A part of a definition that is different now. @category models @since 0.1.0 */
export interface DefinitionChange extends Schema.Schema.Type<typeof DefinitionChange> {}
/** @category schemas @since 0.1.0 */
export const DefinitionChange = Schema.Struct({
  part: Schema.Literals(["description", "schema", "hints"]),
  before: Schema.String,
  now: Schema.String
})

/** Returns the definition of a tool. @category reading @since 0.1.0 */
export const definitionOf = (tool: ToolMeta): Effect.Effect<ToolDefinition> => {
  const hints = (["readOnly", "destructive", "idempotent", "openWorld"] as const).flatMap((hint) =>
    tool[hint] === undefined ? [] : [`${hint}: ${tool[hint]}`]
  )
  const texts = [tool.description, canonical(withoutMadeDefaults(tool.inputSchema)), hints.join(", ")]
  const isShort = texts.every((text) => text.length <= maxLength)
  const bounded = isShort ? Effect.succeed(texts) : Effect.promise(() => Promise.all(texts.map(shorten)))
  return Effect.map(bounded, ([description = "", schema = "", shown = ""]) => ({ description, schema, hints: shown }))
}

/** Returns the parts of a definition that are different now. @category reading @since 0.1.0 */
export const changesOf = (before: ToolDefinition, now: ToolDefinition): ReadonlyArray<DefinitionChange> =>
  (["description", "schema", "hints"] as const).flatMap((part) =>
    before[part] === now[part] ? [] : [{ part, before: before[part], now: now[part] }]
  )

const maxLength = 2_000

const shorten = async (text: string): Promise<string> => {
  if (text.length <= maxLength) return text
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  return `${text.length} characters, SHA-256 ${hex}`
}
