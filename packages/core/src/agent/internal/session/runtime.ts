/** Opens, resumes and closes the sessions of an agent. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { type AgentError, PortFailed, SessionError, SnapshotError } from "../../../data/AgentError.ts"
import type { AgentEvent } from "../../../data/AgentEvent.ts"
import { checkKinds, type OptionKinds } from "../../../data/option/OptionCheck.ts"
import * as RunState from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import {
  checkResume,
  loadState,
  readDecisions,
  readSnapshot,
  sessionOf
} from "../../../guard/internal/io/resumeSession.ts"
import { SessionState } from "../../../guard/internal/state/sessionState.ts"
import { storedTurn } from "../../../guard/internal/state/turnState.ts"
import { toEffect } from "../../../guard/internal/state/yieldable.ts"
import { applyDecisions } from "../../../guard/internal/toolCall/openQuestions.ts"
import type { RunResult } from "../../../guard/RunResult.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import type { Decisions, ResumeOptions, Session, SessionOptions } from "../../Session.ts"
import type { ResolvedAgent } from "../definition/resolvedAgent.ts"
import { keepWaiting } from "../turn/finishTurn.ts"
import { runTurn, turnOf } from "../turn/runTurn.ts"
import { ResumedSnapshots } from "./resumedSnapshots.ts"
import { type Owner, SessionHandle } from "./sessionHandle.ts"

/** The runtime of an agent. The Effect API and the promise API both use it. */
export interface Runtime {
  readonly openSession: (
    options?: SessionOptions
  ) => Effect.Effect<Session, SessionError | PortFailed | SnapshotError>
  /** Runs one turn in its own session. */
  readonly runOnce: (input: string | TurnInput, options?: ResumeOptions) => Effect.Effect<RunResult, AgentError>
  readonly resume: (
    snapshot: unknown,
    decisions?: Decisions,
    options?: ResumeOptions
  ) => Effect.Effect<RunResult, AgentError>
  readonly listen: (listener: (event: AgentEvent) => void) => () => void
  /** Closes all sessions, then disposes the hooks. */
  readonly closeAll: Effect.Effect<void>
}

/** How many finished turns an agent remembers, so that none of them is resumed again. */
const maxFinished = 10_000

type AnyContext = Context.Context<never> | undefined

/** Starts the runtime of an agent. `context` has the services of its hooks. */
export const startRuntime = (agent: ResolvedAgent, context: AnyContext): Runtime => {
  const handles = new Map<string, SessionHandle>()
  const finished = new Set<string>()
  const resumed = new ResumedSnapshots()

  const open = (session: SessionState): SessionHandle => new SessionHandle(agent, session, owner)

  const rememberFinished = (id: string): void => {
    if (finished.size >= maxFinished) finished.delete(finished.values().next().value!)
    finished.add(id)
  }

  const resume = Effect.fnUntraced(
    function*(
      snapshot: unknown,
      given: Decisions = {},
      { onEvent }: ResumeOptions = {},
      isCurrent = false
    ): Effect.fn.Return<RunResult, AgentError> {
      const state = yield* RunState.decode(isCurrent ? snapshot : yield* readSnapshot(snapshot))
      const decisions = yield* readDecisions(given)
      const { sessionId, turnNumber } = state
      const id = `${sessionId}/${turnNumber}`
      if (finished.has(id)) {
        const message = `turn ${turnNumber} of session ${sessionId} was finished before`
        return yield* new SnapshotError({ problem: "finished", message })
      }
      const known = handles.get(sessionId)
      if (known !== undefined && !isCurrent) yield* known.refresh
      yield* checkResume({ agent, state, open: handles.get(sessionId)?.session, decisions })
      const resumption = { decisions, id, onEvent, state }
      if (isCurrent) return yield* continueTurn(resumption)
      return yield* Effect.acquireUseRelease(
        Effect.suspend(() => resumed.claim(state) ? Effect.void : resumedBefore(state)),
        () => continueTurn(resumption),
        (_, exit) => Effect.sync(() => resumed.release(state, exit, Exit.isFailure(exit) && canResumeAgain(exit)))
      )
    }
  )

  const continueTurn = Effect.fnUntraced(
    function*({ decisions, id, onEvent, state }: Resumption): Effect.fn.Return<RunResult, AgentError> {
      const handle = handles.get(state.sessionId) ?? open(sessionOf(state))
      const turn = storedTurnOf(agent, handle.session, state)
      turn.io.holdEvents()
      yield* toEffect(() => applyDecisions(turn, decisions))
      const run = Effect.onExit(
        handle.withServices(runTurn(turn, true)),
        (exit) => Effect.sync(() => canResumeAgain(exit) ? undefined : rememberFinished(id))
      )
      return yield* handle.listening(onEvent, handle.closesWithTurn ? closeAfter(handle, run) : run)
    }
  )

  const openSession = (options: SessionOptions = noOptions): Effect.Effect<
    SessionHandle,
    SessionError | PortFailed | SnapshotError
  > =>
    Effect.suspend(() => {
      const wrong = checkSessionOptions(options)
      if (wrong !== undefined) return wrong
      const { id = crypto.randomUUID(), messages } = options
      const known = handles.get(id)
      if (known !== undefined) return Effect.as(known.refresh, known)
      const { store } = agent.config
      const openNew = () =>
        handles.get(id) ??
          open(new SessionState(id, messages === undefined ? undefined : { messages, turnNumber: 0 }))
      if (store === undefined || options.id === undefined) return Effect.succeed(openNew())
      return Effect.flatMap(loadState(store, id), (state) => {
        if (state === undefined) return Effect.succeed(openNew())
        if (messages !== undefined) {
          const message = `session ${id} is in the store already and has its own messages: open it without \`messages\``
          return new SessionError({ sessionId: id, problem: "exists", message })
        }
        return Effect.sync(() => handles.get(state.sessionId) ?? openStored(state))
      })
    })

  /** Opens a stored session. If a turn waits in it, that turn can be resumed; a new turn abandons it. */
  const openStored = (state: RunState.RunState): SessionHandle => {
    const handle = open(sessionOf(state, { stored: true }))
    restoreTurn(handle, state)
    return handle
  }

  const restoreTurn = ({ session }: SessionHandle, state: RunState.RunState): void => {
    const turn = storedTurnOf(agent, session, state)
    turn.io.noteStored()
    session.storage.lastTurn = turn
    if (state.phase !== "ended") keepWaiting(turn)
  }

  /** All sessions share it. */
  const owner: Owner = {
    context,
    resume: (snapshot, decisions) => resume(snapshot, decisions, {}, true),
    add: (handle) => void handles.set(handle.id, handle),
    remove: (id) => void handles.delete(id),
    restore: restoreTurn
  }

  return {
    openSession,
    resume: (snapshot, decisions, options) => resume(snapshot, decisions, options),
    runOnce: (input, { onEvent } = {}) =>
      Effect.flatMap(openSession(), (handle) => {
        handle.closesWithTurn = true
        return handle.listening(onEvent, closeAfter(handle, handle.run(input)))
      }),
    listen: (listener) => agent.hub.listen(listener),
    closeAll: Effect.suspend(() =>
      Effect.andThen(
        Effect.forEach([...handles.values()], (handle) => handle.close("done"), { discard: true }),
        Effect.forEach(agent.chain.hooks, closeHook, { concurrency: "unbounded", discard: true })
      )
    )
  }
}

