/**
 * A rule-based model. It selects tools by the words of the last user message, fills their arguments from the JSON
 * Schema and the task, and answers from the tool results. The same request always gets the same answer.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Evidence } from "./internal/brain/evidence.ts"
import { fill, numbersIn } from "./internal/brain/fill.ts"
import { plan, type Step } from "./internal/brain/plan.ts"
import * as say from "./internal/brain/say.ts"
import { type WireMessage, type WireRequest, wireText } from "./internal/endpoint/wire.ts"

/** An answer of a model: text, tool calls, or both. @category models @since 0.1.0 */
export interface Answer {
  readonly text?: string
  readonly reasoning?: string
  /** If `args` is a string it is sent unchanged, so that it can be invalid. A missing `id` is generated. */
  readonly toolCalls?: ReadonlyArray<{ readonly id?: string; readonly name: string; readonly args: Json }>
  /** Default: `tool_calls` if there are tool calls, otherwise `stop`. */
  readonly finishReason?: string
  /** The usage object. If it is absent, it is computed from the lengths. */
  readonly usage?: JsonObject
  /** Model in the answer. Default: the requested model. */
  readonly model?: string
}

/**
 * Answers a chat completion request (the body of `POST /v1/chat/completions`, decoded).
 *
 * @category running
 * @since 0.1.0
 */
export const answer = checked("Brain.answer", ["request"], (request: WireRequest): Answer => {
  const at = taskIndex(request)
  const task = wireText(request.messages[at])
  const work = request.messages.slice(at + 1)
  const made = work.flatMap((message) => message.toolCalls ?? [])
  const results = work.filter((message) => message.role === "tool").map(wireText)
  const steps = chosenSteps(request, task, made.length)
  const next = steps.slice(
    made.length,
    /\b(?:in parallel|at once|at the same time)\b/iu.test(task) ? undefined : made.length + 1
  )
  const used = made.map((call) => parseJson(call.args))
  if (next.length > 0) {
    return {
      toolCalls: next.map(({ clause, tool }) => ({
        name: tool.name,
        args: fill(tool.parameters, evidence(clause, task, results, used))
      }))
    }
  }
  if (request.schema !== undefined) {
    return { text: JSON.stringify(fill(request.schema, evidence(task, task, results, used))) }
  }
  return { text: results.length > 0 ? say.report(made, results) : say.reply(request, task) }
})

/** A user message between two steps, such as a reminder of a hook, starts a new task only if it names a tool. */
const taskIndex = (request: WireRequest): number => {
  const { messages, tools } = request
  const last = messages.findLastIndex((message) => message.role === "user")
  for (let index = last; index >= 0; index--) {
    if (messages[index]?.role !== "user") continue
    const before = messages[index - 1]?.role
    if ((before !== "tool" && before !== "user") || plan(wireText(messages[index]), tools).length > 0) return index
  }
  return last
}

const chosenSteps = (request: WireRequest, task: string, made: number): ReadonlyArray<Step> => {
  const { toolChoice, tools } = request
  if (toolChoice === "none") return []
  const steps = plan(task, tools)
  if (made > 0 || toolChoice === undefined || toolChoice === "auto") return steps
  const forced = toolChoice === "required"
    ? steps[0]?.tool ?? tools[0]
    : tools.find((tool) => tool.name === toolChoice.tool)
  if (forced === undefined || steps[0]?.tool === forced) return steps
  return [{ tool: forced, clause: task }, ...steps]
}

const evidence = (
  clause: string,
  task: string,
  results: ReadonlyArray<string>,
  used: ReadonlyArray<Json>
): Evidence => ({
  clause,
  task,
  results,
  used,
  numbers: numbersIn(clause)
})

const parseJson = (text: string): Json => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}

/** A message of the request. @category models @since 0.1.0 */
export type { WireMessage, WireRequest }
