/** A guarded conversation: its session, its turn, and the calls of the driver that are not done. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import type { LlmRequest } from "../../../data/LlmCall.ts"
import { text } from "../../../data/Message.ts"
import { childOf } from "../../../data/RunState.ts"
import type { PreToolCallEvent, ToolMeta } from "../../../data/tool/Tool.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { InjectedText, ToolCallVerdict } from "../../Verdict.ts"
import type { GuardedAgent } from "../definition/guardedAgent.ts"
import { sessionOf } from "../io/resumeSession.ts"
import { askHooks, notifyHooks } from "../point/askHooks.ts"
import { sameJson } from "../schema/sameValue.ts"
import { SessionState } from "../state/sessionState.ts"
import { spentBy } from "../state/spent.ts"
import { planned, type RunningCall, update } from "../state/toolCallState.ts"
import { stopOf } from "../state/turnEnd.ts"
import { addCall, enterPhase, newTurn, removeCall, storedTurn } from "../state/turnState.ts"
import type { Step } from "../state/yieldable.ts"
import { pendingOf } from "../toolCall/openQuestions.ts"
import { beginTurn, keep, type Kept, keptBy } from "./keptState.ts"
import { type DriverParts, SessionTurn } from "./sessionTurn.ts"

export type Failure = AgentError | TurnEnded

/** A verdict without its context. */
export type Bare<Verdict> = Verdict extends unknown ? Omit<Verdict, "context"> : never

/** A call about which the driver has asked. */
export interface OpenCall {
  running: RunningCall
  /** What the guard said. It is open while the guard still decides. */
  verdict: Deferred.Deferred<Bare<ToolCallVerdict>, Failure>
  /** What runs, if the call is allowed. */
  event?: PreToolCallEvent
  startedAt?: number
  /** Whether the verdict is in the store. */
  isSaved?: boolean
  /** The `callTool` that runs the tool. */
  claim?: Claim
}

/** One use of `callTool`. */
export interface Claim {
  /** What it runs. Absent if the call must not run. */
  event?: PreToolCallEvent | undefined
}

/** What a conversation is made of. */
export interface ConversationParts {
  readonly agent: GuardedAgent
  readonly driver: DriverParts
  readonly id: string
  readonly seesRequests: boolean
  readonly parent?: Conversation | undefined
  readonly parentCall?: string | undefined
}

/** A class, because its fields are the state of the conversation, and a store may replace them. */
export class Conversation {
  readonly id: string
  readonly agent: GuardedAgent
  readonly parent: Conversation | undefined
  readonly parentCall: string | undefined
  readonly children = new Map<string, Conversation>()
  readonly open = new Map<string, OpenCall>()
  session: SessionState
  /** The tools of the guard. */
  private readonly known: ReadonlyMap<string, ToolMeta>
  /** The same, and those that calls of this turn have described. */
  private readonly tools: Map<string, ToolMeta>
  private readonly driver: DriverParts
  private readonly seesRequests: boolean
  private running: SessionTurn | undefined = undefined
  /** Whether it was read from the store for the conversation above, and the driver has not made it yet. */
  private standsIn = false
  /** The last request that the guard has allowed. */
  request: LlmRequest | undefined = undefined
  /** How many tool calls of the turn the `postStep` hooks have seen. */
  toolCallsSeen = 0
  /** How often the hooks have sent the answer of the model back. */
  retries = 0

  constructor({ agent, driver, id, parent, parentCall, seesRequests }: ConversationParts) {
    this.id = id
    this.parent = parent
    this.parentCall = parent === undefined ? undefined : parentCall ?? `agent:${id}`
    this.driver = driver
    this.seesRequests = seesRequests
    this.known = agent.tools
    this.tools = new Map(agent.tools)
    this.agent = { ...agent, tools: this.tools }
    this.session = new SessionState(id, parent === undefined ? undefined : { ...empty, root: parent.session.root })
  }

  /** The conversation of the agent that started first. */
  get root(): Conversation {
    return this.parent?.root ?? this
  }

  /** The turn, if one has begun. */
  get begun(): SessionTurn | undefined {
    return this.running
  }

  /** The turn in which hooks run outside of turns. */
  get outside(): SessionTurn {
    return this.running ?? this.makeTurn(newTurn({ message: "" }, this.session.turnNumber))
  }

  private makeTurn(state: SessionTurn["state"]): SessionTurn {
    const { agent, driver, parent, parentCall, session } = this
    return new SessionTurn({ agent, session, state, driver, parent: parent?.running, parentCall })
  }

  /** Begins a turn. What of the last one is still open is dropped. */
  begin(input: TurnInput): SessionTurn {
    const { session } = this
    this.endTurn()
    this.open.clear()
    this.tools.clear()
    for (const [name, tool] of this.known) this.tools.set(name, tool)
    if (session.root === session && session.hasDurable) session.durable.endTurn()
    session.turnNumber++
    beginTurn(session)
    this.request = undefined
    this.retries = 0
    this.toolCallsSeen = 0
    return this.running = this.makeTurn(newTurn(input, session.turnNumber))
  }

