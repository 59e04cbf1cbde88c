/**
 * Asks a person to approve tool calls before they run.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { RuleStore } from "@belay/core/Approvals"
import { messageOf } from "@belay/core/ErrorMessage"
import { type Eventual, eventual } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import { type Json, whyNot } from "@belay/core/Json"
import { type Decision, type PendingAsk, Remember } from "@belay/core/RunState"
import type { PreToolCallEvent, ToolMeta } from "@belay/core/Tool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as HookDefaults from "../HookDefaults.ts"

/** A question about one tool call. What it shows is what will run. @category models @since 0.1.0 */
export interface Request {
  readonly callId: string
  readonly tool: string
  /** Frozen: exactly these arguments run if they are approved. */
  readonly args: Json
  readonly reason: string
  /** Canonical text of tool and arguments: what an approval counts for. */
  readonly fingerprint: string
  readonly about: ToolMeta
  /** Who may answer; absent means anybody. */
  readonly approvers?: ReadonlyArray<string>
  /** Who has approved already, where several people have to approve. */
  readonly approved: ReadonlyArray<string>
  /** Aborts when the answer is no longer wanted: close the prompt. */
  readonly signal: AbortSignal
}

/**
 * What a person may answer. `by` is the approver's name, where it matters who answers.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer =
  & { readonly by?: string }
  & (
    /**
     * With `remember`, later calls of the tool, or of the tool with these arguments, are approved without asking. Needs
     * the option `standing`.
     */
    | { readonly type: "approve"; readonly remember?: Remember }
    | { readonly type: "deny"; readonly reason?: string }
    /** Runs the tool with these arguments; they are checked like any others. */
    | { readonly type: "edit"; readonly args: Json }
    /** Does not run the tool: this is its output. */
    | { readonly type: "respond"; readonly output: Json }
    /** Asks these people instead. */
    | { readonly type: "delegate"; readonly to: ReadonlyArray<string> }
  )

/** @category models @since 0.1.0 */
export interface Options<R = never> extends Omit<HookDefaults.HookDefaults, "tools" | "when" | "timeout"> {
  /** Tools that need approval: `*` stands for any characters, `!name` excludes. */
  readonly tools: string | ReadonlyArray<string>
  /** Only calls for which this is not `false` need approval. When it throws, the call needs approval. */
  readonly when?: (call: PreToolCallEvent, ctx: HookContext) => boolean
  /**
   * Asks a person in this process and returns the answer: directly, as a promise or as an Effect. Without it the
   * agent's `onAsk` is asked, or the run is suspended until the host resumes it.
   */
  readonly ask?: (request: Request, ctx: HookContext) => Eventual<Answer, R>
  /** Why a person is asked. Default `<tool> needs approval`. */
  readonly reason?: string | ((call: PreToolCallEvent, ctx: HookContext) => string)
  /** An answer that comes later than this counts as a denial. Default: never. */
  readonly expiresIn?: Duration.Input
  /** Who may answer, by name. Default: anybody. */
  readonly approvers?: ReadonlyArray<string>
  /** How many different approvers have to approve. Default 1. */
  readonly quorum?: number
  /** What may be answered. Default: anything. */
  readonly allowed?: ReadonlyArray<Answer["type"]>
  /**
   * With `ask`: where to keep approvals that are to be remembered, the session or a store of the project's rules.
   * Default: none is remembered. Without `ask`, the agent's `approvals.rules` are used.
   */
  readonly standing?: "session" | RuleStore
  /**
   * How many questions `ask` may have open at once, over all sessions. Default 1, which suits a terminal; use `Infinity`
   * on a server.
   */
  readonly concurrency?: number
}

