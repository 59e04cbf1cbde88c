/**
 * What hooks may borrow of the turn they run in: model, tools, artifacts, HTTP, MCP servers, durable state. What they
 * do with it is theirs: no hook runs around it but those that ask to.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { type AgentError, HookRejected, PortFailed } from "../../../data/AgentError.ts"
import { keyOf } from "../../../data/Artifact.ts"
import type { BudgetLevel } from "../../../data/Compaction.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { HttpRequest, HttpResponse } from "../../../data/Http.ts"
import type { Json } from "../../../data/Json.ts"
import type { LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import { failure, type ToolResult } from "../../../data/Tool.ts"
import * as Usage from "../../../data/Usage.ts"
import type { Abort } from "../../../hook/HookAction.ts"
import * as HookChain from "../../../hook/HookChain.ts"
import type { AgentTool, Artifacts, HookScope, Lent, Mcp, SideRequest } from "../../../hook/HookContext.ts"
import type { McpAccessor } from "../../../port/McpAccessor.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { acting, type Resolved } from "../config/resolvedAgent.ts"
import { sideCall } from "../model/callModel.ts"
import { sideTool } from "../tool/runToolCall.ts"
import { Turn } from "../turn/turn.ts"
import { isEnded } from "../turn/turnEnd.ts"

/** Lends of a turn. The scope of every chain that a runtime runs is one. */
export const lend = (scope: HookScope): Lent => new Loan(scope as Turn)

/** A class because there may be one a turn: what nobody borrows is not built. */
class Loan implements Lent {
  private readonly turn: Turn
  private calls = 0

  constructor(turn: Turn) {
    this.turn = turn
  }

  get root() {
    const { session, turnNumber } = this.turn.root
    return { sessionId: session.id, turnNumber, state: session.state }
  }

  get durable(): Lent["durable"] {
    const { session } = this.turn
    const { durable } = session
    // Ids of tool calls are unique in a session only.
    const own = (id: string) => session.root === session ? id : `${session.id}/${id}`
    return {
      conversation: durable.conversation,
      turn: durable.turn,
      call: (id) => durable.call(own(id)),
      endCall: (id) => durable.endCall(own(id))
    }
  }

  artifacts(hook: string): Artifacts {
    const { host: { artifacts }, session: { root: { id } } } = this.turn
    const mine = (key: string) => key.startsWith("hook:") ? key : `hook:${key}`
    const port = <A>(effect: Effect.Effect<A, unknown>) => failing("artifacts", `artifacts of ${id}`, effect)
    return {
      write: (key, content, options) => port(artifacts.write(id, mine(key), content, { by: hook, ...options })),
      append: (key, content, options) => port(artifacts.append(id, mine(key), content, { by: hook, ...options })),
      read: (key) => {
        const wanted = keyOf(key)
        return port(artifacts.read(id, wanted.startsWith("tool:") ? wanted : mine(wanted)))
      },
      list: port(artifacts.list(id)),
      remove: (key) => port(artifacts.remove(id, mine(key)))
    }
  }

  llm(request: SideRequest, hook: string): Effect.Effect<LlmResponse, AgentError> {
    const { turn } = this
    return this.side(hook, "llm", (side) => {
      const { instructions, model = turn.host.config.model, parameters = {}, prompt, tools = [] } = request
      const asked: LlmRequest = {
        messages: typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt,
        tools,
        parameters,
        ...(model === undefined ? {} : { model }),
        ...(instructions === undefined ? {} : { instructions })
      }
      const began = performance.now()
      return Effect.tap(
        Effect.gen(() => sideCall(side, asked, request.provider)),
        ({ model: answered, usage }) =>
          Effect.sync(() => {
            if (turn.listened) {
              turn.publish({ type: "hook-llm", hook, model: answered, usage, durationMs: performance.now() - began })
            }
          })
      )
    })
  }

  callTool(name: string, args: Json, hook: string): Effect.Effect<ToolResult, AgentError> {
    const id = `${hook}/${this.turn.stepNumber}.${++this.calls}`
    if (this.turn.host.delegates.has(name)) {
      return Effect.succeed(failure(`${name} hands over to another agent, which a hook cannot do`))
    }
    return this.side(hook, "callTool", (side) =>
      Effect.map(
        Effect.gen(() => sideTool(side, { id, name, args })),
        (result) => result ?? failure(`${name} needs a person's approval, which a hook cannot ask for`)
      ))
  }

  get tools(): ReadonlyArray<AgentTool> {
    const { delegates, tools } = this.turn.host
    return [...tools.values()].map((tool) => ({ ...tool, delegates: delegates.has(tool.name) }))
  }