  /** Ends the turn for its hooks: their `ctx.signal` aborts. */
  endTurn(): void {
    this.running?.io.abortSignal()
  }

  /** Returns the turn. If the driver has not passed on a message, one begins without it. */
  *turn(): Step<SessionTurn, Failure> {
    if (this.running === undefined) {
      this.begin({ message: "" })
      yield* this.start()
    }
    const turn = this.running!
    if (turn.state.phase === "start" || turn.state.phase === "ended") enterPhase(turn.state, "model")
    return turn
  }

  /** Runs the `onSessionStart` hooks of a new session. A sub-agent works in the session of its caller. */
  *start(): Step<void, Failure> {
    const { parent, session } = this
    if (session.status !== "new") return
    session.status = "idle"
    if (parent !== undefined) return
    const turn = this.running!
    const { id: sessionId, source } = session
    if (turn.hasHooks("onSessionStart")) {
      const outcome = yield* askHooks(turn, "onSessionStart", { sessionId, source, context: [] })
      const stop = stopOf("onSessionStart", outcome)
      if (stop !== undefined) {
        yield* this.endRefused(turn, outcome?.action._tag === "Abort" ? "abort" : "error")
        return yield* stop
      }
      for (const message of outcome?.event.context ?? []) {
        turn.scope.inject(text(message), undefined, outcome?.by ?? "hook")
      }
    }
    turn.io.publish({ type: "session-start", source })
  }

  /** Each start has one end. The next message tries it again. */
  private *endRefused({ io }: SessionTurn, reason: "abort" | "error"): Step<void> {
    const { session } = this
    session.status = "new"
    io.publish({ type: "session-start", source: session.source })
    yield* notifyHooks(this.outside, "onSessionEnd", { sessionId: session.id, reason })
    io.publish({ type: "session-end", reason })
  }

  // What the driver reads.

  /** Takes the texts that hooks injected, if the driver has to show them. */
  takeContext(): ReadonlyArray<InjectedText> {
    const { session } = this
    if (this.seesRequests || session.injections.length === 0) return none
    const taken = session.injections.map(({ hook, text: shown }) => ({ hook, text: shown }))
    session.injections = []
    return taken
  }

  /** How the turn has ended. All later verdicts of the turn are the same. */
  get stopped(): Kept["stopped"] {
    return keptBy(this.session).stopped
  }
  setStopped(stopped: NonNullable<Kept["stopped"]>): void {
    keep(this.session, { ...keptBy(this.session), stopped })
  }

  // Calls.

  /** Makes a tool known that the driver has not declared. */
  knowTool(name: string, meta: () => ToolMeta): void {
    if (this.known.has(name)) return
    const made = meta()
    const before = this.tools.get(name)
    this.tools.set(name, made)
    const isNew = before === undefined || !sameJson(asJson(before), asJson(made))
    if (isNew && this.root.agent.config.store !== undefined) {
      // What is too large for the state is described by the next call.
      Result.try(() => this.keepTool(made))
    }
  }

  private keepTool(tool: ToolMeta): void {
    const before = keptBy(this.session)
    keep(this.session, { ...before, tools: { ...before.tools, [tool.name]: tool } })
  }

  /** Opens a call. */
  addCall(turn: SessionTurn, running: RunningCall): OpenCall {
    addCall(turn.state, running)
    const made: OpenCall = { running, verdict: Deferred.makeUnsafe() }
    this.open.set(running.state.call.id, made)
    return made
  }

  /** The guard decides about an open call again. */
  reopen(running: RunningCall): OpenCall {
    const { id } = running.state.call
    const made: OpenCall = { ...this.open.get(id), running, verdict: Deferred.makeUnsafe() }
    this.open.set(id, made)
    return made
  }

  /** The call is done. */
  endCall(turn: SessionTurn, running: RunningCall): void {
    const { session } = this
    removeCall(turn.state, running)
    if (session.root.hasDurable) session.durable.endCall(session.durableKey(running.state.call.id))
  }

  // Sub-agents.

  /** Joins the turn of the conversation above. */
  join(): void {
    const { parent } = this
    if (parent === undefined) return
    parent.join()
    parent.adopt(this)
  }

  /** Joins it if the turn above has this conversation already: from the store, when another process has begun it. */
  rejoin(): void {
    const { parent, parentCall } = this
    parent?.rejoin()
    if (parent === undefined || parentCall === undefined) return
    const running = parent.running?.state.calls.find(({ state }) => state.call.id === parentCall)
    const isKnown = running !== undefined && childOf(running.state) !== undefined
    if (isKnown || parent.standInFor(parentCall) !== undefined) parent.adopt(this)
  }

