import { createAgent } from "@belay/sdk"
import { Scripted, testHook } from "@belay/testing"
import { Toolset } from "@belay/tools"
import assert from "node:assert/strict"
import { existsSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { guards, noForce } from "./guards.ts"

test("commands that cannot be undone are refused", async () => {
  await testHook(noForce)
    .given("preToolCall", { name: "Bash", args: { command: "git push --force" } }).expect("Reject", /undone/)
    .given("preToolCall", { name: "Bash", args: { command: "ls" } }).expectContinue()
})

test("a person is asked before a file is written, and nothing is written until then", async () => {
  const root = mkdtempSync(join(tmpdir(), "guarded-"))
  const calls = Scripted.toolCalls({ name: "Write", args: { file_path: "a.txt", content: "hello" } })
  const agent = createAgent({
    provider: Scripted.make([calls, "done"]),
    cwd: root,
    tools: Toolset.files(),
    hooks: guards
  })
  const result = await agent.run("write a file")
  assert.equal(result.status, "suspended")
  assert.equal(existsSync(join(root, "a.txt")), false)
  if (result.status !== "suspended") return
  const [question] = result.pending
  await agent.resume(result.snapshot, { [question!.callId]: { type: "approve" } })
  assert.equal(existsSync(join(root, "a.txt")), true)
  await agent.close()
})

test("nothing outside of the folder is read", async () => {
  const root = mkdtempSync(join(tmpdir(), "guarded-"))
  const calls = Scripted.toolCalls({ name: "Read", args: { file_path: "../../etc/passwd" } })
  const agent = createAgent({
    provider: Scripted.make([calls, "done"]),
    cwd: root,
    tools: Toolset.files(),
    hooks: guards
  })
  const { messages } = await agent.run("read it")
  const result = messages.find(({ role }) => role === "tool")
  assert.equal(result?.role === "tool" && result.isError, true)
  await agent.close()
})
