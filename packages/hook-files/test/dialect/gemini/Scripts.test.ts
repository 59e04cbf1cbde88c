/** Scripts for Gemini CLI as people write them, unmodified, in an agent that runs. */
import { text } from "@belay/core/Message"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { calls } from "../../../../../test/support/agent.ts"
import { start } from "./scripts.ts"

const script = (name: string, more: object = {}) => ({
  type: "command",
  command: `$GEMINI_PROJECT_DIR/.gemini/hooks/${name}`,
  timeout: 30_000,
  ...more
})

const said = (messages: ReadonlyArray<Parameters<typeof text>[0]>) =>
  messages.filter(({ role }) => role === "tool").map(text)

describe("scripts for Gemini CLI", () => {
  it("log, block and rewrite calls of tools, also in a folder with blanks", async () => {
    const { agent, cwd, ran } = start({
      BeforeTool: [
        { matcher: ".*", hooks: [script("note-tools.sh", { name: "log" })] },
        {
          matcher: "write_file|replace",
          hooks: [{ ...script("credentials.sh"), command: "\"$GEMINI_PROJECT_DIR\"/.gemini/hooks/credentials.sh" }]
        },
        {
          matcher: "run_shell_command",
          hooks: [{ ...script("rewrite.py"), command: "python3 '$GEMINI_PROJECT_DIR/.gemini/hooks/rewrite.py'" }]
        }
      ]
    }, [
      calls(["bash", { command: "npm install" }], ["bash", { command: "rm -rf x" }]),
      calls(["write_file", { path: "a.env", content: "api_key=1" }], ["write_file", {
        path: "a.md",
        content: "hello"
      }]),
      { text: "done" }
    ])
    await using _ = agent
    const users: Array<string> = []
    agent.on((event) => void (event.type === "notice" && users.push(event.message)))
    const { messages, status } = await agent.run("go")
    assert.strictEqual(status, "completed")
    assert.deepEqual(ran, ["npm ci", "write a.md"])
    assert.include(said(messages)[1]!, "use the trash instead")
    assert.include(said(messages)[2]!, "this file would hold a credential")
    assert.include(users, "a credential was kept out of a file")
    const log = readFileSync(join(cwd, ".gemini/tools.txt"), "utf8").trim().split("\n")
    assert.sameMembers(log.map((line) => line.split(" ")[0]), [
      "run_shell_command",
      "run_shell_command",
      "write_file",
      "write_file"
    ])
  })

  it("run another tool in place of a result, with its own hooks", async () => {
    const { agent, ran } = start({ AfterTool: [{ hooks: [script("route.js")] }] }, [
      calls(["read_file", { path: "/srv/a.txt" }]),
      {
        text: "done"
      }
    ])
    await using _ = agent
    const users: Array<string> = []
    agent.on((event) => void (event.type === "notice" && users.push(event.message)))
    const { messages } = await agent.run("go")
    assert.deepEqual(ran, ["read /srv/a.txt", "cat /srv/a.txt"])
    assert.deepEqual(said(messages), ["done\n\nfrom the cache"])
    assert.deepEqual(users, ["run_shell_command for read_file"])
  })

  it("stop tools that ask for tools without an end", async () => {
    const again =
      "echo '{\"hookSpecificOutput\":{\"tailToolCallRequest\":{\"name\":\"bash\",\"args\":{\"command\":\"again\"}}}}'"
    const { agent, ran } = start({ AfterTool: [{ hooks: [{ type: "command", command: again }] }] }, [
      calls(["bash", { command: "first" }])
    ])
    await using _ = agent
    await agent.run("go")
    assert.deepEqual(ran, ["first", ...Array.from({ length: 5 }, () => "again")])
  })

  it("answer for the model, choose its tools, and hide what it says", async () => {
    const hooks = [{ hooks: [script("model.js")] }]
    const { agent, requests } = start({ BeforeModel: hooks, BeforeToolSelection: hooks, AfterModel: hooks }, [{
      text: "the key is sk-123"
    }])
    await using _ = agent
    assert.strictEqual((await agent.run("ping")).text, "pong")
    assert.lengthOf(requests, 0)
    assert.strictEqual((await agent.run("and now?")).text, "the key is [hidden]")
    assert.deepEqual(requests[0]!.tools.map(({ name }) => name), ["write_file", "read_file"])
    assert.strictEqual(requests[0]!.parameters.toolChoice, "required")
  })

  it("reject an answer until it is good", async () => {
    const { agent, cwd, requests } = start({ AfterAgent: [{ hooks: [script("validate.py")] }] }, [{ text: "done" }, {
      text: "Summary: done"
    }])
    await using _ = agent
    const { messages, text: answer } = await agent.run("work")
    assert.strictEqual(answer, "Summary: done")
    assert.include(requests[1]!.messages.map(text), "Add a Summary.")
    assert.include(messages.map(text), "work")
    const log = readFileSync(join(cwd, "answers.log"), "utf8").trim().split("\n").map((line) => JSON.parse(line))
    assert.deepEqual(log, [["work", "done", false], ["work", "Summary: done", true]])
  })

  it("clear what the model remembers", async () => {
    const { agent, requests } = start({ AfterAgent: [{ hooks: [script("validate.py")] }] }, [
      calls(["bash", { command: "ls" }]),
      { text: "done" },
      { text: "Summary: done" },
      { text: "Summary: 2" }
    ])
    await using _ = agent
    const session = await agent.session()
    assert.strictEqual((await session.run("CLEAR")).text, "Summary: done")
    assert.deepEqual(requests[2]!.messages.map(text), ["Add a Summary."])
    await session.run("and?")
    assert.deepEqual(requests[3]!.messages.map(text), ["Add a Summary.", "Summary: done", "and?"])
  })

  it(
    "add context when a session begins and when the user speaks, and see its end",
    async () => {
      const log = (word: string) => ({ type: "command", command: `cat > "$GEMINI_CWD/${word}.json"` })
      const { agent, cwd, requests } = start({
        SessionStart: [{
          matcher: "startup",
          hooks: [{ type: "command", command: "echo '{\"hookSpecificOutput\":{\"additionalContext\":\"Use tabs.\"}}'" }]
        }],
        BeforeAgent: [{
          hooks: [{
            type: "command",
            command:
              "printf '\"{\\\\\"hookSpecificOutput\\\\\":{\\\\\"additionalContext\\\\\":\\\\\"Branch: topic\\\\\"}}\"'"
          }]
        }],
        SessionEnd: [{ matcher: "exit", hooks: [log("end")] }]
      }, [{ text: "hello" }])
      await agent.run("hello")
      await agent[Symbol.asyncDispose]()
      const texts = requests[0]!.messages.map(text)
      assert.deepEqual(texts, ["Use tabs.", "hello", "Branch: topic"])
      assert.strictEqual(JSON.parse(readFileSync(join(cwd, "end.json"), "utf8")).reason, "exit")
    }
  )
})
