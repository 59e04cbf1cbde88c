/** The hints of an MCP server are claims: they may tighten, and loosen only where the user trusts them. */
import * as McpTools from "@belay/providers/McpTools"
import { assert, describe, it } from "vitest"

const tool = (name: string, more: object) => ({ name, inputSchema: { type: "object" }, ...more })

/** A client of a server that lists these tools. */
const fake = (tools: ReadonlyArray<object>): McpTools.Client => ({
  listTools: async () => ({ tools }) as never,
  callTool: async () => ({ content: [] })
})

describe("tools of an MCP server", () => {
  it.each([undefined, false, "list_*", ["list_*", "get_*"]])(
    "loosen nothing by hints of a server that is not trusted: %s",
    async (trustHints) => {
      const claims = { annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: false } }
      const admits = { annotations: { destructiveHint: true, readOnlyHint: false } }
      const [sly, honest] = await McpTools.fromClient(fake([tool("wipe", claims), tool("drop", admits)]), {
        server: "s",
        ...(trustHints === undefined ? {} : { trustHints })
      })
      for (const hint of ["readOnly", "idempotent", "destructive"]) assert.notProperty(sly, hint)
      assert.deepInclude(honest, { destructive: true })
      assert.notProperty(honest, "readOnly")
    }
  )

  it("loosen what the user trusts by name", async () => {
    const claims = { annotations: { readOnlyHint: true } }
    const made = await McpTools.fromClient(fake([tool("list_files", claims), tool("wipe", claims)]), {
      server: "s",
      trustHints: "list_*"
    })
    assert.deepStrictEqual(made.map(({ readOnly }) => readOnly), [true, undefined])
  })
})
