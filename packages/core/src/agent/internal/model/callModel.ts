/** Ask the model: fold the pre hooks, do the act (with retries and fallback), fold the post hooks. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { type AgentError, HookRejected } from "../../../data/AgentError.ts"
import { whyNot } from "../../../data/Json.ts"
import type { LlmRequest, LlmResponse, PostLlmCallEvent, RetryDecision } from "../../../data/LlmCall.ts"
import type { AssistantMessage, Message, ToolCall } from "../../../data/Message.ts"
import * as ProviderError from "../../../data/ProviderError.ts"
import * as Usage from "../../../data/Usage.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { LlmProvider } from "../../../port/LlmProvider.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { compact, fit } from "../session/compact.ts"
import { rotate } from "../session/rotate.ts"
import { rejected } from "../turn/hookError.ts"
import type { Turn } from "../turn/turn.ts"
import { ended } from "../turn/turnEnd.ts"
import { type Ends, wrap } from "../turn/wrapAct.ts"
import { reconcile, streamed } from "./streamModel.ts"

/** Longest wait before another attempt, in milliseconds. */
const maxDelayMs = 60_000

/** Asks the model until an answer stands; keeps it in the turn. */
export const callModel = function*(turn: Turn): Effect.fn.Return<LlmResponse, AgentError | TurnEnded> {
  const { limits } = turn.host
  let retries = 0
  while (true) {
    if (turn.used.steps >= limits.steps) return yield* limited(turn, "steps", turn.used.steps, limits.steps)
    turn.used.steps++
    turn.stepNumber++
    if (turn.session.injections.length > 0) deliver(turn)
    if (turn.session.rotation === undefined && turn.host.config.window !== undefined) yield* fit(turn)
    if (turn.session.rotation !== undefined) yield* rotate(turn)
    // What was injected at those points is read with this request.
    if (turn.session.injections.length > 0) deliver(turn)
    if (turn.root.host.config.store !== undefined) yield* turn.save()

    const asked = requestOf(turn)
    const before = turn.fold("preLlmCall", asked)
    const request = before === undefined ? asked : yield* prepared(before)
    let answered: Answered
    if ("response" in request) answered = request
    else if (turn.listened || turn.host.streams || turn.host.llmWrappers.length > 0 || turn.host.providers.length > 1) {
      answered = yield* attempts(turn, request)
    } else {
      // The common call: nobody listens, nothing is streamed or wrapped, and there is one provider.
      turn.llmCalls++
      const first = yield* Effect.result(turn.host.providers[0].complete(request))
      answered = first._tag === "Success"
        ? heard(turn, first.success, turn.host.providers[0].name, 1)
        : yield* attempts(turn, request, first.failure)
    }
    const after = turn.host.chain.has("postLlmCall")
      ? turn.fold("postLlmCall", "response" in request ? request : { request, ...answered })
      : undefined
    const post = after !== undefined && Effect.isEffect(after) ? yield* after : after
    if (post?.action._tag === "Abort") {
      answer(turn, answered, undefined)
      return yield* ended({ type: "aborted", reason: post.action.reason, by: post.by! })
    }
    if (post?.action._tag === "Reject") {
      const { feedback } = post.action
      turn.retract(post.action.reason)
      answer(turn, answered, undefined)
      if (feedback === undefined || post.failure !== undefined || retries >= (post.action.retries ?? 1)) {
        return yield* rejected("postLlmCall", post)
      }
      retries++
      turn.messages.push({ role: "user", content: feedback, source: post.by! })
      continue
    }
    const response = post === undefined ? answered.response : post.event.response
    reconcile(turn, response.text)
    turn.shown = ""
    answer(turn, answered, response)
    return keep(turn, response)
  }
}

/** One call beside the conversation: nothing is kept of it. */
export const sideCall = function*(
  side: Turn,
  asked: LlmRequest,
  provider: string | undefined
): Effect.fn.Return<LlmResponse, AgentError | TurnEnded> {
  const before = side.fold("preLlmCall", asked)
  const request = before === undefined ? asked : yield* prepared(before)
  const answered = "response" in request ? request : yield* attempts(side, request, undefined, provider)
  const after = side.fold("postLlmCall", "response" in request ? request : { request, ...answered })
  const post = after !== undefined && Effect.isEffect(after) ? yield* after : after
  if (post?.action._tag === "Abort") return yield* ended({ type: "aborted", reason: post.action.reason, by: post.by! })
  if (post?.action._tag === "Reject") return yield* rejected("postLlmCall", post)
  return post === undefined ? answered.response : post.event.response
}

