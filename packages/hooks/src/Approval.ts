/**
 * Has a person approve tool calls before they run.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { fingerprint } from "@belay/core/HookChain"
import type { HookContext } from "@belay/core/HookContext"
import type { ActionAt } from "@belay/core/HookPoint"
import { freeze, type Json, whyNot } from "@belay/core/Json"
import type { ToolCallEvent, ToolMeta } from "@belay/core/Tool"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { type Eventual, eventual, say } from "./internal/eventual.ts"

/** What is to be approved. What it shows is what will run. @category models @since 0.1.0 */
export interface Request {
  readonly callId: string
  readonly tool: string
  /** Frozen: exactly these arguments run if they are approved. */
  readonly args: Json
  readonly reason: string
  /** Canonical text of tool and arguments: what an approval counts for. */
  readonly fingerprint: string
  readonly about: ToolMeta
  /** Aborts when the answer is no longer wanted: close the prompt. */
  readonly signal: AbortSignal
}

/** What a person may answer. @category models @since 0.1.0 */
export type Answer =
  | { readonly type: "approve" }
  | { readonly type: "deny"; readonly reason?: string }
  /** Runs with these arguments; they are checked like any others. */
  | { readonly type: "edit"; readonly args: Json }

/** @category models @since 0.1.0 */
export interface Options<R = never> {
  /** Tools that need approval: `*` stands for any characters, `!name` excludes. */
  readonly tools: string | ReadonlyArray<string>
  /** Only calls for which this is not `false` need approval. One that breaks asks. */
  readonly when?: (call: ToolCallEvent, ctx: HookContext) => boolean
  /** Asks a person: directly, as a promise or as an Effect. Without it the run is suspended until the host resumes it. */
  readonly ask?: (request: Request, ctx: HookContext) => Eventual<Answer, R>
  /** Why a person is asked. Default `<tool> needs approval`. */
  readonly reason?: string | ((call: ToolCallEvent) => string)
  /** How many questions `ask` may have open at once, over all sessions. Default 1, as a terminal needs it; a server wants `Infinity`. */
  readonly concurrency?: number
}

/**
 * Lets a tool run only when a person said so. Every call has its own request and its own answer; an `ask` that breaks or answers
 * nonsense denies. When a later hook changes the arguments, the person is asked about the new ones.
 *
 * @example
 * ```ts
 * import * as Approval from "@belay/hooks/Approval"
 *
 * const inPlace = Approval.make({
 *   tools: ["*", "!read_*"],
 *   ask: async ({ args, tool }) =>
 *     tool === "deploy" ? { type: "deny", reason: "not today" } : { type: "edit", args: { ...Object(args), dryRun: true } }
 * })
 * const suspending = Approval.make({ tools: "deploy", when: ({ args }) => JSON.stringify(args).includes("production") })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(options: Options<R>): AgentHook<R> => {
  const { ask, concurrency = 1, when } = options
  const queue = Semaphore.makeUnsafe(concurrency)
  const needed = (call: ToolCallEvent, ctx: HookContext): boolean =>
    when === undefined || Result.match(Result.try(() => when(call, ctx)), {
      onSuccess: (answer) => answer !== false,
      onFailure: (error) => {
        ctx.warn(`\`when\` broke for ${call.name}, so approval is needed: ${say(error)}`)
        return true
      }
    })
  return {
    name: "human-approval",
    priority: 5,
    kind: "policy",
    timeout: "none",
    tools: options.tools,
    reinvoke: "ifChanged",
    preToolCall: (call, ctx) => {
      if (!needed(call, ctx)) return undefined
      const reason = typeof options.reason === "function" ? options.reason(call) : options.reason ?? `${call.name} needs approval`
      return ask === undefined
        ? HookAction.ask(reason, details(call))
        : ctx.signal.aborted
        ? cancelled
        : Effect.raceFirst(queue.withPermit(answered(call, ctx, reason, ask)), aborted(ctx.signal))
    }
  }
}

/** One request and its answer. */
const answered = <R>(call: ToolCallEvent, ctx: HookContext, reason: string, ask: NonNullable<Options<R>["ask"]>) => {
  const args = freeze(call.args)
  const shown = fingerprint(call.name, args)
  const request = { callId: call.id, tool: call.name, args, reason, fingerprint: shown, about: call.tool }
  const deny = (why: string): Action => {
    ctx.warn(`approval of ${call.name} is denied: ${why}`)
    return HookAction.reject(`${call.name} was denied: its approval failed`)
  }
  return eventual((signal) => ask({ ...request, signal }, ctx)).pipe(
    Effect.map((answer: unknown) =>
      ctx.signal.aborted
        ? cancelled
        : fingerprint(call.name, call.args) === shown
        ? toAction(call, answer) ?? deny("`ask` answered neither approve, deny nor edit")
        : deny("the arguments are no longer those that were shown")
    ),
    Effect.catchCause((cause) => Effect.sync(() => deny(say(Cause.squash(cause)))))
  )
}

type Action = ActionAt<"preToolCall">

/** Believes nothing about the answer: it comes from outside. */
const toAction = ({ id, name }: ToolCallEvent, answer: unknown): Action | undefined => {
  if (typeof answer !== "object" || answer === null || !("type" in answer)) return undefined
  if (answer.type === "approve") return HookAction.Continue
  if (answer.type === "deny") {
    return HookAction.reject("reason" in answer && typeof answer.reason === "string" ? answer.reason : `a person denied ${name}`)
  }
  return answer.type === "edit" && "args" in answer && whyNot(answer.args) === undefined
    ? HookAction.transform({ id, name, args: answer.args as Json })
    : undefined
}

const details = ({ grant, tool }: ToolCallEvent): Json => ({
  description: tool.description,
  readOnly: tool.readOnly ?? false,
  destructive: tool.destructive ?? false,
  sandbox: grant.sandbox
})

const cancelled = HookAction.reject("the turn was cancelled before anybody approved")

/** Yields before it answers: a turn that is interrupted for its signal is then gone. */
const aborted = (signal: AbortSignal): Effect.Effect<HookAction.Reject> =>
  Effect.callback<void>((resume) => {
    const stop = () => resume(Effect.yieldNow)
    signal.addEventListener("abort", stop, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", stop))
  }).pipe(Effect.as(cancelled))
