/** Results of tools as scripts of Claude Code read them, and what a changed one means for the model. */
import type { Json, JsonObject } from "@belay/core/Json"
import { assert, describe, it } from "@effect/vitest"
import { calls } from "../../../../../test/support/agent.ts"
import { said, start } from "../../support/publicFiles.ts"

/**
 * What a script reads about a result, and what the model reads when the script answers with `change` (a jq filter over
 * it).
 */
const judge = async (tool: string, args: JsonObject, output: Json, change?: string) => {
  const told = "cat > told.json"
  const line = change === undefined
    ? told
    : `tee told.json | jq -c '{hookSpecificOutput: {hookEventName: "PostToolUse", updatedToolOutput: (.tool_response | ${change})}}'`
  const settings = { hooks: { PostToolUse: [{ hooks: [{ type: "command", command: line }] }] } }
  const { agent, heard, read } = start(
    "claude",
    { "README": "", "~/.claude/settings.json": settings },
    [calls([tool, args])],
    { answers: { [tool]: output } }
  )
  const result = await agent.run("go")
  assert.deepEqual(heard.warnings, [])
  return { shown: JSON.parse(read("told.json")).tool_response as JsonObject, read: said(result.messages)[0] }
}

const masked = ".. |= (if type == \"string\" then gsub(\"secret\"; \"***\") else . end)"

describe("a tool's result", () => {
  it("of a file that was read is the file", async () => {
    const { read, shown } = await judge("read_file", { path: "a.ts", offset: 5 }, "one secret\ntwo", masked)
    const { file, type } = shown as { readonly file: JsonObject; readonly type: string }
    assert.match(file["filePath"] as string, /\/a\.ts$/)
    assert.deepInclude(file, { content: "one secret\ntwo", numLines: 2, startLine: 5, totalLines: 6 })
    assert.deepEqual([type, read], ["text", "one ***\ntwo"])
  })

  it("of a line of shell has its output, also where the tool has names of its own", async () => {
    const plain = await judge("bash", { command: "ls" }, "a secret", masked)
    assert.deepEqual(plain.shown, { stdout: "a secret", stderr: "", interrupted: false, isImage: false })
    assert.strictEqual(plain.read, "a ***")
    const own = await judge("bash", { command: "ls" }, { output: "a secret", exit_code: 1 }, masked)
    assert.deepInclude(own.shown, { stdout: "a secret", output: "a secret", exit_code: 1 })
    assert.deepEqual(JSON.parse(own.read!), { output: "a ***", exit_code: 1 })
    const other = await judge("bash", { command: "ls" }, { lines: ["a"] })
    assert.deepEqual(other.shown, { lines: ["a"] })
  })

  it("of a file that was written or edited says what was, and keeps the tool's own words for the model", async () => {
    const written = await judge("write_file", { path: "a.ts", content: "x" }, "saved secret", masked)
    assert.deepInclude(written.shown, { content: "x", success: true })
    assert.match(written.shown["filePath"] as string, /\/a\.ts$/)
    assert.strictEqual(written.read, "saved ***")
    const edited = await judge("edit", { path: "a.ts", old_string: "x", new_string: "y", replace_all: true }, "done")
    assert.deepInclude(edited.shown, { oldString: "x", newString: "y", replaceAll: true, success: true })
  })

  it("takes a text for what it is, and leaves what it does not know", async () => {
    assert.strictEqual((await judge("read_file", { path: "a.ts" }, "secret", "\"gone\"")).read, "gone")
    assert.deepEqual((await judge("read_file", { path: "a.ts" }, { pages: 2 })).shown, { pages: 2 })
    assert.strictEqual((await judge("mcp__tracker__delete", {}, "deleted")).shown as unknown, "deleted")
  })
})
