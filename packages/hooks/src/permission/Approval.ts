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
import { checkOptions, type Expectation, whole } from "@belay/core/OptionCheck"
import { type Decision, type PendingAsk, Remember } from "@belay/core/RunState"
import type { PreToolCallEvent, ToolMeta } from "@belay/core/Tool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"

/** A question about one tool call. Its `args` are frozen. @category models @since 0.1.0 */
export interface Request extends PendingAsk {
  /** The tool as it is registered: its description, and whether it is destructive or only reads. */
  readonly about: ToolMeta
  /** The names of the people who have approved so far. Several must approve if there is a `quorum`. */
  readonly approved: ReadonlyArray<string>
  /** The session of the agent that the host started, also when a sub-agent makes the call. */
  readonly sessionId: string
  /** Aborts when the answer is no longer needed, because the turn was cancelled or the question expired. */
  readonly signal: AbortSignal
}

/**
 * The answer of a person. `by` is the name of the person; `approvers` and `quorum` need it.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer =
  & { readonly by?: string }
  & (
    /**
     * Runs the tool. With `remember`, later calls of the tool, or of the tool with these arguments, run without a
     * question. Needs the option `standing`.
     */
    | { readonly type: "approve"; readonly remember?: Remember }
    /** Does not run the tool. The model reads the reason. */
    | { readonly type: "deny"; readonly reason?: string }
    /** Runs the tool with these arguments. They must match the schema of the tool. */
    | { readonly type: "edit"; readonly args: Json }
    /** Does not run the tool. The model reads this output instead. */
    | { readonly type: "respond"; readonly output: Json }
    /** Asks these people instead. */
    | { readonly type: "delegate"; readonly to: ReadonlyArray<string> }
  )

/** Options of `Approval.make`. @category models @since 0.1.0 */
export interface Options<R = never> extends Omit<HookDefaults.HookDefaults, "tools" | "when" | "timeout"> {
  /** Names of the tools that need approval; `*` stands for any characters, a leading `!` excludes. */
  readonly tools: string | ReadonlyArray<string>
  /** A call for which this returns `false` needs no approval. If it throws, the call needs approval. */
  readonly when?: (call: PreToolCallEvent, ctx: HookContext) => boolean
  /**
   * Asks a person in this process. Returns the answer directly, as a promise or as an Effect. Without this option the
   * agent's `onAsk` is called; without that, the run is suspended until the host resumes it.
   */
  readonly ask?: (request: Request, ctx: HookContext) => Eventual<Answer, R>
  /** The text of the question. Default `<tool> needs approval`. */
  readonly reason?: string | ((call: PreToolCallEvent, ctx: HookContext) => string)
  /** How long the question is open. Without an answer by then, the call is denied. Default: for ever. */
  readonly expiresIn?: Duration.Input
  /** The names of the people who may answer. Default: anybody. */
  readonly approvers?: ReadonlyArray<string>
  /** How many people must approve. Default 1. */
  readonly quorum?: number
  /** The types of answers that are valid. Any other answer denies the call. Default: all. */
  readonly allowed?: ReadonlyArray<Answer["type"]>
  /**
   * Where approvals with `remember` are kept: in the session, or in a store of rules for the project. By default they
   * are not kept. This option applies only with `ask`; without it, the agent's `approvals.rules` apply.
   */
  readonly standing?: "session" | RuleStore
  /**
   * How many questions of `ask` may be open at once, in all sessions together. Default 1, for a terminal. On a server,
   * use `Infinity`.
   */
  readonly concurrency?: number
}

const optionKinds: HookDefaults.OwnKinds<Options<never>> = {
  ask: "function",
  reason: "any",
  expiresIn: "duration",
  approvers: "textList",
  quorum: "number",
  allowed: "list",
  standing: "any",
  concurrency: "number"
}

