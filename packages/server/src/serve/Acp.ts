/**
 * Serves an agent to editors over ACP, the Agent Client Protocol. Needs the package `@agentclientprotocol/sdk`.
 *
 * A question is a permission request, with `allow`, `always` (this tool, in this session) and `reject`. In the mode
 * `allow`, every question is answered with yes. Sessions can be loaded again. The folder and the MCP servers of the
 * editor are not used.
 *
 * @since 0.1.0
 */
import type { AgentApp, Stream } from "@agentclientprotocol/sdk"
import { checkOptions } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { loadPeer, passOn } from "../foreign/internal/peer.ts"
import { type Prompt, promptOf, replay } from "./internal/acp/prompt.ts"
import { type EditorSession, runTurn } from "./internal/acp/turn.ts"
import { pendingOf, send } from "./internal/act.ts"
import { checkServe } from "./internal/endpoint.ts"
import { isToken, newToken, sessionIdOf } from "./internal/identity.ts"
import { refusalOf } from "./internal/refusal.ts"
import type { Serve } from "./Serve.ts"

/** Options of the ACP server. @category models @since 0.1.0 */
export interface Options {
  /**
   * Who uses the editor. A program on standard input has no requests that `authorize` could check: who may start it may
   * use it.
   */
  readonly principal: string
}

const load = () => loadPeer("@agentclientprotocol/sdk", () => import("@agentclientprotocol/sdk").catch(passOn))

/**
 * Serves one editor over a stream of messages. Resolves when the editor has closed it. Rejects with a `ConfigError` for
 * wrong options.
 *
 * @category running
 * @since 0.1.0
 */
export const serveStream = async (serve: Serve, stream: Stream, options: Options): Promise<void> => {
  checkServe("Acp", serve)
  const isName = (principal: unknown) => typeof principal === "string" && principal !== ""
  const expected = "the name of who uses the editor"
  Result.getOrThrow(checkOptions("Acp", ["principal", Object(options).principal ?? null, isName, expected]))
  const app = await agentOf(serve, options, () => connection.signal.reason)
  const connection = app.connect(stream)
  await connection.closed
}

/**
 * Serves the editor that has started this process, over standard input and output. Nothing else may be written to
 * standard output. Resolves when the editor has closed it.
 *
 * @category running
 * @since 0.1.0
 */
export const serveStdio = async (serve: Serve, options: Options): Promise<void> => {
  const [{ ndJsonStream }, { Readable, Writable }, { default: { stdin, stdout } }] = await Promise.all([
    load(),
    import("node:stream"),
    import("node:process")
  ])
  // The types of `node:stream/web` and those of `fetch` are written separately for the same streams.
  await serveStream(serve, ndJsonStream(Writable.toWeb(stdout), Readable.toWeb(stdin) as never), options)
}

const modes = [
  { id: "ask", name: "Ask", description: "Asks for permission where the agent wants one" },
  { id: "allow", name: "Allow all", description: "Gives every permission in this session" }
]

/** What the process knows about its editor. */
interface Editor {
  readonly serve: Serve
  readonly principal: string
  /** The sessions in the mode `allow`. */
  readonly allowed: Set<string>
  /** What ends the prompts of a session, which may be several. */
  readonly running: Map<string, Set<AbortController>>
}

const agentOf = async (serve: Serve, { principal }: Options, whyClosed: () => unknown): Promise<AgentApp> => {
  const { agent, PROTOCOL_VERSION, RequestError } = await load()
  const editor: Editor = { serve, principal, allowed: new Set(), running: new Map() }
  const stateOf = (id: string) => ({
    availableModes: modes,
    currentModeId: editor.allowed.has(id) ? "allow" : "ask"
  })
  const sessionOf = async (id: string): Promise<string> => {
    if (!isToken(id)) throw RequestError.resourceNotFound(id)
    return await sessionIdOf(principal, id)
  }
  /** The tools of the agent are those that its program gave it. An editor would think that its servers are used. */
  const refuseServers = (servers: ReadonlyArray<{ readonly name: string }>): void => {
    if (servers.length === 0) return
    const names = servers.map(({ name }) => name).join(", ")
    const message = `this agent does not start MCP servers of the editor (${names}): give them to the agent's program`
    throw RequestError.invalidParams(undefined, message)
  }
  return agent({ name: serve.model })
    .onRequest("initialize", () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: serve.model, version: "0.1.0" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        mcpCapabilities: { http: false, sse: false }
      }
    }))
    .onRequest("session/new", async ({ params: { mcpServers } }) => {
      refuseServers(mcpServers)
      const sessionId = newToken()
      return { sessionId, modes: stateOf(sessionId) }
    })
    .onRequest("session/load", async ({ client, params: { mcpServers, sessionId: id } }) => {
      refuseServers(mcpServers)
      const conversation = await serve.host.conversation(await sessionOf(id))
      if (conversation === undefined) throw RequestError.resourceNotFound(id)
      for (const update of replay(conversation.messages)) {
        await client.notify("session/update", { sessionId: id, update })
      }
      return { modes: stateOf(id) }
    })
    .onRequest("session/set_mode", ({ params: { modeId, sessionId } }) => {
      if (modes.every(({ id }) => id !== modeId)) {
        throw RequestError.invalidParams(undefined, `there is no mode ${modeId}`)
      }
      if (modeId === "allow") editor.allowed.add(sessionId)
      else editor.allowed.delete(sessionId)
      return {}
    })
    .onRequest("session/prompt", async ({ client, params: { prompt, sessionId: id } }) => {
      const abort = new AbortController()
      // Before anything else, because an editor may cancel at once.
      const open = editor.running.get(id) ?? new Set()
      editor.running.set(id, open.add(abort))
      try {
        const session = { id, sessionId: await sessionOf(id), client, signal: abort.signal }
        return await runPrompt(editor, session, promptOf(prompt)).catch((error: unknown) => {
          // An editor may leave while it is written to. The server has not failed then.
          if (error === whyClosed()) throw error
          throw RequestError.internalError(undefined, refusalOf(serve, error).message)
        })
      } finally {
        open.delete(abort)
        if (open.size === 0) editor.running.delete(id)
      }
    })
    .onNotification("session/cancel", ({ params: { sessionId } }) => {
      for (const abort of editor.running.get(sessionId) ?? []) abort.abort()
    })
}

const runPrompt = async (
  { allowed, principal, serve }: Editor,
  session: Omit<EditorSession, "principal" | "mode">,
  { files, text }: Prompt
) => {
  const { id, sessionId, signal } = session
  const conversation = await serve.host.conversation(sessionId)
  // A new message takes the place of open questions.
  if (pendingOf(conversation).length > 0 && conversation?.key !== undefined) {
    await serve.host.cancel(sessionId, conversation.key)
  }
  const part = await send(serve, sessionId, principal, { message: text, attachments: files })
  const mode = () => allowed.has(id) ? "allow" as const : "ask" as const
  const stopReason = await runTurn(serve, { ...session, principal, mode }, part)
  if (signal.aborted) await serve.host.cancel(sessionId, part.key)
  return { stopReason }
}