/** What to send, after the hooks have seen it; or a hook's own answer. */
const prepared = function*(
  folded: Outcome<"preLlmCall"> | Effect.Effect<Outcome<"preLlmCall">>
): Effect.fn.Return<LlmRequest | PostLlmCallEvent, AgentError | TurnEnded> {
  const pre = Effect.isEffect(folded) ? yield* folded : folded
  if (pre.action._tag === "Reject") return yield* rejected("preLlmCall", pre)
  if (pre.action._tag === "Abort") return yield* ended({ type: "aborted", reason: pre.action.reason, by: pre.by! })
  return pre.action._tag === "Respond"
    ? { request: pre.event, response: pre.action.output, provider: pre.by!, attempt: 0, executed: false }
    : pre.event
}

/** Tells of an answer once its hooks have had their say: what they refused is told to nobody. */
const answer = (
  turn: Turn,
  { attempt, executed, provider, response: { model, usage } }: Answered,
  stands: LlmResponse | undefined
): void => {
  if (!executed || !turn.listened) return
  const { text, toolCalls } = stands ?? { text: "", toolCalls: [] }
  turn.publish({ type: "llm-end", provider, model, attempt, text, toolCalls, usage, durationMs: turn.llmMs })
}

/** Ends the turn because a cap is reached; it can be resumed. */
export const limited = (
  turn: Turn,
  limit: string,
  used: number,
  max: number,
  text = ""
): Effect.Effect<never, TurnEnded> => {
  turn.publish({ type: "limit", limit, used, max })
  return ended({ type: "limited", limit, used, max, text })
}

/** Puts what hooks injected into the conversation, each as a message of its own. */
const deliver = (turn: Turn): void => {
  for (const { hook, pinned, text } of turn.session.injections) {
    turn.messages.push({ role: "user", content: text, source: hook, ...(pinned === undefined ? {} : { pinned }) })
  }
  turn.session.injections = []
}

/**
 * The request. Its messages are copied only when somebody reads them: a step costs the same after 10 messages and after
 * 100,000.
 */
const requestOf = (turn: Turn): LlmRequest => {
  const { messages: log } = turn
  const { config: { instructions, model, parameters = noParameters }, dispatcher: { tools } } = turn.host
  const length = log.length
  let copy: ReadonlyArray<Message> | undefined
  const request: LlmRequest = length <= 64 ? { messages: log.slice(), tools, parameters } : {
    get messages() {
      return copy ??= log.slice(0, length)
    },
    tools,
    parameters
  }
  if (model === undefined && instructions === undefined) return request
  return Object.assign(
    request,
    model === undefined ? undefined : { model },
    instructions === undefined ? undefined : { instructions }
  )
}

const noParameters = Object.freeze({})

interface Answered {
  readonly response: LlmResponse
  readonly provider: string
  readonly attempt: number
  readonly executed: boolean
}

/** Counts what an answer cost. */
const heard = (turn: Turn, response: LlmResponse, provider: string, attempt: number): Answered => {
  if (response.usage !== undefined) turn.usage = Usage.add(turn.usage, response.usage)
  return { response, provider, attempt, executed: true }
}

