/** Tools of the AI SDK inside the guard. */
import { ConfigError } from "@belay/core/AgentError"
import type { Json } from "@belay/core/Json"
import type { ToolSet } from "ai"
import { GuardError } from "../../GuardError.ts"
import { jsonOf, sameJson } from "../json.ts"
import type { Place } from "../place.ts"
import { toolsOf } from "../unguarded.ts"
import type { DescribedTools } from "./described.ts"

type AnyTool = ToolSet[string]
type Options = Parameters<NonNullable<AnyTool["execute"]>>[1]

const guarded = new WeakSet<object>()

/** Whether a tool is wrapped already. */
export const isGuarded = (tool: AnyTool): boolean => guarded.has(tool)

/** Wraps the tools that the SDK runs. Tools of the client and of the vendor have no function to wrap. */
export const guardTools = <T extends ToolSet>(place: Place, described: DescribedTools, tools: T): T =>
  // Each tool keeps its type, because only its function is replaced.
  Object.fromEntries(
    Object.entries(toolsOf(tools)).map(([name, tool]) => {
      const made = guardTool(place, name, tool)
      described.add(name, tool)
      return [name, made]
    })
  ) as T

const guardTool = (place: Place, name: string, tool: AnyTool): AnyTool => {
  if (typeof tool !== "object" || tool === null) {
    throw new ConfigError({ key: `tools.${name}`, message: `tools.${name}: expected a tool of the AI SDK` })
  }
  if (guarded.has(tool)) {
    throw new ConfigError({
      key: `tools.${name}`,
      message: `tools.${name}: it is guarded already: wrap each tool once`
    })
  }
  const { execute, toModelOutput } = tool
  if (execute === undefined) return tool
  /** The ids of calls whose results hooks have changed. The tool does not know how to show them. */
  const changed = new Set<string>()
  const wrapped = {
    ...tool,
    execute: (input: unknown, options: Options) => runTool(place, name, { tool, changed }, input, options),
    ...(toModelOutput === undefined ? {} : {
      toModelOutput: (given: Parameters<typeof toModelOutput>[0]) =>
        changed.has(given.toolCallId) ? plainOutput(jsonOf(given.output)) : toModelOutput(given)
    })
  } as AnyTool
  guarded.add(wrapped)
  return wrapped
}

const plainOutput = (value: Json) => typeof value === "string" ? { type: "text", value } : { type: "json", value }

/** Runs a tool if the guard allows it. */
const runTool = async (
  place: Place,
  name: string,
  { changed, tool }: { readonly tool: AnyTool; readonly changed: Set<string> },
  input: unknown,
  options: Options
): Promise<unknown> => {
  const { session } = place
  const id = options.toolCallId
  const args = jsonOf(input)
  let ended: { readonly output: unknown; readonly json: Json } | { readonly error: unknown } | undefined
  const verdict = await session.callTool({ id, name, args, tool: await place.toolOf(name) }, async (allowed) => {
    place.ran.add(id)
    try {
      // The turn may have been cancelled while the guard was deciding.
      options.abortSignal?.throwIfAborted()
      const given = sameJson(allowed, args) ? input : await decode(tool, allowed)
      const output = await lastOf(tool.execute!(given as never, options))
      const json = jsonOf(output)
      ended = { output, json }
      return json
    } catch (error) {
      ended = { error }
      throw error
    }
  })
  if (verdict.type === "ask") {
    throw new GuardError({ type: "ask", by: verdict.question.by, reason: `not run yet: ${verdict.question.reason}` })
  }
  if (verdict.type !== "allow") throw new GuardError(verdict)
  place.ran.add(id)
  const { result } = verdict
  // What no hook has changed goes on as the tool gave it, whatever its type is.
  if (result.ok) {
    place.noteResult(id, result.output)
    if (ended !== undefined && "output" in ended && sameJson(ended.json, result.output)) return ended.output
    changed.add(id)
    return result.output
  }
  if (ended !== undefined && "error" in ended && messageOf(ended.error) === result.error) throw ended.error
  throw new Error(result.error)
}

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/**
 * A tool may yield results while it runs. The last one counts; the others are not shown, because no hook has seen them.
 */
const lastOf = async (output: unknown): Promise<unknown> => {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output
  let last: unknown
  for await (const one of output as AsyncIterable<unknown>) last = one
  return last
}

interface Standard {
  readonly "~standard"?: {
    readonly validate: (value: unknown) => Awaited<Validated> | Promise<Validated>
  }
  readonly validate?: (value: unknown) => unknown
}
type Validated = { readonly value?: unknown; readonly issues?: ReadonlyArray<{ readonly message: string }> | undefined }

/** Reads changed arguments with the schema of the tool, as the SDK reads those of the model. */
export const decode = async ({ inputSchema }: AnyTool, args: Json): Promise<unknown> => {
  const schema = (typeof inputSchema === "function" ? (inputSchema as () => unknown)() : inputSchema) as Standard
  const standard = schema?.["~standard"]
  if (standard !== undefined) {
    const read = await standard.validate(args)
    if (read.issues === undefined) return read.value
    throw new Error(`changed arguments do not fit the schema: ${read.issues.map(({ message }) => message).join("; ")}`)
  }
  if (schema?.validate === undefined) return args
  const read = await schema.validate(args) as {
    readonly success: boolean
    readonly value?: unknown
    readonly error?: Error
  }
  if (read.success) return read.value
  throw new Error(`changed arguments do not fit the schema: ${read.error?.message ?? "invalid"}`)
}