/**
 * Runs a tool only when a person approves the call. The hook only asks: the runtime applies `expiresIn`, `approvers`,
 * `quorum`, `allowed` and `standing`, and runs the approved arguments. Every call has its own question and its own
 * answer. An `ask` that fails or returns nonsense denies the call. When a later hook changes the arguments, the person
 * is asked about the new ones.
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
  const { allowed, approvers, ask, concurrency = 1, expiresIn, quorum, reason, standing, tools, when, ...common } =
    options
  const queue = Semaphore.makeUnsafe(concurrency)
  const conditions: Omit<HookAction.Ask, "_tag" | "reason"> = {
    ...(expiresIn === undefined ? {} : { expiresInMs: Duration.toMillis(expiresIn) }),
    ...(approvers === undefined ? {} : { approvers }),
    ...(quorum === undefined || quorum <= 1 ? {} : { quorum }),
    ...(allowed === undefined ? {} : { allowed })
  }
  return HookDefaults.apply(common, {
    name: "human-approval",
    priority: 5,
    kind: "policy",
    timeout: "none",
    tools,
    reinvoke: "ifChanged",
    preToolCall: (call, ctx) => {
      if (!needsApproval(when, call, ctx)) return undefined
      const why = typeof reason === "function" ? reason(call, ctx) : reason ?? `${call.name} needs approval`
      if (ask === undefined) return HookAction.ask(why, detailsOf(call), conditions)
      const answer = answerWith(ask, queue, call, ctx)
      return HookAction.ask(why, detailsOf(call), { ...conditions, answer, standing: standing ?? "none" })
    }
  })
}

const needsApproval = (when: Options["when"], call: PreToolCallEvent, ctx: HookContext): boolean =>
  when === undefined || Result.match(Result.try(() => when(call, ctx)), {
    onSuccess: (answer) => answer !== false,
    onFailure: (error) => {
      ctx.warn(`\`when\` broke for ${call.name}, so approval is needed: ${messageOf(error)}`)
      return true
    }
  })

/** What the person should know about the tool. */
const detailsOf = ({ grant, tool }: PreToolCallEvent): Json => ({
  description: tool.description,
  readOnly: tool.readOnly ?? false,
  destructive: tool.destructive ?? false,
  sandbox: grant.sandbox
})

/** Lets the runtime ask the person, as far as others are not being asked. */
const answerWith = <R>(
  ask: NonNullable<Options<R>["ask"]>,
  queue: Semaphore.Semaphore,
  call: PreToolCallEvent,
  ctx: HookContext
): NonNullable<HookAction.Ask["answer"]> => {
  const answer = (pending: PendingAsk): Effect.Effect<Decision, unknown, R> =>
    queue.withPermit(Effect.flatMap(
      eventual((signal) => ask(requestOf(pending, call.tool, signal), ctx)),
      (given) => {
        if (ctx.signal.aborted) return Effect.fail("the turn was cancelled before anybody approved")
        const decision = decisionOf(given, call.name)
        return decision === undefined
          ? Effect.fail("`ask` answered neither approve, deny, edit, respond nor delegate")
          : Effect.succeed(decision)
      }
    ))
  // The runtime asks in the fiber of the turn, which has the services that the hook requires.
  return answer as unknown as NonNullable<HookAction.Ask["answer"]>
}

const requestOf = (pending: PendingAsk, about: ToolMeta, signal: AbortSignal): Request => {
  const { approved = [], approvers, args, callId, fingerprint, reason, tool } = pending
  const request = { callId, tool, args, reason, fingerprint, about, approved, signal }
  return approvers === undefined ? request : { ...request, approvers }
}

/** Reads an answer, which comes from outside: nothing when it is not one. */
const decisionOf = (answer: unknown, tool: string): Decision | undefined => {
  if (typeof answer !== "object" || answer === null || !("type" in answer)) return undefined
  const { args, by, output, reason, remember, to, type } = answer as { readonly [key: string]: unknown }
  const who = typeof by === "string" ? { by } : {}
  switch (type) {
    case "approve":
      return isRemember(remember) ? { ...who, type, remember } : { ...who, type }
    case "deny":
      return { ...who, type, reason: typeof reason === "string" ? reason : `a person denied ${tool}` }
    case "edit":
      return isJson(args) ? { ...who, type, args } : undefined
    case "respond":
      return isJson(output) ? { ...who, type, output } : undefined
    case "delegate":
      return Array.isArray(to) && to.every((one) => typeof one === "string") ? { ...who, type, to } : undefined
    default:
      return undefined
  }
}

const isRemember = Schema.is(Remember)

const isJson = (value: unknown): value is Json => value !== undefined && whyNot(value) === undefined