/** One call, with as many attempts as the hooks, the plan and the cap allow. */
const attempts = function*(
  turn: Turn,
  first: LlmRequest,
  failed?: ProviderError.ProviderError,
  named?: string
): Effect.fn.Return<Answered, AgentError | TurnEnded> {
  const { health, limits: { attempts: max }, providers } = turn.host
  let request = first
  let provider: LlmProvider = providers.find(({ name }) => name === named) ??
    (providers.length === 1 ? providers[0] : healthy(turn, yield* Clock.currentTimeMillis))
  for (let attempt = 1;; attempt++) {
    let error: AgentError | TurnEnded
    if (attempt === 1 && failed !== undefined) error = failed
    else {
      turn.llmCalls++
      const began = turn.listened ? performance.now() : 0
      if (turn.listened) {
        turn.publish({ type: "llm-start", provider: provider.name, model: request.model ?? provider.model, attempt })
      }
      const result = yield* Effect.result(once(turn, provider, request))
      if (turn.listened) turn.llmMs = performance.now() - began
      if (result._tag === "Success") {
        if (providers.length > 1) health.succeeded(provider.name)
        return heard(turn, result.success, provider.name, attempt)
      }
      error = result.failure
    }
    if (!ProviderError.isProviderError(error)) return yield* Effect.fail(error)
    if (error.partial?.usage !== undefined) turn.usage = Usage.add(turn.usage, error.partial.usage)
    if (error._tag === "ContextOverflow" && !turn.compactedForOverflow) {
      turn.compactedForOverflow = true
      if (yield* compact(turn, "overflow", error.limit)) {
        turn.retract("context overflow")
        // Another request: what the hooks did to the first, they do to this one.
        const asked = requestOf(turn)
        const folded = turn.fold("preLlmCall", asked)
        const shorter = folded === undefined ? asked : yield* prepared(folded)
        if ("response" in shorter) return shorter
        request = shorter
        continue
      }
    }
    const now = yield* Clock.currentTimeMillis
    if (ProviderError.isRetryable(error)) health.failed(provider.name, now)
    const decision = yield* decide(turn, error, attempt, provider, request, now)
    turn.publish({
      type: "llm-error",
      provider: provider.name,
      attempt,
      error: error._tag,
      message: error.message,
      decision
    })
    if (decision.type === "fail") return yield* error
    turn.retract(error._tag)
    if (attempt >= max) return yield* limited(turn, "attempts", attempt, max)
    if (decision.type === "retry") yield* Effect.sleep(Math.min(Math.max(decision.delayMs, 0), maxDelayMs))
    else {
      const next = decision.provider === undefined ? provider : providers.find(({ name }) => name === decision.provider)
      if (next === undefined) {
        turn.warn(
          `fallback to "${decision.provider}", which is not among the providers ${
            providers.map(({ name }) => name).join(", ")
          }`,
          "runtime"
        )
        return yield* error
      }
      // Another provider has other models: unless one is named, it answers with its own.
      const { model: _model, ...rest } = request
      request = decision.model !== undefined
        ? { ...request, model: decision.model }
        : next === provider
        ? request
        : rest
      provider = next
    }
  }
}

/** One attempt, surrounded by the hooks that wrap it. */
const once = (
  turn: Turn,
  provider: LlmProvider,
  request: LlmRequest
): Effect.Effect<LlmResponse, AgentError | TurnEnded> => {
  const { llmWrappers, streams } = turn.host
  const act = (value: LlmRequest) =>
    streams || turn.listened ? streamed(turn, provider, value) : provider.complete(value)
  return llmWrappers.length === 0
    ? act(request)
    : wrap(turn, "wrapLlmCall", llmWrappers, act, endsOf(provider.name))(request)
}

/** What a wrapper that does not let the call be means for it. */
const endsOf = (provider: string): Ends<LlmRequest, LlmResponse> => ({
  broken: (hook, message) =>
    Effect.fail(
      new ProviderError.InvalidRequest({ provider, message: `hook ${hook} failed at wrapLlmCall: ${message}` })
    ),
  refused: (hook, { reason, userMessage }) =>
    Effect.fail(
      new HookRejected({
        hook,
        point: "wrapLlmCall",
        reason,
        ...(userMessage === undefined ? {} : { userMessage }),
        message: `${hook} rejected wrapLlmCall: ${reason}`
      })
    )
})

/** Asks the hooks; without their word the plan counts: wait and retry twice, then the next provider, then fail. */
const decide = function*(
  turn: Turn,
  error: ProviderError.ProviderError,
  attempt: number,
  provider: LlmProvider,
  request: LlmRequest,
  now: number
): Effect.fn.Return<RetryDecision, AgentError | TurnEnded> {
  const providers = turn.host.providers.map(({ name }) => name)
  const decision = plan(turn, error, attempt, provider, now, yield* Random.next)
  const folded = turn.fold("onLlmError", { error, attempt, provider: provider.name, providers, request, decision })
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome === undefined) return decision
  if (outcome.action._tag === "Reject") return yield* rejected("onLlmError", outcome)
  if (outcome.action._tag === "Abort") {
    return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! })
  }
  return outcome.event.decision
}

