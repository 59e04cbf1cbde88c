/** The reference servers of the protocol: everything that they offer to a client. `setup.mjs --peers` installs them. */
import { createAgent } from "@belay/core/createAgent"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as McpServers from "@belay/providers/McpServers"
import * as McpTools from "@belay/providers/McpTools"
import * as Scripted from "@belay/testing/Scripted"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "belay-reference-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const reference = (name: string, args: ReadonlyArray<string> = [], env: { readonly [name: string]: string } = {}) => {
  const path = `../../../../test/peers/node_modules/@modelcontextprotocol/server-${name}/dist/index.js`
  const file = fileURLToPath(new URL(path, import.meta.url))
  return { command: process.execPath, args: [file, ...args], env }
}

const run = async (
  tools: ReadonlyArray<McpTools.McpTool>,
  server: string,
  calls: ReadonlyArray<readonly [name: string, args: Json]>
): Promise<{ readonly results: ReadonlyArray<string>; readonly progress: ReadonlyArray<Json> }> => {
  const asks = calls.map(([name, args]) => Scripted.toolCalls({ name: `mcp__${server}__${name}`, args }))
  await using agent = createAgent({ provider: Scripted.make([...asks, "done", "done", "done"]), tools, log: false })
  const stream = agent.stream("go")
  const progress: Array<Json> = []
  for await (const event of stream) if (event.type === "tool-progress") progress.push(event.value)
  const { messages } = await stream.result
  const results = messages.flatMap((message) =>
    message.role !== "tool"
      ? []
      : [typeof message.content === "string" ? text(message) : JSON.stringify(message.content)]
  )
  return { results, progress }
}

describe("the reference servers", () => {
  it("everything: questions, model calls, progress, folders, structured content and links", async () => {
    await using mcp = McpServers.make({ every: reference("everything", ["stdio"]) }, {
      onElicit: ({ mode }) => mode === "form" ? { action: "accept", content: { name: "Ada" } } : { action: "decline" },
      sampling: true,
      roots: [folder]
    })
    const tools = await McpTools.fromServers(mcp, { server: "every", resources: true })
    const { progress, results: [elicited, long, weather, links, roots, resource] } = await run(tools, "every", [
      ["trigger-elicitation-request", {}],
      ["trigger-long-running-operation", { duration: 1, steps: 2 }],
      ["get-structured-content", { location: "Chicago" }],
      ["get-resource-links", { count: 2 }],
      ["get-roots-list", {}],
      ["read_resource", { uri: "demo://resource/dynamic/text/1" }]
    ])
    assert.match(elicited!, /Name: Ada/)
    assert.match(long!, /completed/)
    assert.isAbove(progress.length, 0)
    assert.match(weather!, /"temperature":/)
    assert.match(links!, /demo:\/\/resource/)
    assert.include(roots!, folder)
    assert.match(resource!, /^Resource 1/)
    const sampled = await run(tools, "every", [["trigger-sampling-request", { prompt: "hi", maxTokens: 20 }]])
    assert.match(sampled.results[0]!, /"text": "done"/)
  })

  it("memory: keeps its data when its process ends, and the next call starts it again", async () => {
    const server = reference("memory", [], { MEMORY_FILE_PATH: join(folder, "memory.json") })
    await using mcp = McpServers.make({ memory: server })
    const tools = await McpTools.fromServers(mcp, { server: "memory" })
    const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }]
    await run(tools, "memory", [["create_entities", { entities }]])
    await using again = McpServers.make({ memory: server })
    const later = await McpTools.fromServers(again, { server: "memory" })
    assert.deepStrictEqual(McpTools.drift(McpTools.fingerprint(tools), McpTools.fingerprint(later)), {
      added: [],
      removed: [],
      changed: []
    })
    assert.match((await run(later, "memory", [["read_graph", {}]])).results[0]!, /writes programs/)
  })
})