  http(request: HttpRequest, hook: string): Effect.Effect<HttpResponse, PortFailed> {
    const { host: { http } } = this.turn
    if (http === undefined) {
      return Effect.fail(
        new PortFailed({
          port: "http",
          message: `ctx.http of ${hook}: the agent has no HTTP client; give it one: http: HttpGuard.client({ ... })`
        })
      )
    }
    return failing("http", `http for ${hook}`, Effect.suspend(() => http.request(request)))
  }

  mcp(hook: string): Mcp {
    const { host: { mcp } } = this.turn
    const message = `ctx.mcp of ${hook}: the agent has no MCP servers; give it some: mcp: McpServers.make({ ... })`
    const call = <A>(act: (accessor: McpAccessor) => Effect.Effect<A, unknown>): Effect.Effect<A, PortFailed> =>
      mcp === undefined
        ? Effect.fail(new PortFailed({ port: "mcp", message }))
        : failing("mcp", `mcp for ${hook}`, Effect.suspend(() => act(mcp)))
    return {
      callTool: (server, tool, args) => call((accessor) => accessor.callTool(server, tool, args)),
      listTools: (server) => call((accessor) => accessor.listTools(server))
    }
  }

  reportBudget(level: BudgetLevel): Effect.Effect<Abort | undefined> {
    // Of a call that a hook makes, the hooks of the agent are told, not those of the call.
    const { around: turn = this.turn } = this.turn
    return Effect.map(
      turn.host.chain.run("onBudget", level, turn),
      ({ action }) => action._tag === "Abort" ? action : undefined
    )
  }

  rotate(hook: string): void {
    const { turn } = this
    const { session } = turn
    if (session.root !== session) return turn.warn("a sub-agent's session is not rotated: it ends with its work", hook)
    if (session.rotation !== undefined) return
    session.rotation = { by: hook }
    turn.publish({ type: "rotation", step: "loads-refused", from: session.id })
  }

  promise<A, E>(effect: Effect.Effect<A, E>): Promise<A> {
    const { services, signal } = this.turn
    return services === undefined
      ? Effect.runPromise(effect, { signal })
      : Effect.runPromiseWith(services)(effect, { signal })
  }

  /** Does something beside the turn; what it cost is the turn's. */
  private side<A>(
    hook: string,
    what: string,
    act: (side: Turn) => Effect.Effect<A, AgentError | TurnEnded>
  ): Effect.Effect<A, AgentError> {
    return Effect.suspend(() => {
      const { turn } = this
      const refused = (reason: string, by = hook) =>
        new HookRejected({ hook: by, point: what, reason, message: `ctx.${what} of ${hook} was refused: ${reason}` })
      if (turn.depth > 0) return refused("a hook that runs for another hook's call may not make calls itself")
      const side = new Turn(sideHost(turn.host), turn.session, turn.input, turn.turnNumber, {
        depth: turn.depth + 1,
        around: turn,
        ...(turn.parent === undefined ? {} : { parent: turn.parent })
      })
      side.stepNumber = turn.stepNumber
      side.services = turn.services
      // The conversation is not what this call is about.
      side.compactedForOverflow = true
      return act(side).pipe(
        Effect.onExit(() =>
          Effect.sync(() => {
            turn.usage = Usage.add(turn.usage, side.usage)
            turn.llmCalls += side.llmCalls
            side.abortSignal()
          })
        ),
        Effect.catch((error): Effect.Effect<never, AgentError> => {
          if (!isEnded(error)) return Effect.fail(error)
          const { end } = error
          return end.type === "aborted"
            ? refused(end.reason, end.by)
            : refused(end.type === "limited" ? `the cap on ${end.limit}` : end.type)
        })
      )
    })
  }
}

/** A port's failures, defects among them, as errors of an agent. */
const failing = <A>(port: string, what: string, effect: Effect.Effect<A, unknown>): Effect.Effect<A, PortFailed> =>
  Effect.catchCause(effect, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : new PortFailed({ port, message: `${what}: ${messageOf(Cause.squash(cause))}`, cause: Cause.squash(cause) }))

const sides = new WeakMap<Resolved, Resolved>()

/** The agent, as hooks use it. */
const sideHost = (host: Resolved): Resolved => {
  const known = sides.get(host)
  if (known !== undefined) return known
  const { onAsk: _onAsk, store: _store, window: _window, ...config } = host.config
  const made: Resolved = {
    ...host,
    ...acting(HookChain.makeUnsafe(host.chain.hooks.filter(({ allowReentry }) => allowReentry === true))),
    config,
    streams: false
  }
  sides.set(host, made)
  return made
}
