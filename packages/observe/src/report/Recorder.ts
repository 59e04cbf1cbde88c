/**
 * Records what an agent and its sub-agents do in a file. `belay inspect` shows it, and `belay backtest` tries hooks on
 * it.
 *
 * @since 0.1.0
 */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { AgentHook } from "@belay/core/AgentHook"
import type { HookContext } from "@belay/core/HookContext"
import { type HookPointName, names } from "@belay/core/HookPoint"
import type { JsonObject } from "@belay/core/Json"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import type { Plugin } from "@belay/core/Plugin"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { appendFileSync } from "node:fs"
import * as Recording from "./Recording.ts"

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  /** The file to append to. Only the owner may read it. Required. */
  readonly path: string
  /** The name of the plugin and of its hook. Default `recorder`. */
  readonly name?: string
}

const optionKinds: OptionKinds<Options> = { path: "text", name: "text" }

/** How long lines may wait before they are written, in milliseconds. */
const patienceMs = 100

/**
 * Makes a plugin that records. It sees what the other hooks have left: what a redacting hook has removed is not in the
 * file. Refused messages and refused tool calls are recorded too. A file that cannot be written does not disturb the
 * agent: it is reported once, as a warning, or by `close` if no event follows.
 *
 * Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as Recorder from "@belay/observe/Recorder"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 *
 * const provider = OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "sk-not-a-real-key" })
 * export const agent = createAgent({ provider, plugins: [Recorder.make({ path: "run.jsonl" })] })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Plugin => {
  Result.getOrThrow(checkKinds("recorder", options, optionKinds, ["path"]))
  const { name = "recorder", path } = options
  const file = new File(path)
  const record = (point: HookPointName) => (event: object, ctx: HookContext) =>
    Effect.map(Clock.currentTimeMillis, (time) => {
      file.add(inputOf(point, event, ctx, time))
      const problem = file.newProblem()
      if (problem !== undefined) ctx.warn(problem)
    })
  const hook: AgentHook = {
    name,
    kind: "observer",
    priority: 1_000,
    close: () => {
      file.flush()
      const problem = file.newProblem()
      return problem === undefined ? undefined : Promise.reject(new Error(problem))
    },
    ...Object.fromEntries(points.map((point) => [point, record(point)]))
  }
  return {
    name,
    hooks: [hook],
    onEvent: (event) => {
      if (event.type === "hook" && event.record.hooks.every(({ answer }) => isQuiet(answer, event.record.point))) return
      if (event.type === "custom" && event.name !== "redacted") return
      if (event.type !== "session-release") file.add({ type: "event", event })
      if (event.type === "turn-end" || event.type === "ask") file.flush()
      if (isLast(event)) file.forget(event.sessionId)
    },
    eventTypes
  }
}

/** Deltas are not among the points and events: a recorder causes no stream, and the answer has the text. */
const points = names.filter((point) => point !== "onLlmDelta")

const eventTypes: ReadonlyArray<AgentEvent["type"]> = [
  "session-start",
  "session-end",
  "session-release",
  "turn-start",
  "turn-end",
  "llm-start",
  "llm-end",
  "llm-error",
  "hook-llm",
  "tool-start",
  "tool-end",
  "tool-denied",
  "args-repaired",
  "ask",
  "decided",
  "hook",
  "hook-failed",
  "inject",
  "warning",
  "notice",
  "custom",
  "steer",
  "follow-up",
  "compaction",
  "rotation",
  "limit"
]

/**
 * Whether a hook changed nothing. A piece of a streamed answer changes when it is held back, which changes no answer.
 */
const isQuiet = (answer: string, point: string): boolean =>
  answer === "Continue" || answer === "skipped" || (point === "onLlmDelta" && answer === "Transform")

/** Whether nothing more comes of a session, as long as it is not opened again. A sub-agent has one turn. */
const isLast = ({ parent, type }: AgentEvent): boolean =>
  type === "session-end" || type === "session-release" || (type === "turn-end" && parent !== undefined)

const inputOf = (point: HookPointName, event: object, ctx: HookContext, time: number): Recording.Input => {
  const { agent, outcome, root, sessionId, stepNumber, turnNumber } = ctx
  const { action, decidedBy: by, reason } = outcome ?? { action: "Continue" }
  const decision = { action, ...(by === undefined ? {} : { by }), ...(reason === undefined ? {} : { reason }) }
  return {
    type: "input",
    point,
    sessionId,
    rootSessionId: root.sessionId,
    turnNumber,
    stepNumber,
    agent: agent.name,
    depth: agent.depth,
    time,
    // Events of points are JSON, except for errors, of which the fields remain.
    event: event as JsonObject,
    ...(action === "Continue" ? {} : { decision })
  }
}

/** A class, because it holds the lines that are not written yet. */
class File {
  private readonly path: string
  private readonly writer = new Recording.Writer()
  private lines: Array<string> = [Recording.header]
  private timer: NodeJS.Timeout | undefined
  private problem: string | undefined
  private isReported = false
  private last: AgentEvent | undefined

  constructor(path: string) {
    this.path = path
  }

  add(entry: Recording.Entry): void {
    // An agent and its sub-agent may share the plugin. Both then receive the events of the sub-agent.
    if (entry.type === "event") {
      if (entry.event === this.last) return
      this.last = entry.event
    }
    this.lines.push(this.writer.line(entry))
    this.timer ??= setTimeout(() => this.flush(), patienceMs).unref()
  }

  /** Says that the file cannot be written, the first time that this is known. */
  newProblem(): string | undefined {
    if (this.problem === undefined || this.isReported) return undefined
    this.isReported = true
    return `${this.path} cannot be written, so nothing is recorded: ${this.problem}`
  }

  forget(sessionId: string): void {
    this.writer.forget(sessionId)
  }

  flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const text = this.lines.join("")
    this.lines = []
    if (text === "") return
    const written = Result.try(() => appendFileSync(this.path, text, { mode: 0o600 }))
    if (Result.isFailure(written)) this.problem = String(Object(written.failure).message)
  }
}
