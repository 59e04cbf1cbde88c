/** Settings of Gemini CLI as projects have them, loaded from disk, with what Gemini CLI would have made of each answer. */
import { text } from "@belay/core/Message"
import { unrestricted } from "@belay/core/Tool"
import { assert, describe, it } from "@effect/vitest"
import { calls } from "../agent.ts"
import { until } from "./processes.ts"
import { type Files, judge, start, type Step } from "./publicfiles.ts"

const sh = (command: string) => ["bash", { command }] as const
const put = (path: string, content = "x") => ["write_file", { path, content }] as const
const command = (line: string, more: object = {}) => ({ type: "command", command: line, ...more })
const group = (...lines: ReadonlyArray<string | object>) => ({ hooks: lines.map((one) => typeof one === "string" ? command(one) : one) })
const settings = (hooks: object, more: object = {}): Files => ({ ".gemini/settings.json": { theme: "Dark", ...more, hooks } })
const json = (value: object) => `echo '${JSON.stringify(value)}'`
const specific = (event: string, fields: object) => json({ hookSpecificOutput: { hookEventName: event, ...fields } })

const secrets = `#!/usr/bin/env node
const fs = require('fs');
const input = JSON.parse(fs.readFileSync(0, 'utf-8'));
const { content = '', new_string = '' } = input.tool_input;
console.error('scanning ' + input.tool_input.file_path);
if (/(api[_-]?key|password)\\s*[:=]/i.test(content || new_string)) {
  console.log(JSON.stringify({ decision: 'deny', reason: 'a secret in ' + input.tool_input.file_path, systemMessage: 'Secret scanner blocked a write' }));
  process.exit(0);
}
console.log(JSON.stringify({ decision: 'allow' }));
`

const destructive = `#!/usr/bin/env bash
input=$(cat)
cmd=$(jq -r '.tool_input.command // empty' <<< "$input")
case "$cmd" in
  *"rm -rf"*) echo "Refusing: $cmd" >&2; exit 2 ;;
  exit3) echo "odd" >&2; exit 3 ;;
  exit1) echo "only a warning" >&2; exit 1 ;;
  words) echo "looks fine to me" ;;
  stderr) echo '{"decision":"block","reason":"said on stderr"}' >&2 ;;
  double) jq -n '{decision: "deny", reason: "twice encoded"} | tojson' ;;
  logs) echo "checking"; echo '{"decision":"deny","reason":"nobody hears"}' ;;
  broken) echo '{"decision":"deny"' ;;
  old) echo '{"decision":"block"}' ;;
esac
exit 0
`

