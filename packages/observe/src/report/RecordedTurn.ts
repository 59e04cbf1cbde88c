/**
 * The turns of a recording, for scorers of evaluation libraries and for own checks: what was asked, what was answered,
 * and which tools ran.
 *
 * @since 0.1.0
 */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { checked } from "@belay/core/ArgumentCheck"
import type { Json } from "@belay/core/Json"
import type { Recording } from "./Recording.ts"

/** A tool call of a turn, in the order in which the calls ended. @category models @since 0.1.0 */
export interface RecordedCall {
  readonly name: string
  readonly args: Json
  /** The result, or why there is none. */
  readonly result: Json
  readonly isError: boolean
  /** False if a hook answered for the tool, or if the call was refused. */
  readonly executed: boolean
}

/** A turn of the agent that the host started. @category models @since 0.1.0 */
export interface RecordedTurn {
  readonly session: string
  readonly turn: number
  readonly agent: string
  /** The message. */
  readonly input: string
  /** The answer. It is empty if the turn failed. */
  readonly output: string
  /** `completed`, or the reason why there is no answer, such as `failed` or `suspended`. */
  readonly status: string
  /** The calls of this agent and of its sub-agents. */
  readonly calls: ReadonlyArray<RecordedCall>
}

/**
 * Returns the turns that have ended, in the order of their ends. A turn that was suspended and resumed is one turn.
 *
 * @example
 * ```ts
 * import { Recording, RecordedTurn } from "@belay/observe"
 * import * as Result from "effect/Result"
 * import { readFileSync } from "node:fs"
 *
 * const recording = Result.getOrThrow(Recording.parse(readFileSync("runs/today.jsonl", "utf8")))
 * for (const { input, output } of RecordedTurn.of(recording)) console.log(input, output)
 * ```
 * @category reading
 * @since 0.1.0
 */
export const of = checked("RecordedTurn.of", ["recording"], ({ entries }: Recording): ReadonlyArray<RecordedTurn> => {
  const open = new Map<string, { input: string; calls: Array<RecordedCall> }>()
  const ended = new Map<string, RecordedTurn>()
  for (const entry of entries) {
    if (entry.type !== "event") continue
    const { event } = entry
    const { rootSessionId, sessionId, turnNumber } = event
    const isRoot = sessionId === rootSessionId
    const id = `${rootSessionId} ${turnNumber}`
    if (event.type === "turn-start" && isRoot) {
      const before = open.get(rootSessionId)
      // A resumed turn begins with an empty message.
      const resumed = event.resumed ? before : undefined
      open.set(rootSessionId, resumed ?? { input: event.message, calls: [] })
    }
    const turn = open.get(rootSessionId)
    if (turn === undefined) continue
    if (event.type === "tool-denied") {
      const { call: { args, name }, by, reason } = event
      turn.calls.push({ name, args, result: `refused by ${by}: ${reason}`, isError: true, executed: false })
    }
    if (event.type === "tool-end" && event.unfinished !== true) turn.calls.push(callOf(event))
    if (event.type !== "turn-end" || !isRoot) continue
    const { agent, status, text } = event
    const { calls, input } = turn
    const output = status === "completed" ? text : ""
    ended.delete(id)
    ended.set(id, { session: rootSessionId, turn: turnNumber, agent, input, output, status, calls: [...calls] })
  }
  return [...ended.values()]
})

const callOf = ({ call, executed, result }: Extract<AgentEvent, { readonly type: "tool-end" }>): RecordedCall => ({
  name: call.name,
  args: call.args,
  result: result.ok ? result.output : result.error,
  isError: !result.ok,
  executed
})