const plan = (
  turn: Turn,
  error: ProviderError.ProviderError,
  attempt: number,
  provider: LlmProvider,
  now: number,
  chance: number
): RetryDecision => {
  const { health, providers } = turn.host
  if (turn.host.config.streamMode === "beforeFirstToken" && turn.shown !== "") return { type: "fail" }
  const others = providers.slice(providers.indexOf(provider) + 1)
  if (error._tag === "ContextOverflow") {
    const larger = others.find(({ contextWindow }) =>
      contextWindow !== undefined && contextWindow > (provider.contextWindow ?? error.limit ?? Infinity)
    )
    return larger === undefined ? { type: "fail" } : { type: "fallback", provider: larger.name }
  }
  const wait = ProviderError.retryAfterMs(error)
  if (
    ProviderError.isRetryable(error) && attempt <= 2 && (wait === undefined || wait <= maxDelayMs) &&
    (others.length === 0 || wait !== undefined)
  ) {
    return { type: "retry", delayMs: wait ?? Math.round(250 * 2 ** (attempt - 1) * (0.5 + chance / 2)) }
  }
  const next = ProviderError.isFallbackable(error) ? others.find(({ name }) => health.allows(name, now)) : undefined
  return next === undefined ? { type: "fail" } : { type: "fallback", provider: next.name }
}

/** The first provider that is worth trying; the first of all when none is. */
const healthy = (turn: Turn, now: number): LlmProvider => {
  const { health, providers } = turn.host
  const found = providers.find(({ name }) => health.allows(name, now)) ?? providers[0]
  if (found !== providers[0]) {
    turn.publish({
      type: "warning",
      hook: "runtime",
      message: `${providers[0].name} failed too often lately: ${found.name} is asked instead`
    })
  }
  return found
}

/** Keeps an answer: text joins the conversation, tool calls open a step. */
const keep = (turn: Turn, response: LlmResponse): LlmResponse => {
  const toolCalls = response.toolCalls.length === 0
    ? response.toolCalls
    : withUniqueIds(turn, response.toolCalls.map(readable))
  const { metadata, reasoning, text } = response
  let message: AssistantMessage = toolCalls.length === 0
    ? { role: "assistant", content: text }
    : { role: "assistant", content: text, toolCalls }
  if (reasoning !== undefined) message = { ...message, reasoning }
  if (metadata !== undefined) message = { ...message, metadata }
  if (toolCalls.length === 0) turn.messages.push(message)
  else {
    turn.open = message
    turn.calls = toolCalls.map((call) => ({ call, status: "planned" }))
    turn.phase = "tools"
  }
  if (turn.host.config.window !== undefined && response.usage !== undefined) {
    turn.session.tokens = response.usage.inputTokens + response.usage.outputTokens
    turn.session.counted = turn.messages.length
  }
  return toolCalls.length === 0 ? response : { ...response, toolCalls }
}

/** Arguments that nobody could write down again (too deep, no JSON) are taken as malformed. */
const readable = (call: ToolCall): ToolCall => {
  const why = whyNot(call.args)
  return why === undefined ? call : { ...call, args: null, malformed: call.malformed ?? why }
}

/** Vendors leave ids empty or use them twice; a transcript may not. */
const withUniqueIds = (turn: Turn, calls: ReadonlyArray<ToolCall>): ReadonlyArray<ToolCall> => {
  const { ids } = turn.session
  if (
    calls.every(({ id }, index) => id !== "" && !ids.has(id) && calls.findIndex((other) => other.id === id) === index)
  ) {
    for (const { id } of calls) ids.add(id)
    return calls
  }
  return calls.map((call, index) => {
    let id = call.id
    for (let n = 0; id === "" || ids.has(id); n++) {
      id = `call_${turn.turnNumber}_${turn.stepNumber}_${index}${n === 0 ? "" : `_${n}`}`
    }
    ids.add(id)
    return id === call.id ? call : { ...call, id }
  })
}