  /** Takes a conversation below this one into the turn, for the call for which it works. */
  private adopt(child: Conversation): void {
    const turn = this.running ?? this.begin({ message: "" })
    const id = child.parentCall!
    const standIn = this.standInFor(id)
    this.children.set(id, child)
    let running = turn.state.calls.find(({ state }) => state.call.id === id)
    if (running === undefined) {
      running = { state: planned({ id, name: child.agent.info.name, args: {} }) }
      addCall(turn.state, running)
    }
    const stored = childOf(running.state)
    if (stored !== undefined) {
      child.take(sessionOf(stored, { root: this.session.root }))
      child.running = child.makeTurn(storedTurn(stored))
      update(running, { type: "rebuild" })
    } else if (standIn !== undefined && standIn !== child) {
      child.replace(standIn)
      running.subAgent = undefined
    } else if (child.session.root !== this.session.root) {
      // It was made before this conversation was loaded from the store.
      child.detach()
    } else if (child.running !== undefined && child.running.parent !== turn) {
      child.running = child.makeTurn(child.running.state)
    }
    running.subAgent ??= {
      run: () => Effect.die("the driver runs its agents itself"),
      messages: () => [],
      decide: () => Effect.void,
      pending: () => pendingOf(child.running?.state.calls ?? []),
      snapshot: () => child.outside.io.snapshot(),
      spent: () => spentBy(child.outside.state),
      shutDown: Effect.void
    }
  }

  private standInFor(callId: string): Conversation | undefined {
    const found = this.children.get(callId)
    return found?.standsIn === true ? found : undefined
  }

  /** Continues what the conversation above has read from the store for this one. */
  private replace({ children, open, running, session, tools }: Conversation): void {
    this.session = session
    for (const [id, one] of open) this.open.set(id, one)
    for (const [id, one] of children) this.children.set(id, one)
    for (const [name, tool] of tools) if (!this.known.has(name)) this.tools.set(name, tool)
    this.running = running === undefined ? undefined : this.makeTurn(running.state)
  }

  /** Returns the conversation that works for a call, if there is one. */
  childFor(callId: string): Conversation | undefined {
    const known = this.children.get(callId)
    if (known !== undefined) return known
    const running = this.running?.state.calls.find(({ state }) => state.call.id === callId)
    const stored = running === undefined ? undefined : childOf(running.state)
    if (stored === undefined) return undefined
    const { agent, driver, seesRequests } = this
    const base = { ...agent, tools: this.known }
    const child = new Conversation({
      agent: base,
      driver,
      id: stored.sessionId,
      seesRequests,
      parent: this,
      parentCall: callId
    })
    child.standsIn = true
    child.join()
    return child
  }

  /** The sub-agent has ended. */
  endChild(child: Conversation): void {
    const id = child.parentCall!
    this.children.delete(id)
    const running = this.running?.state.calls.find(({ state }) => state.call.id === id)
    if (running === undefined) return
    running.subAgent = undefined
    if (id === `agent:${child.id}`) removeCall(this.running!.state, running)
  }

  // What a store has.

  private take(session: SessionState): void {
    this.session = session
    session.status = "idle"
    for (const [name, tool] of Object.entries(keptBy(session).tools ?? {})) {
      if (!this.known.has(name)) this.tools.set(name, tool)
    }
  }

  /** Continues from a state that another process, or an earlier one, has stored. */
  reload(state: Parameters<typeof storedTurn>[0]): void {
    const { session: before } = this
    this.endTurn()
    this.take(sessionOf(state, { stored: true }))
    this.session.lastEvent = Math.max(before.lastEvent, this.session.lastEvent)
    this.running = this.makeTurn(storedTurn(state))
    const { calls } = this.running.state
    for (const [id, open] of this.open) {
      const running = calls.find((call) => call.state.call.id === id)
      const [before, now] = [open.running.state.status, running?.state.status]
      // Another process has decided the question, or runs the call, so the verdict is another one.
      if ((before === "asked" && now !== "asked") || (before === "decided" && now === "started")) this.open.delete(id)
      else if (running !== undefined) open.running = running
      else if (open.isSaved !== true) this.open.delete(id)
    }
    for (const child of this.children.values()) child.detach()
  }

  /** The store has what is decided so far. */
  noteSaved(): void {
    for (const open of this.open.values()) if (Deferred.isDoneUnsafe(open.verdict)) open.isSaved = true
  }

  /** The conversation above has been loaded again, and this one with it. */
  private detach(): void {
    this.running = undefined
    this.session = new SessionState(this.id, { ...empty, root: this.root.session })
    this.open.clear()
    for (const child of this.children.values()) child.detach()
  }
}

/**
 * A description of a tool consists of JSON. The compiler cannot check that, because the interface has no index
 * signature.
 */
const asJson = (tool: ToolMeta): Json => tool as unknown as Json

const empty = { messages: [], turnNumber: 0 } as const
const none: ReadonlyArray<InjectedText> = Object.freeze([])
