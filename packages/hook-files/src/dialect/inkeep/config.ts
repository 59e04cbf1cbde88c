/**
 * Checks definitions and attachments before any of them runs, and sorts the attachments in the order in which they run.
 */
import { ConfigError } from "@belay/core/AgentError"
import type { Json } from "@belay/core/Json"
import { nearest } from "@belay/core/NamePattern"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { whyNotBundled } from "./bundle.ts"
import { points } from "./response.ts"
import type { Attachment, Definition, Scope } from "./types.ts"

/** An attachment with its definition and its default values. */
export interface Attached extends Pick<Attachment, "hookPoint" | "sandboxConfig" | "writes"> {
  readonly scope: Scope
  readonly order: number
  readonly onError: "proceed" | "abort"
  readonly name: string
  readonly definition: Definition
  readonly decoded: Json | undefined
}

/** Checks all attachments and sorts them: those of the project first, then those of agents, each by `order`. */
export const attached = (
  hook: string,
  definitions: ReadonlyArray<Definition>,
  attachments: ReadonlyArray<Attachment>
): Result.Result<ReadonlyArray<Attached>, ConfigError> => {
  const known = new Map<string, Definition>()
  for (const [index, definition] of definitions.entries()) {
    const key = `${hook}.definitions[${index}]`
    const why = wrong(definition, known)
    if (why !== undefined) return refuse(key, why)
    known.set(definition.id, definition)
  }
  const all: Array<Attached> = []
  for (const [index, attachment] of attachments.entries()) {
    const key = `${hook}.attachments[${index}]`
    const { config, hookDefinitionId, hookPoint, sandboxConfig, writes } = attachment
    const scope = scopeOf(attachment)
    const onError = attachment.onError ?? "proceed"
    const order = attachment.order ?? 0
    const definition = known.get(hookDefinitionId)
    if (definition === undefined) {
      return refuse(`${key}.hookDefinitionId`, `there is no definition ${JSON.stringify(hookDefinitionId)}`)
    }
    if (!points.includes(hookPoint)) {
      const near = nearest(String(hookPoint), points)
      return refuse(
        `${key}.hookPoint`,
        `${JSON.stringify(hookPoint)} is not known${near === undefined ? "" : `; did you mean "${near}"?`}`
      )
    }
    if (scope === undefined) {
      return refuse(
        `${key}.scope`,
        `expected "project", { _tag: "project" }, { _tag: "agent", agentId }, or "agent" with an agentId beside it`
      )
    }
    if (!Number.isFinite(order)) return refuse(`${key}.order`, "expected a number")
    if (onError !== "proceed" && onError !== "abort") return refuse(`${key}.onError`, `expected "proceed" or "abort"`)
    const { schema = null } = definition
    const decoded = schema === null
      ? Result.succeed(config ?? undefined)
      : Schema.decodeUnknownResult(schema)(config ?? {})
    if (Result.isFailure(decoded)) {
      return refuse(`${key}.config`, `does not fit ${definition.id}: ${String(decoded.failure.message)}`)
    }
    const name = attachment.name ??
      `${definition.name ?? definition.id}@${scope._tag === "project" ? "project" : scope.agentId}`
    const twin = all.find((one) => one.name === name && one.hookPoint === hookPoint)
    if (twin !== undefined) {
      return refuse(
        `${key}.name`,
        `${JSON.stringify(name)} is used twice at ${hookPoint}: give one of the attachments another name`
      )
    }
    all.push({
      hookPoint,
      scope,
      onError,
      order,
      name,
      definition,
      decoded: decoded.success as Json | undefined,
      ...(sandboxConfig === undefined ? {} : { sandboxConfig }),
      ...(writes === undefined ? {} : { writes })
    })
  }
  const tier = ({ scope }: Attached) => scope._tag === "project" ? 0 : 1
  return Result.succeed(all.sort((a, b) => tier(a) - tier(b) || a.order - b.order))
}

/** Reads the scope, which is an object, or a text with `agentId` beside it. Returns undefined if it is neither. */
const scopeOf = ({ agentId, scope }: Attachment): Scope | undefined => {
  const isText = scope === "agent" || scope === "project"
  // A row with another scope than it says would run for too many agents, or for none.
  if ((agentId ?? undefined) !== undefined && scope !== "agent") return undefined
  const read = isText ? { _tag: scope, agentId } : scope
  if (read?._tag === "project") return { _tag: "project" }
  return read?._tag === "agent" && typeof read.agentId === "string" && read.agentId !== ""
    ? { _tag: "agent", agentId: read.agentId }
    : undefined
}

const wrong = (definition: Definition, known: ReadonlyMap<string, Definition>): string | undefined => {
  if (typeof definition.id !== "string" || definition.id === "") return "expected an id"
  if (known.has(definition.id)) return `there are two definitions ${JSON.stringify(definition.id)}`
  if ((definition.schema ?? undefined) !== undefined && !Schema.isSchema(definition.schema)) {
    return "expected a schema of Effect in `schema`"
  }
  if (definition.execution === "in-process") {
    return typeof definition.run === "function"
      ? undefined
      : "expected a function `run`"
  }
  if (typeof definition.executeCode !== "string") {
    return "expected executeCode, a text, or execution: \"in-process\" with a function `run`"
  }
  return whyNotBundled(definition)
}

const refuse = (key: string, why: string): Result.Result<never, ConfigError> =>
  Result.fail(new ConfigError({ key, message: `${key}: ${why}` }))