/**
 * Runs a tool only if a person approves the call. Every call has its own question and its own answer. The hook asks;
 * the runtime applies `expiresIn`, `approvers`, `quorum`, `allowed` and `standing`, and runs the tool with the approved
 * arguments. An approval that the session remembers holds for all agents of the conversation. If `ask` fails or returns
 * something that is not an answer, the call is denied. If a later hook changes the arguments, the person is asked
 * again. Throws a `ConfigError` for an invalid `concurrency` or `quorum`.
 *
 * @example
 * ```ts
 * import * as Approval from "@belay/hooks/Approval"
 *
 * const inPlace = Approval.make({
 *   tools: ["*", "!read_*"],
 *   ask: async ({ args, tool }) =>
 *     tool === "deploy"
 *       ? { type: "deny", reason: "not today" }
 *       : { type: "edit", args: { ...Object(args), dryRun: true } }
 * })
 * const suspending = Approval.make({
 *   tools: "deploy",
 *   when: ({ args }) => JSON.stringify(args).includes("production")
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(options: Options<R>): AgentHook<R> => {
  HookDefaults.checkKinds("human-approval", options, optionKinds, ["tools"])
  const { allowed, approvers, ask, concurrency = 1, expiresIn, quorum, reason, standing, tools, when, ...common } =
    options
  const name = common.name ?? "human-approval"
  Result.getOrThrow(checkOptions(
    name,
    someTools(tools),
    concurrencyCheck(concurrency),
    whole("quorum", quorum, 1),
    ["allowed", allowed, isDecisions, `a list of ${decisions.join(", ")}`],
    ["standing", standing, isStanding, "session, or a store of rules with load and add"]
  ))
  const queue = Semaphore.makeUnsafe(concurrency)
  const conditions = withoutUndefined<Omit<HookAction.Ask, "_tag" | "reason">>({
    expiresInMs: expiresIn === undefined ? undefined : Duration.toMillis(expiresIn),
    approvers,
    quorum: quorum === 1 ? undefined : quorum,
    allowed
  })
  return HookDefaults.apply(
    common,
    HookDefaults.identify(options, {
      name,
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
  )
}

const decisions: ReadonlyArray<Answer["type"]> = ["approve", "deny", "edit", "respond", "delegate"]

const isDecisions = (allowed: ReadonlyArray<Answer["type"]>): boolean => allowed.every((one) => decisions.includes(one))

const isStanding = (standing: Options["standing"]): boolean =>
  standing === "session" || (typeof standing === "object" && standing !== null && typeof standing.add === "function")

/** An empty list would guard nothing. */
const someTools = (tools: Options["tools"]): Expectation => [
  "tools",
  tools,
  (names: Options["tools"]) => names.length > 0,
  "the names of the tools that need approval, at least one (\"*\" for all)"
]

const concurrencyCheck = (concurrency: number): Expectation => [
  "concurrency",
  concurrency,
  (count: number) => count === Infinity || (Number.isSafeInteger(count) && count > 0),
  "a whole number from 1, or Infinity"
]

const needsApproval = (when: Options["when"], call: PreToolCallEvent, ctx: HookContext): boolean =>
  when === undefined || Result.match(Result.try(() => when(call, ctx)), {
    onSuccess: (answer) => answer !== false,
    onFailure: (error) => {
      ctx.warn(`\`when\` failed for ${call.name}, so the call needs approval: ${messageOf(error)}`)
      return true
    }
  })

/** What a person should know about the tool before approving a call. */
const detailsOf = ({ grant, tool }: PreToolCallEvent): Json => ({
  description: tool.description,
  readOnly: tool.readOnly ?? false,
  destructive: tool.destructive ?? false,
  sandbox: grant.sandbox
})

/** The function with which the runtime asks the person. It waits while `concurrency` questions are open. */
const answerWith = <R>(
  ask: NonNullable<Options<R>["ask"]>,
  queue: Semaphore.Semaphore,
  call: PreToolCallEvent,
  ctx: HookContext
): NonNullable<HookAction.Ask["answer"]> => {
  const answer = (pending: PendingAsk, { sessionId }: HookAction.AskOptions): Effect.Effect<Decision, unknown, R> =>
    queue.withPermit(Effect.flatMap(
      eventual((signal) =>
        ask({ ...pending, about: call.tool, approved: pending.approved ?? [], sessionId, signal }, ctx)
      ),
      (given) => {
        if (ctx.signal.aborted) return Effect.fail("the turn was cancelled before anybody approved")
        const decision = decisionOf(given, call.name)
        return decision === undefined
          ? Effect.fail("`ask` must answer with approve, deny, edit, respond or delegate")
          : Effect.succeed(decision)
      }
    ))
  // The runtime asks in the fiber of the turn, which has the services that the hook requires.
  return answer as unknown as NonNullable<HookAction.Ask["answer"]>
}

/** Decodes an answer, which code outside of Belay returned. Returns `undefined` if it is not an answer. */
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
