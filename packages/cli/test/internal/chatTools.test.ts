/** The tools of the plain agent of `belay chat`, and what its hooks stop. */
import { createAgent } from "@belay/core/createAgent"
import * as Scripted from "@belay/testing/Scripted"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { toolsOf } from "../../src/internal/chat/tools.ts"

const cwd = mkdtempSync(join(tmpdir(), "belay-chat-tools-"))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))
writeFileSync(join(cwd, "notes.txt"), "remember the milk")

/** How a call of a tool ends: with a question, or with a result. */
const endOf = async (choice: "read" | "all", name: string, args: object): Promise<string> => {
  const provider = Scripted.make([Scripted.toolCalls({ name, args: args as never }), "end"])
  await using agent = createAgent({ provider, cwd, log: false, ...toolsOf(choice) })
  const { messages, status } = await agent.run("go")
  const result = messages.find(({ role }) => role === "tool")?.content
  return status === "suspended" ? "asks" : JSON.stringify(result)
}

const names = (choice: "read" | "all" | undefined) => {
  const { hooks = [], tools = [] } = toolsOf(choice)
  return { hooks: hooks.map(({ name }) => name), tools: tools.map(({ name }) => name).toSorted() }
}

describe("the plain agent of belay chat", () => {
  it("has no tools without a choice, tools that read, or all, with guards", () => {
    assert.deepStrictEqual(names(undefined), { hooks: [], tools: [] })
    const guards = ["prompt-injection", "protected-paths"]
    assert.deepStrictEqual(names("read"), { hooks: guards, tools: ["Glob", "Grep", "Read"] })
    assert.deepStrictEqual(names("all"), {
      hooks: [...guards, "human-approval"],
      tools: ["Bash", "Edit", "Glob", "Grep", "Read", "WebFetch", "Write"]
    })
  })

  it("asks before it writes, runs a command or fetches a page, and not before it reads", async () => {
    const file = join(cwd, "notes.txt")
    assert.include(await endOf("all", "Read", { file_path: file }), "remember the milk")
    for (
      const [name, args] of [
        ["Write", { file_path: join(cwd, "new.txt"), content: "x" }],
        ["Edit", { file_path: file, old_string: "milk", new_string: "bread" }],
        ["Bash", { command: "true" }],
        ["WebFetch", { url: "https://example.com/" }]
      ] as const
    ) assert.strictEqual(await endOf("all", name, args), "asks", name)
  })

  it("reads no protected file", async () => {
    writeFileSync(join(cwd, ".env"), "KEY=1")
    for (const choice of ["read", "all"] as const) {
      const end = await endOf(choice, "Read", { file_path: join(cwd, ".env") })
      assert.notInclude(end, "KEY=1")
      assert.match(end, /\.env/)
    }
  })
})
