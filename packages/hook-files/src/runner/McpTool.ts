/**
 * Calls a tool of an MCP server for an event. The result has the form of a command's result.
 *
 * @since 0.1.0
 */
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import type { Finished } from "../process/Command.ts"
import { broke, type Ended, said, within } from "./internal/within.ts"

/** The tool and its arguments. @category models @since 0.1.0 */
export interface Request {
  readonly server: string
  /** The name that the server uses. */
  readonly tool: string
  /**
   * Arguments. `${tool_input.file_path}` in a text is replaced by this field of the event. Default: the whole event.
   */
  readonly input?: JsonObject
  readonly event: JsonObject
  /** Timeout for the answer, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * Calls the tool. Its structured content, otherwise its first text, becomes standard output with exit code 0. If the
 * tool fails or cannot be called, the result is exit code 1 with the message as standard error. It never fails.
 *
 * @example
 * ```ts
 * import type { HookContext } from "@belay/core/HookContext"
 * import * as McpTool from "@belay/hook-files/McpTool"
 *
 * const scan = (file: string, ctx: HookContext) =>
 *   McpTool.run({
 *     server: "security",
 *     tool: "scan_file",
 *     input: { path: "${tool_input.file_path}" },
 *     event: { tool_input: { file_path: file } },
 *     timeoutMs: 60_000
 *   }, ctx)
 * ```
 * @category running
 * @since 0.1.0
 */
export const run = (
  { event, input, server, timeoutMs, tool }: Request,
  ctx: Pick<HookContext, "mcp">
): Effect.Effect<Finished> =>
  within(
    timeoutMs,
    Effect.suspend(() =>
      Effect.map(
        ctx.mcp.callTool(server, tool, input === undefined ? event : fill(input, event) as JsonObject),
        ({ content, isError, structuredContent }): Ended => {
          const text =
            content.flatMap((part) =>
              part["type"] === "text" && typeof part["text"] === "string" ? [part["text"]] : []
            )[0] ?? ""
          if (isError) return broke(text.trim() === "" ? `${tool} of ${server} failed and did not say why` : text)
          return said(structuredContent === undefined ? text : JSON.stringify(structuredContent))
        }
      )
    )
  )

/** Replaces placeholders by values of the event. A text that is only a placeholder becomes the value itself. */
const fill = (value: Json, event: JsonObject): Json => {
  if (typeof value === "string") {
    const whole = /^\$\{([A-Za-z_][\w.-]*)\}$/.exec(value)?.[1]
    if (whole !== undefined) return at(event, whole) ?? ""
    return value.replaceAll(/\$\{([A-Za-z_][\w.-]*)\}/g, (_all, path: string) => {
      const found = at(event, path) ?? ""
      return typeof found === "string" ? found : JSON.stringify(found)
    })
  }
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((item: Json) => fill(item, event))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, event)]))
}

const at = (event: JsonObject, path: string): Json | undefined => {
  let found: Json | undefined = event
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as JsonObject)[key]
  }
  return found
}
