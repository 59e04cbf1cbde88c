/** Makes the agent of a guard from the options of a driver. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ChainError, ConfigError } from "../../../data/AgentError.ts"
import { checkKinds, invalidOption, type OptionKinds } from "../../../data/option/OptionCheck.ts"
import type { ToolMeta } from "../../../data/tool/Tool.ts"
import * as ArtifactStore from "../../../port/ArtifactStore.ts"
import type { GuardedTool, GuardOptions } from "../../Driver.ts"
import { checkParts } from "../definition/checkParts.ts"
import type { GuardedAgent } from "../definition/guardedAgent.ts"
import { hookRoles } from "../definition/hookRoles.ts"
import { resolveHooks } from "../definition/resolveHooks.ts"
import { EventHub } from "../event/eventHub.ts"
import { isProduction, workingFolder } from "../platform/platform.ts"
import * as ToolSchema from "../schema/toolSchema.ts"

/** The options of a guard. */
export const optionKinds: OptionKinds<GuardOptions> = {
  hooks: "list",
  hookSources: "list",
  policy: "object",
  tools: "list",
  driver: "text",
  seesRequests: "flag",
  onAsk: "function",
  changeNote: "function",
  approvals: "object",
  store: "object",
  artifacts: "object",
  http: "object",
  mcp: "object",
  llm: "function",
  records: "flag",
  followUps: "number",
  log: "any",
  freeze: "flag",
  cwd: "text"
}

/** The agent of a guard, and what it warns about. */
export interface SessionAgent {
  readonly agent: GuardedAgent
  readonly warnings: ReadonlyArray<string>
}

/** Checks the options, and makes the agent. */
export const sessionAgentOf = (options: GuardOptions): Result.Result<SessionAgent, ConfigError | ChainError> =>
  Result.gen(function*() {
    yield* checkKinds("guard", options, optionKinds)
    yield* checkParts("guard", options)
    const cwd = options.cwd ?? workingFolder()
    const { chain, warnings } = yield* resolveHooks(options, cwd)
    const schemas = yield* schemasOf(options.tools ?? [])
    const { approvals, changeNote, onAsk, records, store } = options
    const agent: GuardedAgent = {
      ...hookRoles(chain),
      config: {
        ...(approvals === undefined ? {} : { approvals }),
        ...(changeNote === undefined ? {} : { changeNote }),
        ...(onAsk === undefined ? {} : { onAsk }),
        ...(records === undefined ? {} : { records }),
        ...(store === undefined ? {} : { store })
      },
      info: { name: "agent", depth: 0, invokedBy: "main" },
      core: { coreType: options.driver ?? "guard" },
      dispatcher: {
        decode: ({ name }, args) => {
          const decoded = schemas.get(name)?.decode(args) ?? { ok: true, args }
          return decoded instanceof Promise ? Effect.promise(() => decoded) : decoded
        }
      },
      tools: new Map(
        (options.tools ?? []).map((tool) => [tool.name, metaOf(tool.name, tool, schemas.get(tool.name)?.inputSchema)])
      ),
      policy: options.policy,
      hub: new EventHub(),
      freeze: options.freeze ?? !isProduction(),
      cwd,
      hookNames: new Map(),
      artifacts: options.artifacts ?? store?.artifacts ?? ArtifactStore.inMemory(),
      http: options.http,
      mcp: options.mcp
    }
    return { agent, warnings }
  })

const schemasOf = (
  tools: ReadonlyArray<GuardedTool>
): Result.Result<ReadonlyMap<string, ToolSchema.ToolSchema>, ConfigError> =>
  Result.gen(function*() {
    const schemas = new Map<string, ToolSchema.ToolSchema>()
    const names = new Set<string>()
    for (const [index, { input, inputSchema, name }] of tools.entries()) {
      if (typeof name !== "string" || name === "") {
        return yield* invalidOption(`guard.tools[${index}].name`, "expected the name of a tool")
      }
      if (names.has(name)) return yield* invalidOption(`guard.tools.${name}`, `two tools are named "${name}"`)
      names.add(name)
      if (input === undefined) continue
      const given = inputSchema === undefined ? { name, input } : { name, input, jsonSchema: inputSchema }
      schemas.set(name, yield* ToolSchema.read(given))
    }
    return schemas
  })

/** Returns what is known about a tool. */
export const metaOf = (
  name: string,
  { description = "", destructive, idempotent, inputSchema, openWorld, readOnly }: Omit<GuardedTool, "name" | "input">,
  ownSchema = inputSchema
): ToolMeta =>
  Object.freeze({
    name,
    description,
    inputSchema: ownSchema ?? anyObject,
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(destructive === undefined ? {} : { destructive }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(openWorld === undefined ? {} : { openWorld })
  })

const anyObject = Object.freeze({ type: "object" })