/** A run that is resumed, after all checks. */
interface Resumption {
  /** Identifies the turn. */
  readonly id: string
  readonly state: RunState.RunState
  readonly decisions: Decisions
  readonly onEvent: ResumeOptions["onEvent"]
}

const resumedBefore = ({ sessionId, turnNumber }: RunState.RunState): SnapshotError =>
  new SnapshotError({
    problem: "finished",
    message: `the snapshot of turn ${turnNumber} of session ${sessionId} is being resumed, or was resumed before: ` +
      "use the result of that"
  })

/** Describes what is wrong with the options of a session. */
const checkSessionOptions = (options: SessionOptions): SessionError | undefined => {
  if (options === noOptions) return undefined
  const checked = checkKinds("session", options, sessionKinds)
  if (Result.isFailure(checked)) {
    return new SessionError({ sessionId: "", problem: "wrong-options", message: checked.failure.message })
  }
  const { id } = options
  if (id === undefined || /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(id)) return undefined
  const sessionId = id.slice(0, 128)
  return new SessionError({
    sessionId,
    problem: "wrong-options",
    message: `session id "${sessionId}" must be 1 to 128 letters, digits, "_", "-" or ".", ` +
      "and begin with a letter or digit"
  })
}

/** One object for all sessions, so that nothing has to be checked. */
const noOptions: SessionOptions = Object.freeze({})

const sessionKinds: OptionKinds<SessionOptions> = { id: "text", messages: "list" }

/** Makes the turn that a stored state describes. */
const storedTurnOf = (agent: ResolvedAgent, session: SessionState, state: RunState.RunState) =>
  turnOf(agent, session, storedTurn(state))

/** Whether the same snapshot can be resumed again: the turn waits again, or nothing has been done yet. */
const canResumeAgain = (exit: Exit.Exit<RunResult, AgentError>): boolean => {
  if (Exit.isSuccess(exit)) return isWaiting(exit.value)
  const error = Cause.squash(exit.cause)
  return error instanceof SessionError || (error instanceof PortFailed && error.port === "store")
}

/** Whether a turn can be resumed. */
const isWaiting = ({ status }: RunResult): boolean =>
  status === "suspended" || status === "limited" || status === "parked"

/** Closes a session that was opened for one turn, unless that turn can be resumed. */
const closeAfter = (
  session: Session,
  turn: Effect.Effect<RunResult, AgentError>
): Effect.Effect<RunResult, AgentError> =>
  Effect.onExit(turn, (exit) => {
    if (Exit.isFailure(exit)) return session.close(Cause.hasInterruptsOnly(exit.cause) ? "abort" : "error")
    const { status } = exit.value
    if (isWaiting(exit.value)) return Effect.void
    return session.close(status === "aborted" ? "abort" : "done")
  })

/** Closes a hook. A hook that fails or takes too long is only logged. */
const closeHook = (hook: AgentHook<never>): Effect.Effect<void> =>
  hook.close === undefined ? Effect.void : Effect.suspend(() => {
    const closing = hook.close!()
    return Effect.isEffect(closing) ? closing : Effect.promise(() => Promise.resolve(closing))
  }).pipe(
    Effect.timeout("30 seconds"),
    Effect.catchCause((cause) =>
      Effect.logWarning(`hook ${hook.name} could not be closed: ${messageOf(Cause.squash(cause))}`)
    ),
    Effect.asVoid
  )
