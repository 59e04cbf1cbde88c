/**
 * Settings of Gemini CLI as projects have them, loaded from disk, with what Gemini CLI would have made of each answer.
 */
import { text } from "@belay/core/Message"
import { unrestricted } from "@belay/core/Tool"
import { assert, describe, it } from "@effect/vitest"
import { calls } from "../../../../../test/support/agent.ts"
import { until } from "../../support/processes.ts"
import { type Files, judge, start } from "../../support/publicFiles.ts"

const sh = (command: string) => ["bash", { command }] as const
const put = (path: string, content = "x") => ["write_file", { path, content }] as const
const command = (line: string, more: object = {}) => ({ type: "command", command: line, ...more })
const group = (...lines: ReadonlyArray<string | object>) => ({
  hooks: lines.map((one) => typeof one === "string" ? command(one) : one)
})
const settings = (hooks: object, more: object = {}): Files => ({
  ".gemini/settings.json": { theme: "Dark", ...more, hooks }
})
const json = (value: object) => `echo '${JSON.stringify(value)}'`
const specific = (event: string, fields: object) => json({ hookSpecificOutput: { hookEventName: event, ...fields } })

describe("settings of Gemini CLI", () => {
  it("have every field that a script may read", async () => {
    const { cwd, read } = await judge(
      "gemini",
      settings({
        BeforeTool: [group("cat > in.json; env | grep -E '^(GEMINI|CLAUDE)_' | sort > env.txt")]
      }),
      [["mcp__tracker__delete", { id: 1 }, "runs"]]
    )
    const input = JSON.parse(read("in.json"))
    assert.deepInclude(input, { hook_event_name: "BeforeTool", cwd, tool_name: "mcp_tracker_delete" })
    assert.deepEqual(input.tool_input, { id: 1 })
    assert.deepEqual(input.mcp_context, { server_name: "tracker", tool_name: "delete" })
    assert.match(input.timestamp, /^\d{4}-.*Z$/)
    assert.deepEqual(read("env.txt").trim().split("\n").map((line) => line.split("=")[0]), [
      "CLAUDE_PROJECT_DIR",
      "GEMINI_CWD",
      "GEMINI_PLANS_DIR",
      "GEMINI_PROJECT_DIR",
      "GEMINI_SESSION_ID"
    ])
  })

  it("stop everything with continue, whatever the event", async () => {
    const stop = json({ continue: false, stopReason: "enough" })
    for (const event of ["BeforeTool", "AfterTool", "BeforeModel", "AfterModel", "BeforeAgent", "AfterAgent"]) {
      const { agent, requests } = start("gemini", settings({ [event]: [group(stop)] }), [
        calls(["bash", { command: "ls" }]),
        {
          text: "done"
        }
      ])
      await using _ = agent
      const outcome = await agent.run("go").then(
        ({ status, text: answer }) => `${status} ${answer}`,
        (error: Error) => error.message
      )
      assert.match(outcome, /enough/, event)
      assert.isAtMost(requests.length, event === "AfterAgent" ? 2 : 1, event)
    }
  })

  it("refuse what the user said, or say more, turn by turn", async () => {
    const script = `#!/usr/bin/env python3
import json, os, sys
data = json.load(sys.stdin)
if "password" in data["prompt"]:
    sys.stderr.write("no passwords, please")
    sys.exit(2)
context = "Branch: " + open(os.path.join(os.environ["GEMINI_PROJECT_DIR"], "BRANCH")).read().strip()
print(json.dumps({"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": context}}))
`
    const { agent, heard, requests } = start("gemini", {
      ...settings({ BeforeAgent: [group("python3 $GEMINI_PROJECT_DIR/.gemini/hooks/context.py")] }),
      ".gemini/hooks/context.py": script,
      BRANCH: "topic\n"
    }, [{ text: "one" }, { text: "two" }])
    await using _ = agent
    const session = await agent.session()
    await session.run("hello")
    assert.match(
      await session.run("my password is x").then(() => "", (error: Error) => error.message),
      /no passwords, please/
    )
    await session.run("and now?")
    assert.deepEqual(requests[0]!.messages.map(text), ["hello", "Branch: topic"])
    assert.notInclude(requests[1]!.messages.map(text).join("\n"), "password")
    assert.deepEqual(heard.warnings, [])
  })

  it("reject an answer, once, with its text as the next prompt", async () => {
    const script = `#!/usr/bin/env bash
input=$(cat)
jq -c '[.prompt, .prompt_response, .stop_hook_active]' <<< "$input" >> seen.jsonl
if [ "$(jq -r .stop_hook_active <<< "$input")" = false ]; then echo "Write tests, too." >&2; exit 2; fi
`
    const { agent, read, requests } = start("gemini", {
      ...settings({ AfterAgent: [{ matcher: "*", ...group("./review.sh") }] }),
      "review.sh": script
    }, [
      { text: "done" },
      { text: "tested" }
    ])
    await using _ = agent
    assert.strictEqual((await agent.run("build it")).text, "tested")
    assert.strictEqual(text(requests[1]!.messages.at(-1)!), "Write tests, too.")
    assert.deepEqual(read("seen.jsonl").trim().split("\n").map((line) => JSON.parse(line)), [[
      "build it",
      "done",
      false
    ], [
      "build it",
      "tested",
      true
    ]])
  })

  it("stand between agent and model", async () => {
    const model = `import json, sys
data = json.load(sys.stdin)
request = data["llm_request"]
last = request["messages"][-1]["content"]
if "cached" in last:
    out = {"hookSpecificOutput": {"llm_response": {"candidates": [{"content": {"role": "model", "parts": ["from the cache"]}, "finishReason": "STOP"}]}}}
elif "forbidden" in last:
    out = {"decision": "deny", "reason": "not this"}
else:
    out = {"hookSpecificOutput": {"llm_request": {"model": "small", "config": {"temperature": 0}}}}
print(json.dumps(out))
`
    const redact = `const { llm_response } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const [candidate] = llm_response.candidates
const said = candidate.content.parts.join('')
console.log(JSON.stringify(/\\d{3}-\\d{4}/.test(said) ? { hookSpecificOutput: { hookEventName: 'AfterModel', llm_response: { ...llm_response, candidates: [{ ...candidate, content: { role: 'model', parts: [said.replace(/\\d{3}-\\d{4}/g, '###')] } }] } } } : {}))
`
    const { agent, requests } = start("gemini", {
      ...settings({
        BeforeModel: [group("python3 model.py")],
        BeforeToolSelection: [
          group(specific("BeforeToolSelection", { toolConfig: { mode: "AUTO", allowedFunctionNames: ["read_file"] } })),
          group(
            specific("BeforeToolSelection", {
              toolConfig: { mode: "ANY", allowedFunctionNames: ["run_shell_command"] }
            })
          )
        ],
        AfterModel: [group("node redact.cjs")]
      }),
      "model.py": model,
      "redact.cjs": redact
    }, [{ text: "call 555-1234" }])
    await using _ = agent
    assert.strictEqual((await agent.run("cached?")).text, "from the cache")
    assert.lengthOf(requests, 0)
    assert.match(await agent.run("forbidden").then(() => "", (error: Error) => error.message), /not this/)
    assert.strictEqual((await agent.run("whom?")).text, "call ###")
    assert.deepInclude(requests[0], { model: "small" })
    assert.deepInclude(requests[0]!.parameters, { temperature: 0, toolChoice: "required" })
    assert.sameMembers(requests[0]!.tools.map(({ name }) => name), ["bash", "run_shell_command", "read_file", "view"])
  })

  it("see the session and permissions, and do not run when they are switched off", async () => {
    const log = (name: string, more: object = {}) =>
      command(`jq -c '[.hook_event_name, .source // .reason // .notification_type]' >> ${name}.jsonl`, more)
    const { agent, home, read, requests } = start(
      "gemini",
      {
        ...settings({
          SessionStart: [
            {
              matcher: "startup",
              hooks: [log("log"), command(specific("SessionStart", { additionalContext: "Use tabs." }))]
            },
            { matcher: "resume", ...group("exit 2") },
            group(command(json({ continue: false, decision: "deny", systemMessage: "welcome" }))),
            group(command("printf no >> off.txt", { name: "noisy" }))
          ],
          SessionEnd: [{ matcher: "exit", hooks: [log("log")] }, { matcher: "clear", hooks: [log("log")] }],
          Notification: [{
            matcher: "ToolPermission",
            hooks: [command("jq -c '[.hook_event_name, .notification_type, .details.tool_name]' >> asked.jsonl")]
          }]
        }, { hooksConfig: { disabled: ["noisy"] } }),
        "~/.gemini/extensions/helper/hooks/hooks.json": {
          hooks: { SessionStart: [group("bash \"${extensionPath}/hooks/hello.sh\"")] }
        },
        "~/.gemini/extensions/helper/hooks/hello.sh": "printf \"$extensionPath\" > extension.txt\n"
      },
      [calls(["bash", { command: "ls" }])],
      {
        policy: { check: () => ({ type: "ask", reason: "every call", grant: unrestricted }) },
        onAsk: async () => {
          await until(() => read("asked.jsonl") !== "")
          return { type: "approve" }
        }
      }
    )
    await agent.run("go")
    await agent[Symbol.asyncDispose]()
    assert.deepEqual(requests[0]!.messages.map(text), ["Use tabs.", "go"])
    assert.deepEqual(read("log.jsonl").trim().split("\n").map((line) => JSON.parse(line)), [
      ["SessionStart", "startup"],
      [
        "SessionEnd",
        "exit"
      ]
    ])
    assert.deepEqual(JSON.parse(read("asked.jsonl")), ["Notification", "ToolPermission", "run_shell_command"])
    assert.strictEqual(read("off.txt"), "")
    assert.strictEqual(read("extension.txt"), `${home}/.gemini/extensions/helper`)
  })

  it("see a history that is about to be compacted, and cannot prevent it", async () => {
    const { agent, heard, read } = start(
      "gemini",
      settings({
        PreCompress: [
          {
            matcher: "manual",
            ...group(
              "jq -c '[.hook_event_name, .trigger]' >> log.jsonl",
              json({ decision: "deny", continue: false, systemMessage: "shortening" })
            )
          },
          { matcher: "auto", ...group("exit 1") }
        ]
      }),
      [{ text: "one" }, { text: "two" }, { text: "a summary" }],
      { window: { tokens: 100_000, keepRecent: 1 } }
    )
    await using _ = agent
    const session = await agent.session()
    await session.run("go ".repeat(200))
    await session.run("and? ".repeat(200))
    assert.isTrue(await session.compact())
    assert.deepEqual(JSON.parse(read("log.jsonl")), ["PreCompress", "manual"])
    assert.deepEqual(heard.notices, ["shortening"])
  })

  it("count as far as they are right", async () => {
    await judge(
      "gemini",
      {
        ".gemini/settings.json":
          "{\n  // guards\n  \"hooks\": { \"BeforeTools\": [], \"BeforeTool\": [{ \"matcher\": \"write_(\", \"hooks\": [{ \"type\": \"command\", \"command\": \"exit 2\" }] }, { \"hooks\": [{ \"type\": \"prompt\", \"prompt\": \"?\" }, { \"type\": \"command\", \"command\": \"exit 2\" }] }] }\n}\n"
      },
      [[...sh("ls"), /No reason provided/], [...put("a"), /No reason provided/]],
      {
        warnings: [/BeforeTools.*did you mean BeforeTool/, /write_\(.*literally/, /type.*expected "command"/]
      }
    )
  })
})
