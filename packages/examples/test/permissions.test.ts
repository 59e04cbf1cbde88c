import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const run = atEndpoint()

describe("the examples of permissions", () => {
  it("permission-rules: tests run, a hidden push does not, and network access asks", async () => {
    assert.deepStrictEqual(await run("permission/permission-rules.ts"), [
      "- run_command: ran npm test -- --watch=false",
      "- run_command: run_command is denied by the rule Bash(git push *) of the agent",
      "asks: run_command needs approval by the rule network of the project"
    ])
  })

  it("protected-paths: a tool writes in one folder only", async () => {
    assert.deepStrictEqual(await run("permission/protected-paths.ts"), [
      "- write_file: wrote output/report.md",
      "- write_file: write_file might change files outside of output",
      "- write_file: write_file would change .env*, which is protected"
    ])
  })

  it("destructive-commands: hidden destructive commands ask", async () => {
    assert.deepStrictEqual(await run("permission/destructive-commands.ts"), [
      "- run_command: ran ls -la build",
      "asked: run_command is stopped: `rm -rf cache` deletes whole folders",
      "- run_command: nobody agreed"
    ])
  })
})

describe("the examples of context", () => {
  it("sliding-window: the model receives the beginning and the end", async () => {
    assert.deepStrictEqual(await run("context/sliding-window.ts"), ["Your name is Ada.", "12 messages, sent at most 4"])
  })

  it("context-editing: old results are cleared", async () => {
    const [, sent, whole] = /^sent at most (\d+) of (\d+) thousand/.exec((await run("context/context-editing.ts"))[0]!)!
    assert.isAtMost(Number(sent), 8)
    assert.isAtLeast(Number(whole), 18)
  })

  it("summarizer: a summary keeps the anchors", async () => {
    const lines = await run("context/summarizer.ts")
    assert.match(lines[0]!, /^\d+ messages became a summary$/)
    assert.strictEqual(lines.at(-1), "the issue is still known")
  })

  it("context-injector: a tail text stays, an ephemeral text leaves no trace", async () => {
    assert.deepStrictEqual(await run("context/context-injector.ts"), [
      "user branch clock",
      "user branch assistant user clock",
      "Hello | The branch is main. | Hello again"
    ])
  })
})
