/**
 * Has a person approve tool calls before they run.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { RuleStore } from "@belay/core/Approvals"
import { type Eventual, eventual, messageOf } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import { fingerprint } from "@belay/core/HookChain"
import type { HookContext } from "@belay/core/HookContext"
import type { ActionAt } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import { freeze, type Json, whyNot } from "@belay/core/Json"
import { Remember } from "@belay/core/RunState"
import type { PreToolCallEvent, ToolMeta } from "@belay/core/Tool"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as HookDefaults from "../HookDefaults.ts"

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
  /** Who may answer; absent means anybody. */
  readonly approvers?: ReadonlyArray<string>
  /** Who has approved already, where more than one has to. */
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
     * With `remember` later calls are approved without asking: of the tool, or of the tool with these arguments. Needs
     * the option `standing`.
     */
    | { readonly type: "approve"; readonly remember?: Remember }
    | { readonly type: "deny"; readonly reason?: string }
    /** Runs with these arguments; they are checked like any others. */
    | { readonly type: "edit"; readonly args: Json }
    /** Does not run it: this is its output. */
    | { readonly type: "respond"; readonly output: Json }
    /** Somebody else shall answer. */
    | { readonly type: "delegate"; readonly to: ReadonlyArray<string> }
  )

/** @category models @since 0.1.0 */
export interface Options<R = never> extends Omit<HookDefaults.HookDefaults, "tools" | "when" | "timeout"> {
  /** Tools that need approval: `*` stands for any characters, `!name` excludes. */
  readonly tools: string | ReadonlyArray<string>
  /** Only calls for which this is not `false` need approval. One that breaks asks. */
  readonly when?: (call: PreToolCallEvent, ctx: HookContext) => boolean
  /**
   * Asks a person: directly, as a promise or as an Effect. Without it the run is suspended until the host resumes it.
   */
  readonly ask?: (request: Request, ctx: HookContext) => Eventual<Answer, R>
  /** Why a person is asked. Default `<tool> needs approval`. */
  readonly reason?: string | ((call: PreToolCallEvent, ctx: HookContext) => string)
  /** After this an answer comes too late, and counts as a denial. Default: never. */
  readonly expiresIn?: Duration.Input
  /** Who may answer, by name. Default: anybody. */
  readonly approvers?: ReadonlyArray<string>
  /** How many different approvers have to approve. Default 1. */
  readonly quorum?: number
  /** What may be answered. Default: anything. */
  readonly allowed?: ReadonlyArray<Answer["type"]>
  /**
   * Where approvals that are to be remembered are kept: `"session"`, or a store of the project's rules. Default:
   * nothing is remembered.
   */
  readonly standing?: "session" | RuleStore
  /**
   * How many questions `ask` may have open at once, over all sessions. Default 1, as a terminal needs it; a server
   * wants `Infinity`.
   */
  readonly concurrency?: number
}

/**
 * Lets a tool run only when a person said so. Every call has its own request and its own answer; an `ask` that breaks
 * or answers
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
  const { allowed, approvers, ask, concurrency = 1, quorum = 1, standing, tools, when, ...common } = options
  const expiresInMs = options.expiresIn === undefined ? undefined : Duration.toMillis(options.expiresIn)
  const queue = Semaphore.makeUnsafe(concurrency)
  const needed = (call: PreToolCallEvent, ctx: HookContext): boolean =>
    when === undefined || Result.match(Result.try(() => when(call, ctx)), {
      onSuccess: (answer) => answer !== false,
      onFailure: (error) => {
        ctx.warn(`\`when\` broke for ${call.name}, so approval is needed: ${messageOf(error)}`)
        return true
      }
    })
  const conditions = {
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(approvers === undefined ? {} : { approvers }),
    ...(quorum > 1 ? { quorum } : {}),
    ...(allowed === undefined ? {} : { allowed })
  }
  const inPlace = (
    call: PreToolCallEvent,
    ctx: HookContext,
    reason: string,
    person: NonNullable<Options<R>["ask"]>
  ) => {
    const asked = Effect.raceFirst(queue.withPermit(answered(call, ctx, reason, person, options)), aborted(ctx.signal))
    const bounded = expiresInMs === undefined
      ? asked
      : Effect.raceFirst(asked, Effect.as(Effect.sleep(expiresInMs), tooLate(call)))
    return standing === undefined
      ? bounded
      : Effect.flatMap(
        isStanding(call, ctx, standing),
        (known) => known ? Effect.succeed(HookAction.Continue) : bounded
      )
  }
  return HookDefaults.apply(common, {
    name: "human-approval",
    priority: 5,
    kind: "policy",
    timeout: "none",
    tools,
    reinvoke: "ifChanged",
    preToolCall: (call, ctx) => {
      if (!needed(call, ctx)) return undefined
      const reason = typeof options.reason === "function"
        ? options.reason(call, ctx)
        : options.reason ?? `${call.name} needs approval`
      if (ask === undefined) return HookAction.ask(reason, details(call), conditions)
      return ctx.signal.aborted ? cancelled : inPlace(call, ctx, reason, ask)
    }
  })
}

/** Questions that may follow one another: approvers of a quorum, and those to whom the answer was handed on. */
const maxRounds = 16

