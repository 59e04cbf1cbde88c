/** `ctx.mcp`: calls the MCP servers of the agent. */
import * as Effect from "effect/Effect"
import { PortFailed } from "../../../data/AgentError.ts"
import type { Mcp } from "../../../hook/HookContext.ts"
import type { McpAccessor } from "../../../port/McpAccessor.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { withPortError } from "./portError.ts"
import { awaitable } from "./runPromise.ts"

export const mcpFor = (turn: GuardTurn, hook: string): Mcp => {
  const { agent: { mcp } } = turn
  const use = <A>(act: (accessor: McpAccessor) => Effect.Effect<A, unknown>) => awaitable(turn, ask(act))
  const ask = <A>(act: (accessor: McpAccessor) => Effect.Effect<A, unknown>): Effect.Effect<A, PortFailed> => {
    if (mcp !== undefined) return withPortError("mcp", `mcp for ${hook}`, () => act(mcp))
    const message = `ctx.mcp of ${hook}: the agent has no MCP servers; give it some: mcp: McpServers.make({ ... })`
    return new PortFailed({ port: "mcp", message })
  }
  return {
    callTool: (server, tool, args) => use((accessor) => accessor.callTool(server, tool, args)),
    listTools: (server) => use((accessor) => accessor.listTools(server))
  }
}
