/** Runs Gemini CLI hooks about calls of tools and their results, and the tools that they call in their place. */
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import { failure, type ToolMeta, type ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import { cap } from "../shared/fields.ts"
import type { Renamed } from "../shared/renamedTools.ts"
import { noVerdict, type Verdict } from "./answer.ts"
import type { Fire } from "./input.ts"
import * as Tools from "./tools.ts"

interface Call {
  readonly name: string
  readonly args: Json
  readonly about: ToolMeta | undefined
  /** The tool that the model asked for, where this one runs in its place. */
  readonly original?: string
}

export interface Setup {
  readonly fire: Fire
  readonly tools: Renamed
  /** The tool that the model was offered and that has this name, here or there. */
  readonly toolNamed: (name: string, ctx: HookContext) => ToolMeta | undefined
}

export interface Calls {
  readonly fireForTool: (
    event: "BeforeTool" | "AfterTool",
    call: Call,
    ctx: HookContext,
    more?: JsonObject
  ) => Effect.Effect<Verdict> | undefined
  /** The arguments with what hooks want of them. */
  readonly merged: (call: Call, wanted: JsonObject, ctx: HookContext) => Json
  /** The result after all hooks; a text is the reason why the turn ends. */
  readonly afterTool: (
    call: Call,
    result: ToolResult,
    ctx: HookContext,
    depth?: number
  ) => Effect.Effect<ToolResult | string>
}

const none = Effect.succeed(noVerdict)

/** Most tools that run one after another in place of one call's result. */
const maxTail = 5

export const make = ({ fire, toolNamed, tools }: Setup): Calls => {
  const fireForTool: Calls["fireForTool"] = (event, call, ctx, more = {}) => {
    const { input, name: tool } = tools.known(call.name, call.args, ctx.cwd, call.about)
    const original = call.original === undefined ? {} : { original_request_name: call.original }
    // A server's tool also fits by the name that others have for it.
    return fire(
      event,
      { tool_name: tool, tool_input: input, ...Tools.mcpOf(call.name), ...original, ...more },
      ctx,
      [call.name].filter((one) => one.startsWith("mcp__"))
    )
  }

  const merged: Calls["merged"] = (call, wanted, ctx) => {
    const { back, input } = tools.known(call.name, call.args, ctx.cwd, call.about)
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
      } else if (tail !== undefined) {
        const next = yield* tailed(call.original ?? tools.nameOf(call.name), tail, ctx, depth)
        if (typeof next === "string") return next
        last = next
      }
      return contexts.length === 0 ? last : withContext(last, cap(contexts.join("\n")), ctx)
    })

  /** Runs another tool: its result takes the place of the first. */
  const tailed = (
    original: string,
    { args, name: wanted }: { readonly name: string; readonly args: JsonObject },
    ctx: HookContext,
    depth: number
  ) =>
    Effect.gen(function*() {
      const about = toolNamed(wanted, ctx)
      const call: Call = {
        name: about?.name ?? wanted,
        args: about === undefined ? args : Tools.argsFor(tools, about, args, ctx.cwd),
        about,
        original
      }
      const { asked, denied, stopped, toolInput } = yield* fireForTool("BeforeTool", call, ctx) ?? none
      if (stopped !== undefined) return stopped
      if (denied !== undefined || asked !== undefined) return failure(denied ?? asked!)
      const last = toolInput === undefined ? call : { ...call, args: merged(call, toolInput, ctx) }
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

/** Behind a text; beside anything else. */
const withContext = (result: ToolResult, context: string, ctx: HookContext): ToolResult => {
  if (!result.ok) return failure(`${result.error}\n\n${context}`)
  if (typeof result.output === "string") return { ok: true, output: `${result.output}\n\n${context}` }
  ctx.inject(context)
  return result
}
