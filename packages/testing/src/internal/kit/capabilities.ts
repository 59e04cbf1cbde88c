/**
 * The capabilities of a hook under test: they answer from the options of the test and record what the hook requests.
 */
import { type AgentError, PortFailed } from "@belay/core/AgentError"
import { type Artifact, keyOf } from "@belay/core/Artifact"
import type * as ArtifactStore from "@belay/core/ArtifactStore"
import * as Awaitable from "@belay/core/Awaitable"
import type { Capabilities, HookContext } from "@belay/core/HookContext"
import { type LlmResponse, textResponse } from "@belay/core/LlmCall"
import { askForObject } from "@belay/core/Output"
import * as Effect from "effect/Effect"
import type { Answer, Mutable, Seen, World } from "./world.ts"

/** What the capabilities work with. */
interface Setting {
  readonly world: World
  readonly seen: Mutable<Seen>
  readonly artifacts: ArtifactStore.ArtifactStore
  readonly run: Capabilities["promise"]
  readonly root: Capabilities["root"]
  readonly durable: Capabilities["durable"]
}

/** Creates the capabilities for one event. */
export const simulateCapabilities = ({ artifacts, durable, root, run, seen, world }: Setting): Capabilities => ({
  root,
  durable,
  artifacts: (hook) => artifactsOf({ artifacts, run, root }, hook),
  llm: (request, hook) =>
    awaitable(run, () => {
      const { llm } = world
      return askForObject(request, `ctx.llm of ${hook}`, (asked) => {
        seen.llmRequests.push(asked)
        if (llm === undefined) return missing(`${hook} asked a model: give an \`llm\` that answers`)
        return Effect.flatMap(answerOf<LlmResponse | string | AgentError>(() => llm(asked, hook)), toResponse)
      })
    }),
  callTool: (name, args, hook) =>
    awaitable(run, () => {
      seen.toolRequests.push({ name, args })
      const { callTool } = world
      return callTool === undefined
        ? missing(`${hook} called the tool ${name}: give a \`callTool\` that answers`)
        : answerOf(() => callTool(name, args, hook))
    }),
  http: (request, hook) =>
    awaitable(run, () => {
      seen.httpRequests.push(request)
      const { http } = world
      if (http === undefined) return missing(`${hook} sent a request: give an \`http\` that answers`)
      const empty = { status: 200, headers: {}, body: "", url: request.url }
      return Effect.map(portCall("http", hook, async () => http(request, hook)), (answer) => ({ ...empty, ...answer }))
    }),
  mcp: (hook) => ({
    callTool: (server, tool, args) =>
      awaitable(run, () => {
        const call = { server, tool, args }
        seen.mcpRequests.push(call)
        const { mcp } = world
        if (mcp === undefined) return missing(`${hook} called ${tool} of ${server}: give an \`mcp\` that answers`)
        const empty = { content: [], isError: false }
        return Effect.map(portCall("mcp", hook, async () => mcp(call, hook)), (answer) => ({ ...empty, ...answer }))
      }),
    listTools: (server) =>
      Awaitable.make(
        Effect.succeed((world.mcpTools ?? []).filter((tool) => server === undefined || tool.server === server)),
        run
      )
  }),
  tools: world.tools ?? [],
  rotate: (hook) => void seen.rotations.push(hook),
  reportBudget: (level) => Awaitable.make(Effect.sync(() => void seen.budgets.push(level)), run),
  promise: run
})

const awaitable = <A, E>(run: Setting["run"], act: () => Effect.Effect<A, E>) =>
  Awaitable.make(Effect.suspend(act), run)

/** The test has no answer for a capability that the hook uses. */
const missing = (message: string): Effect.Effect<never> => Effect.die(new Error(message))

const answerOf = <A>(answer: () => Answer<A>): Effect.Effect<A> => Effect.promise(async () => answer())

/** A text, a response or a failure as the answer of a model. */
const toResponse = (answer: LlmResponse | string | AgentError): Effect.Effect<LlmResponse, AgentError> => {
  if (typeof answer === "string") return Effect.succeed(textResponse(answer, "side"))
  return "_tag" in answer ? Effect.fail(answer) : Effect.succeed(answer)
}

/** Runs a port of the test. If it throws, the hook gets a `PortFailed`. */
const portCall = <A>(port: string, hook: string, call: () => Promise<A>): Effect.Effect<A, PortFailed> =>
  Effect.mapError(
    Effect.tryPromise(call),
    ({ cause }) => new PortFailed({ port, message: `${port} for ${hook}: ${String(cause)}`, cause })
  )

const artifactsOf = (
  { artifacts: store, root: { sessionId }, run }: Pick<Setting, "artifacts" | "root" | "run">,
  hook: string
): HookContext["artifacts"] => {
  const mine = (key: string) => key.startsWith("hook:") ? key : `hook:${key}`
  const sure = <A>(effect: Effect.Effect<A, unknown>) => Awaitable.make(Effect.orDie(effect), run)
  return {
    write: (key, content, options) =>
      sure<Artifact>(store.write(sessionId, mine(key), content, { by: hook, ...options })),
    append: (key, content, options) =>
      sure<Artifact>(store.append(sessionId, mine(key), content, { by: hook, ...options })),
    read: (key) => {
      const wanted = keyOf(key)
      return sure(store.read(sessionId, wanted.startsWith("tool:") ? wanted : mine(wanted)))
    },
    list: () => sure(store.list(sessionId)),
    remove: (key) => sure(store.remove(sessionId, mine(key)))
  }
}