/** One request and its answer, of as many people as it takes. */
const answered = Effect.fnUntraced(function*<R>(
  call: PreToolCallEvent,
  ctx: HookContext,
  reason: string,
  ask: NonNullable<Options<R>["ask"]>,
  { allowed, approvers: first, quorum = 1, standing }: Options<R>
): Effect.fn.Return<Action, never, R> {
  const args = freeze(call.args)
  const shown = fingerprint(call.name, args)
  const about = { callId: call.id, tool: call.name, args, reason, fingerprint: shown, about: call.tool }
  const deny = (why: string): Action => {
    ctx.warn(`approval of ${call.name} is denied: ${why}`)
    return HookAction.reject(`${call.name} was denied: its approval failed`)
  }
  let approvers = first
  let approved: ReadonlyArray<string> = []
  for (let round = 0; round < maxRounds; round++) {
    const request = { ...about, approved, ...(approvers === undefined ? {} : { approvers }) }
    const exit = yield* Effect.exit(eventual((signal) => ask({ ...request, signal }, ctx)))
    if (exit._tag === "Failure") return deny(messageOf(Cause.squash(exit.cause)))
    if (ctx.signal.aborted) return cancelled
    if (fingerprint(call.name, call.args) !== shown) return deny("the arguments are no longer those that were shown")
    const answer = read(exit.value)
    if (answer === undefined) return deny("`ask` answered neither approve, deny, edit, respond nor delegate")
    const { by } = answer
    if (allowed?.includes(answer.type) === false) return deny(`${answer.type} is not allowed here`)
    if (approvers !== undefined && (by === undefined || !approvers.includes(by))) {
      return deny(`${by ?? "somebody without a name"} may not decide, only ${approvers.join(", ")}`)
    }
    if (answer.type === "delegate") {
      approvers = answer.to
      continue
    }
    if (answer.type === "approve" && quorum > 1) {
      if (by === undefined) return deny(`${quorum} approvals are needed: say who approves`)
      approved = [...new Set([...approved, by])]
      if (approved.length < quorum) continue
    } else if (quorum > 1 && answer.type !== "deny") {
      return deny(`${quorum} approvals are needed: it can be approved, denied or handed on`)
    }
    if (answer.type === "approve" && answer.remember !== undefined && standing !== undefined) {
      const kept = yield* Effect.exit(remember(call, ctx, standing, answer.remember))
      if (kept._tag === "Failure") {
        ctx.warn(`the approval of ${call.name} could not be remembered: ${messageOf(Cause.squash(kept.cause))}`)
      }
    }
    return toAction(call, answer)
  }
  return deny(`nobody decided in ${maxRounds} rounds`)
})

type Action = ActionAt<"preToolCall">

/** Believes nothing about the answer: it comes from outside. */
const read = (answer: unknown): Answer | undefined => {
  const found = decodeAnswer(answer)
  return found !== undefined && found.type === "edit" && whyNot(found.args) !== undefined ? undefined : found
}

const decodeAnswer = (answer: unknown): Answer | undefined => {
  if (typeof answer !== "object" || answer === null || !("type" in answer)) return undefined
  const { args, by, output, reason, remember: kept, to, type } = answer as { readonly [key: string]: unknown }
  const who = typeof by === "string" ? { by } : {}
  switch (type) {
    case "approve":
      return isRemember(kept) ? { ...who, type, remember: kept } : { ...who, type }
    case "deny":
      return { ...who, type, ...(typeof reason === "string" ? { reason } : {}) }
    case "edit":
      return args === undefined ? undefined : { ...who, type, args: args as Json }
    case "respond":
      return output === undefined || whyNot(output) !== undefined ? undefined : { ...who, type, output: output as Json }
    case "delegate":
      return Array.isArray(to) && to.every((one) => typeof one === "string") ? { ...who, type, to } : undefined
    default:
      return undefined
  }
}

const isRemember = Schema.is(Remember)

const toAction = ({ id, name }: PreToolCallEvent, answer: Exclude<Answer, { readonly type: "delegate" }>): Action => {
  switch (answer.type) {
    case "approve":
      return HookAction.Continue
    case "deny":
      return HookAction.reject(answer.reason ?? `a person denied ${name}`)
    case "edit":
      return HookAction.transform({ id, name, args: answer.args })
    case "respond":
      return HookAction.respond(answer.output)
  }
}

/** Approvals that are remembered for the conversation. @category state @since 0.1.0 */
export const rules: HookState.StateKey<ReadonlyArray<{ readonly tool: string; readonly fingerprint?: string }>> =
  HookState.key(
    "approval/rules",
    Schema.Array(Schema.Struct({ tool: Schema.String, fingerprint: Schema.optionalKey(Schema.String) })),
    []
  )

const isStanding = (
  call: PreToolCallEvent,
  ctx: HookContext,
  standing: "session" | RuleStore
): Effect.Effect<boolean, unknown> => {
  const text = fingerprint(call.name, call.args)
  const fits = (rule: { readonly tool: string; readonly fingerprint?: string }) =>
    rule.tool === call.name && (rule.fingerprint === undefined || rule.fingerprint === text)
  if (ctx.state.durable.conversation.get(rules).some(fits)) return Effect.succeed(true)
  return standing === "session"
    ? Effect.succeed(false)
    : Effect.map(standing.load, (known) => known.some((rule) => rule.hook === ctx.hook && fits(rule)))
}

const remember = (
  call: PreToolCallEvent,
  ctx: HookContext,
  standing: "session" | RuleStore,
  { scope, what }: Remember
): Effect.Effect<void, unknown> => {
  const rule = { tool: call.name, ...(what === "arguments" ? { fingerprint: fingerprint(call.name, call.args) } : {}) }
  return scope === "project" && standing !== "session"
    ? standing.add({ hook: ctx.hook, ...rule })
    : Effect.sync(() => void ctx.state.durable.conversation.update(rules, (known) => [...known, rule]))
}

const tooLate = ({ name }: PreToolCallEvent) =>
  HookAction.reject(`the question about ${name} expired before anybody decided`)

const details = ({ grant, tool }: PreToolCallEvent): Json => ({
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
