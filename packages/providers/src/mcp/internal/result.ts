/** Reads the answer of a server for `ctx.mcp` of a hook. */
import { type JsonObject, whyNot } from "@belay/core/Json"
import type { McpResult } from "@belay/core/Mcp"
import * as Result from "effect/Result"

/** Returns the result, or the reason why the answer is not a result. */
export const readResult = (answer: unknown, max: number): Result.Result<McpResult, string> => {
  if (!isObject(answer)) return Result.fail("the server's answer is not a tool result")
  const { content = [], isError = false, structuredContent } = answer
  if (!Array.isArray(content) || !content.every(isObject) || typeof isError !== "boolean") {
    return Result.fail("the server's answer is not a tool result")
  }
  if (structuredContent !== undefined && !isObject(structuredContent)) {
    return Result.fail("the server's structured content is not an object")
  }
  const result = { content, isError, ...(structuredContent === undefined ? {} : { structuredContent }) }
  const why = whyNot(result)
  if (why !== undefined) return Result.fail(`the server's answer is not JSON: ${why}`)
  const text = JSON.stringify(result)
  return text.length > max
    ? Result.fail(`the server's answer is too large: ${text.length} characters, and at most ${max} are read`)
    // `read` has checked the shape.
    : Result.succeed(JSON.parse(text) as McpResult)
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