const rewrite = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
line = data["tool_input"]["command"]
print(json.dumps({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": line + " " + sys.argv[1]}}}))
`

const guards: ReadonlyArray<
  {
    readonly title: string
    readonly files: Files
    readonly steps: ReadonlyArray<Step>
    readonly notices?: ReadonlyArray<string>
    readonly warns?: RegExp
  }
> = [
  {
    title: "in node, for every tool that writes",
    files: {
      ...settings({
        BeforeTool: [{ matcher: "write_file|replace", ...group(command("$GEMINI_PROJECT_DIR/.gemini/hooks/secrets.js", { name: "scan" })) }]
      }),
      ".gemini/hooks/secrets.js": secrets
    },
    steps: [
      [...put("a.env", "API_KEY=1"), /a secret in .*\/a.env/],
      ["edit", { path: "b", old_str: "", new_str: "password: x" }, /a secret in .*\/b/],
      ["replace", { file_path: "c", old_string: "", new_string: "password: x" }, /a secret/],
      ["create", { path: "d", file_text: "fine", content: "api-key: 1" }, /a secret in .*\/d/],
      [...put("a.md", "hello"), "runs"],
      ["read_file", { path: "a.env" }, "runs"]
    ],
    notices: Array.from({ length: 4 }, () => "Secret scanner blocked a write")
  },
  {
    title: "in bash, by their code or by what they write, wherever they write it",
    files: {
      ...settings({ BeforeTool: [{ matcher: "run_shell_command", ...group("bash .gemini/hooks/destructive.sh") }] }),
      ".gemini/hooks/destructive.sh": destructive
    },
    steps: [
      [...sh("rm -rf /"), /Refusing: rm -rf/],
      [...sh("exit3"), /odd/],
      [...sh("exit1"), "runs"],
      [...sh("words"), "runs"],
      [...sh("stderr"), /said on stderr/],
      [...sh("double"), /twice encoded/],
      [...sh("logs"), "runs"],
      [...sh("broken"), "runs"],
      ["run_shell_command", { command: "old" }, /No reason provided/],
      [...sh("ls"), "runs"]
    ],
    notices: [
      "Warning: only a warning",
      "looks fine to me",
      "checking\n{\"decision\":\"deny\",\"reason\":\"nobody hears\"}",
      "{\"decision\":\"deny\""
    ],
    warns: /ended with 1: only a warning/
  },
  {
    title: "one after the other where a group says so, each on what the one before made of it",
    files: {
      ...settings({
        BeforeTool: [
          { matcher: "run_shell_command", sequential: true, ...group("python3 .gemini/hooks/rewrite.py one") },
          { matcher: "run_.*", ...group("python3 .gemini/hooks/rewrite.py two") }
        ]
      }),
      ".gemini/hooks/rewrite.py": rewrite
    },
    steps: [[...sh("echo"), { with: { command: "echo one two" } }]]
  },
  {
    title: "all at once otherwise, and the last to be named counts; what is there twice runs once",
    files: {
      ...settings({
        BeforeTool: [
          group("python3 .gemini/hooks/rewrite.py one", "python3 .gemini/hooks/rewrite.py two"),
          group("python3 .gemini/hooks/rewrite.py one", "mkdir once || exit 2", "mkdir once || exit 2")
        ]
      }),
      ".gemini/hooks/rewrite.py": rewrite
    },
    steps: [[...sh("echo"), { with: { command: "echo two" } }]]
  },
  {
    title: "with all reasons of all that deny",
    files: settings({
      BeforeTool: [group(json({ decision: "deny", reason: "one" }), json({ decision: "allow" }), "echo two >&2; exit 2")]
    }),
    steps: [[...sh("ls"), /one\ntwo/]]
  },
  {
    title: "by an interpreter that is not there, but not when they are too slow",
    files: {
      ...settings({
        BeforeTool: [
          { matcher: "read_file", ...group("./.gemini/hooks/guard.rb") },
          { matcher: "write_file", ...group(command("sleep 3621; exit 2", { timeout: 200 })) }
        ]
      }),
      ".gemini/hooks/guard.rb": "#!/usr/bin/env no-such-ruby-3\n"
    },
    steps: [["read_file", { path: "a" }, /no-such-ruby-3/], [...put("a"), "runs"]],
    warns: /took too long/
  },
  {
    title: "by patterns, which are searched for, also for tools of servers",
    files: settings({
      BeforeTool: [
        { matcher: "mcp_.*_delete", ...group(json({ decision: "deny", reason: "new name" })) },
        { matcher: "mcp__tracker__.*", ...group(json({ decision: "deny", reason: "documented name" })) },
        { matcher: "^read", ...group(json({ decision: "deny", reason: "no reading" })) },
        { matcher: "shell", ...group(json({ decision: "deny", reason: "part of a name" })) },
        { matcher: "*", ...group("cat >> all.jsonl; echo >> all.jsonl") }
      ]
    }),
    steps: [
      ["mcp__tracker__delete", { id: 1 }, /new name\ndocumented name/],
      ["view", { path: "a" }, /no reading/],
      [...sh("ls"), /part of a name/],
      [...put("a"), "runs"]
    ]
  },
  {
    title: "after they ran: hide, replace and add",
    files: settings({
      AfterTool: [
        {
          matcher: "run_shell_command",
          ...group("jq -c 'if .tool_response.llmContent | test(\"secret\") then {decision: \"deny\", reason: \"hidden\"} else {} end'")
        },
        {
          matcher: "read_file",
          ...group(specific("AfterTool", { tool_output: "short" }), specific("AfterTool", { additionalContext: "see b" }))
        },
        { matcher: "write_file", ...group("echo 'lint failed' >&2; exit 2") }
      ]
    }),
    steps: [
      [...sh("env"), { reads: /^hidden$/ }],
      ["read_file", { path: "a" }, { reads: "short\n\nsee b" }],
      [...put("a"), { reads: "lint failed" }]
    ]
  }
]

describe("settings of Gemini CLI", () => {
  it.each(guards)("U-10 guard calls $title", { timeout: 60_000 }, async ({ files, notices = [], steps, warns }) => {
    const { heard } = await judge("gemini", files, steps, { answers: { bash: "a secret" } })
    assert.deepEqual(heard.notices, notices)
    if (warns === undefined) assert.deepEqual(heard.warnings, [])
    else assert.match(heard.warnings.join("\n"), warns)
  })

  it("tell of everything that a script may ask for", { timeout: 60_000 }, async () => {
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

  it("stop everything with continue, whatever the event", { timeout: 60_000 }, async () => {
    const stop = json({ continue: false, stopReason: "enough" })
    for (const event of ["BeforeTool", "AfterTool", "BeforeModel", "AfterModel", "BeforeAgent", "AfterAgent"]) {
      const { agent, requests } = start("gemini", settings({ [event]: [group(stop)] }), [calls(["bash", { command: "ls" }]), {
        text: "done"
      }])
      await using _ = agent
      const outcome = await agent.run("go").then(({ status, text: answer }) => `${status} ${answer}`, (error: Error) => error.message)
      assert.match(outcome, /enough/, event)
      assert.isAtMost(requests.length, event === "AfterAgent" ? 2 : 1, event)
    }
  })

  it("refuse what the user said, or say more, turn by turn", { timeout: 60_000 }, async () => {
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
    assert.match(await session.run("my password is x").then(() => "", (error: Error) => error.message), /no passwords, please/)
    await session.run("and now?")
    assert.deepEqual(requests[0]!.messages.map(text), ["hello", "Branch: topic"])
    assert.notInclude(requests[1]!.messages.map(text).join("\n"), "password")
    assert.deepEqual(heard.warnings, [])
  })

  it("reject an answer, once, with its text as the next prompt", { timeout: 60_000 }, async () => {
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
    assert.deepEqual(read("seen.jsonl").trim().split("\n").map((line) => JSON.parse(line)), [["build it", "done", false], [
      "build it",
      "tested",
      true
    ]])
  })

  it("stand between agent and model", { timeout: 60_000 }, async () => {
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
          group(specific("BeforeToolSelection", { toolConfig: { mode: "ANY", allowedFunctionNames: ["run_shell_command"] } }))
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

  it("hear of the session, of permissions, and of nothing that is switched off", { timeout: 60_000 }, async () => {
    const log = (name: string, more: object = {}) =>
      command(`jq -c '[.hook_event_name, .source // .reason // .notification_type]' >> ${name}.jsonl`, more)
    const { agent, home, read, requests } = start(
      "gemini",
      {
        ...settings({
          SessionStart: [
            { matcher: "startup", hooks: [log("log"), command(specific("SessionStart", { additionalContext: "Use tabs." }))] },
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
    assert.deepEqual(read("log.jsonl").trim().split("\n").map((line) => JSON.parse(line)), [["SessionStart", "startup"], [
      "SessionEnd",
      "exit"
    ]])
    assert.deepEqual(JSON.parse(read("asked.jsonl")), ["Notification", "ToolPermission", "run_shell_command"])
    assert.strictEqual(read("off.txt"), "")
    assert.strictEqual(read("extension.txt"), `${home}/.gemini/extensions/helper`)
  })

  it("hear of a history that is about to be shortened, and cannot keep it", { timeout: 60_000 }, async () => {
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

  it("count as far as they are right", { timeout: 60_000 }, async () => {
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
