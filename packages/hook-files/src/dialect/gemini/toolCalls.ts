/** Runs Gemini CLI hooks for tool calls and their results, and calls the other tools that hooks request. */
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import { failure, type ToolMeta, type ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import { cap } from "../../internal/fields.ts"
import type { Renamed } from "../shared/renamedTools.ts"
import { noVerdict, type Verdict } from "./answer.ts"
import type { Fire } from "./input.ts"
import * as Tools from "./tools.ts"
import { fields as own } from "./wire.ts"

interface Call {
  readonly name: string
  readonly args: Json
  readonly about: ToolMeta | undefined
  /** The tool that the model called, if this tool runs instead of it. */
  readonly original?: string
}

export interface Setup {
  readonly fire: Fire
  readonly tools: Renamed
  /** Finds a tool that was offered to the model, by its own name or by its name in Gemini CLI. */
  readonly toolNamed: (name: string, ctx: HookContext) => ToolMeta | undefined
}

export interface Calls {
  readonly fireForTool: (
    event: "BeforeTool" | "AfterTool",
    call: Call,
    ctx: HookContext,
    more?: JsonObject
  ) => Effect.Effect<Verdict> | undefined
  /** Returns the arguments with the changes of hooks. */
  readonly merged: (call: Call, wanted: JsonObject) => Json
  /** Runs the hooks for a result and returns the new result. If the turn has to end, returns the reason as a text. */
  readonly afterTool: (
    call: Call,
    result: ToolResult,
    ctx: HookContext,
    depth?: number
  ) => Effect.Effect<ToolResult | string>
}

const none = Effect.succeed(noVerdict)

/** The maximum number of tools that hooks can call one after another to replace one result. */
const maxTail = 5

export const make = ({ fire, toolNamed, tools }: Setup): Calls => {
  const fireForTool: Calls["fireForTool"] = (event, call, ctx, more = {}) => {
    const { input, name: tool } = tools.known(call.name, call.args, call.about)
    const original = call.original === undefined ? {} : { original_request_name: call.original }
    // A matcher can also use the `mcp__server__tool` name of an MCP tool.
    return fire(
      event,
      { [own.tool]: tool, [own.input]: input, ...Tools.mcpOf(call.name), ...original, ...more },
      ctx,
      [call.name].filter((one) => one.startsWith("mcp__"))
    )
  }

  const merged: Calls["merged"] = (call, wanted) => {
    const { back, input } = tools.known(call.name, call.args, call.about)
    return back({ ...input, ...wanted })
  }

  const afterTool: Calls["afterTool"] = (call, result, ctx, depth = 0) =>
    Effect.gen(function*() {
      const { contexts, denied, stopped, tail, toolOutput } =
        yield* fireForTool("AfterTool", call, ctx, { tool_response: responseOf(result) }) ?? none
      if (stopped !== undefined) return stopped
      if (denied !== undefined) return failure(denied)
      let last: ToolResult = toolOutput === undefined ? result : { ok: true, output: toolOutput }
      if (tail !== undefined && depth >= maxTail) {
        ctx.warn(`tailToolCallRequest does not count: ${maxTail} tools ran one after another`)
      } else if (tail !== undefined && !ctx.askedAgain) {
        const next = yield* callTail(call.original ?? tools.nameOf(call.name), tail, ctx, depth)
        if (typeof next === "string") return next
        last = next
      }
      return contexts.length === 0 ? last : withContext(last, cap(contexts.join("\n")), ctx)
    })

  /** Calls the tool that a hook requested. Its result replaces the first result. */
  const callTail = (
    original: string,
    { args, name: wanted }: { readonly name: string; readonly args: JsonObject },
    ctx: HookContext,
    depth: number
  ) =>
    Effect.gen(function*() {
      const about = toolNamed(wanted, ctx)
      const call: Call = {
        name: about?.name ?? wanted,
        args: about === undefined ? args : Tools.argsFor(tools, about, args),
        about,
        original
      }
      const { asked, denied, stopped, toolInput } = yield* fireForTool("BeforeTool", call, ctx) ?? none
      if (stopped !== undefined) return stopped
      if (denied !== undefined || asked !== undefined) return failure(denied ?? asked!)
      const last = toolInput === undefined ? call : { ...call, args: merged(call, toolInput) }
      const result = yield* Effect.catch(ctx.callTool(last.name, last.args), (error) =>
        Effect.succeed(failure(error.message)))
      return yield* afterTool(last, result, ctx, depth + 1)
    })

  return { fireForTool, merged, afterTool }
}

const responseOf = (result: ToolResult): JsonObject => {
  const content = result.ok ? result.output : result.error
  const returnDisplay = typeof content === "string" ? content : JSON.stringify(content)
  return { llmContent: content, returnDisplay, ...(result.ok ? {} : { error: { message: result.error } }) }
}

/**
 * Appends the context to a result that is a text. If the result is not a text, adds the context to the conversation.
 */
const withContext = (result: ToolResult, context: string, ctx: HookContext): ToolResult => {
  if (!result.ok) return failure(`${result.error}\n\n${context}`)
  if (typeof result.output === "string") return { ok: true, output: `${result.output}\n\n${context}` }
  ctx.inject(context)
  return result
}
