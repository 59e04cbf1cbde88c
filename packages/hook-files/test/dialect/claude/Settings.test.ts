/** Files of Claude Code in agents that run: every event on its occasion, and what belongs to no event alone. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as ProviderError from "@belay/core/ProviderError"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Condition from "@belay/hooks/Condition"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, type Line, recording, run, scripted } from "../../../../../test/support/agent.ts"
import { folder, until, write } from "../../support/processes.ts"

type Told = { readonly [key: string]: unknown }

/** A user with settings, and a project. */
const place = (hooks: object, more: object = {}) => {
  const root = folder()
  const [cwd, home] = [join(root, "p"), join(root, "home")]
  write(join(cwd, "README"), "")
  write(join(home, ".claude/settings.json"), JSON.stringify({ hooks, ...more }))
  const log = join(root, "log.jsonl")
  const told = (): ReadonlyArray<Told> =>
    existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []
  const source = (options: HookFiles.Options = {}) =>
    HookFiles.source({ home, managed: join(root, "managed"), sources: ["claude"], ...options })
  return { root, cwd, home, log, told, source }
}

const command = (line: string, more: object = {}) => ({ hooks: [{ type: "command", command: line, ...more }] })

const note = command("cat >> ../log.jsonl")

const common = ["session_id", "transcript_path", "cwd", "permission_mode", "hook_event_name", "prompt_id"]
/** The common fields that an event does not have. */
const missing: { readonly [event: string]: ReadonlyArray<string> } = {
  Setup: ["prompt_id"],
  SessionStart: ["permission_mode", "prompt_id"],
  SessionEnd: ["permission_mode"],
  SubagentStart: ["permission_mode"]
}

/** What each event tells beside the common fields. */
const fields: { readonly [event: string]: ReadonlyArray<string> } = {
  SessionStart: ["source"],
  SessionEnd: ["reason"],
  UserPromptSubmit: ["prompt"],
  PreToolUse: ["tool_name", "tool_input", "tool_use_id"],
  PermissionRequest: ["tool_name", "tool_input"],
  PermissionDenied: ["tool_name", "tool_input", "tool_use_id", "reason"],
  PostToolUse: ["tool_name", "tool_input", "tool_use_id", "tool_response", "duration_ms"],
  PostToolUseFailure: ["tool_name", "tool_input", "tool_use_id", "error", "is_interrupt", "duration_ms"],
  PostToolBatch: ["tool_calls"],
  Stop: ["stop_hook_active", "last_assistant_message", "background_tasks", "session_crons"],
  StopFailure: ["error", "error_details"],
  SubagentStart: ["agent_id", "agent_type"],
  SubagentStop: [
    "agent_id",
    "agent_type",
    "stop_hook_active",
    "agent_transcript_path",
    "last_assistant_message",
    "background_tasks",
    "session_crons"
  ],
  PreCompact: ["trigger", "custom_instructions"],
  PostCompact: ["trigger", "compact_summary"]
}

/** The signals of a host. */
const signals: { readonly [event: string]: { readonly [key: string]: string | boolean } } = {
  Setup: { trigger: "init" },
  UserPromptExpansion: {
    expansion_type: "command",
    command_name: "review",
    command_args: "",
    command_source: "user",
    prompt: "/review"
  },
  TeammateIdle: { teammate_name: "ada", team_name: "t" },
  TaskCreated: { task_id: "1", task_subject: "x" },
  TaskCompleted: { task_id: "1", task_subject: "x" },
  Notification: { message: "m", notification_type: "idle_prompt" },
  MessageDisplay: { turn_id: "1", message_id: "2", delta: "d", final: false },
  ConfigChange: { source: "user_settings", file_path: "/x" },
  InstructionsLoaded: { file_path: "/x", memory_type: "Project", load_reason: "session_start" },
  CwdChanged: { old_cwd: "/a", new_cwd: "/b" },
  DirectoryAdded: { directory: "/b", source: "user" },
  FileChanged: { file_path: "/p/.env", event: "change" },
  WorktreeCreate: { name: "w" },
  WorktreeRemove: { worktree_path: "/w" },
  Elicitation: { mcp_server_name: "s", message: "m" },
  ElicitationResult: { mcp_server_name: "s", message: "m", action: "accept" },
  PreModelSwitch: { from_model: "a", to_model: "b" },
  PostModelSwitch: { from_model: "a", to_model: "b" }
}

describe("events of Claude Code", () => {
  // rows: C-03, C-04
  it("come once on their occasions, in their order, with what they tell", async () => {
    const { cwd, source, told } = place(
      Object.fromEntries([...Object.keys(fields), ...Object.keys(signals)].map((event) => [event, [note]]))
    )
    const fail = defineTool({
      name: "fail",
      description: "Fails",
      input: Schema.Struct({}),
      execute: () => Promise.reject(new Error("out of order"))
    })
    const helper = createAgent({ name: "helper", provider: scripted([{ text: "helped" }]).provider })
    const lines: ReadonlyArray<Line> = [
      calls(["bash", { command: "ls" }]),
      calls(["fail", {}]),
      calls(["read_file", { path: "x" }]),
      calls(["write_file", { path: "x", content: "y" }]),
      calls(["ask_helper", { message: "help" }]),
      { text: "done" }
    ]
    const { provider } = scripted(lines)
    const broken = {
      name: "two",
      complete: () => Effect.fail(new ProviderError.Auth({ provider: "two", message: "no such key" }))
    }
    let isBroken = false
    await using agent = createAgent({
      provider: { name: "one", complete: (request) => isBroken ? broken.complete() : provider.complete(request) },
      tools: [...recording().tools, fail, agentTool({ name: "ask_helper", description: "Helps", agent: helper })],
      hookSources: [source()],
      policy: {
        check: ({ name }) =>
          name === "write_file"
            ? { type: "deny", reason: "read only" }
            : name === "read_file"
            ? { type: "ask", reason: "may it?", grant: { sandbox: "none" } }
            : { type: "allow", grant: { sandbox: "none" } }
      },
      onAsk: () => ({ type: "approve" }),
      cwd
    })
    const session = await agent.session()
    await session.signal({ name: "Setup", payload: signals["Setup"]!, blockable: false })
    await session.run("go")
    for (const [name, payload] of Object.entries(signals)) {
      if (name !== "Setup") await session.signal({ name, payload, blockable: true })
    }
    isBroken = true
    await session.run("again").then(() => assert.fail("expected an error"), () => undefined)
    isBroken = false
    assert.isTrue(await session.compact())
    await session.close()

    // Nobody waits for it: it may come a little later than what it is about.
    const isPrompt = ({ notification_type: type }: Told) => type === "permission_prompt"
    await until(() => told().some(isPrompt))
    assert.lengthOf(told().filter(isPrompt), 1)
    const names = told().filter((one) => !isPrompt(one)).map(({ hook_event_name }) => hook_event_name)
    assert.deepEqual(names, [
      "Setup",
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "PostToolBatch",
      "PreToolUse",
      "PostToolUseFailure",
      "PostToolBatch",
      "PreToolUse",
      "PermissionRequest",
      "PostToolUse",
      "PostToolBatch",
      "PermissionDenied",
      "PostToolBatch",
      "PreToolUse",
      "SubagentStart",
      "SubagentStop",
      "PostToolUse",
      "PostToolBatch",
      "Stop",
      ...Object.keys(signals).filter((name) => name !== "Setup"),
      "UserPromptSubmit",
      "StopFailure",
      "PreCompact",
      "PostCompact",
      "SessionStart",
      "SessionEnd"
    ])
    for (const { agent_id: _id, agent_type: _type, ...payload } of told()) {
      const event = String(payload["hook_event_name"])
      const own = fields[event] ?? Object.keys(signals[event]!)
      const named = own.filter((key) => !key.startsWith("agent_") || key === "agent_transcript_path")
      const expected = [...new Set([...common, ...named])].filter((key) => !(missing[event] ?? []).includes(key))
      assert.sameMembers(Object.keys(payload), expected, event)
    }
    const of = (event: string) => told().filter(({ hook_event_name }) => hook_event_name === event)
    assert.deepEqual(of("SessionStart").map(({ source: from }) => from), ["startup", "compact"])
    assert.deepInclude(of("StopFailure")[0], { error: "authentication_failed" })
    assert.deepInclude(of("PostToolUseFailure")[0], { error: "out of order", tool_name: "fail" })
    assert.deepInclude(of("PermissionDenied")[0], {
      reason: "read only",
      tool_name: "Write",
      tool_input: { file_path: join(cwd, "x"), content: "y" }
    })
    assert.deepInclude(of("SubagentStop")[0], { agent_type: "helper", last_assistant_message: "helped" })
    assert.deepInclude(of("PreCompact")[0], { trigger: "manual" })
    assert.deepInclude(of("PostCompact")[0], { trigger: "manual" })
    assert.isTrue(existsSync(String(of("Stop")[0]!["transcript_path"])))
  })

  // rows: C-03
  it(
    "give the host what a hook answers: a path, a text to show, a filled form, or why not",
    async () => {
      const say = (event: string, more: object) =>
        command(`echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...more } })}'`)
      const { cwd, source } = place({
        WorktreeCreate: [{
          ...command("echo preparing; echo /srv/trees/$(sed 's/.*\"name\":\"\\([a-z]*\\)\".*/\\1/')")
        }],
        MessageDisplay: [say("MessageDisplay", { displayContent: "***" })],
        Elicitation: [say("Elicitation", { action: "accept", content: { region: "eu" } })],
        ElicitationResult: [command("echo 'not that one' >&2; exit 2")],
        TeammateIdle: [command(`echo '{"continue":false,"stopReason":"all done"}'`)],
        TaskCreated: [command("echo 'give it a name' >&2; exit 2")],
        ConfigChange: [command("echo 'frozen' >&2; exit 2")]
      })
      await using agent = createAgent({ provider: scripted([]).provider, hookSources: [source()], cwd })
      const session = await agent.session()
      const ask = (name: string, payload: Told = {}) =>
        session.signal({ name, payload: payload as never, blockable: true })
      assert.deepEqual(await ask("WorktreeCreate", { name: "topic" }), {
        allowed: true,
        answer: { worktreePath: "/srv/trees/topic" }
      })
      assert.deepEqual(await ask("MessageDisplay", { delta: "secret" }), {
        allowed: true,
        answer: { displayContent: "***" }
      })
      assert.deepEqual(await ask("Elicitation", { mcp_server_name: "s" }), {
        allowed: true,
        answer: { action: "accept", content: { region: "eu" } }
      })
      assert.deepEqual(await ask("ElicitationResult", { mcp_server_name: "s" }), {
        allowed: false,
        reason: "not that one"
      })
      assert.deepEqual(await ask("TeammateIdle"), {
        allowed: true,
        answer: { continue: false, stopReason: "all done" }
      })
      assert.deepEqual(await ask("TaskCreated"), { allowed: false, reason: "give it a name" })
      assert.deepEqual(await ask("ConfigChange", { source: "user_settings" }), { allowed: false, reason: "frozen" })
      assert.deepEqual(await ask("ConfigChange", { source: "policy_settings" }), { allowed: true })
    }
  )

  // rows: C-29, U-25
  it("suppressOutput keeps a message from the user", async () => {
    for (const suppressOutput of [true, false]) {
      const { cwd, source } = place({
        PreToolUse: [command(`echo '${JSON.stringify({ suppressOutput, systemMessage: "looked at it" })}'`)]
      })
      await using agent = createAgent({
        provider: scripted([calls(["bash", { command: "ls" }])]).provider,
        tools: recording().tools,
        hookSources: [source()],
        cwd
      })
      const notices: Array<string> = []
      agent.on((event) => void (event.type === "notice" && notices.push(event.message)))
      await agent.run("go")
      assert.deepEqual(notices, suppressOutput ? [] : ["looked at it"])
    }
  })

  // rows: C-54, DEC-36
  it("take their times in seconds: the file's, else those of the event and the type", () => {
    const text = JSON.stringify({
      hooks: { PreToolUse: [command("x", { timeout: 10 }), { hooks: [{ type: "agent", prompt: "?", timeout: 60 }] }] }
    })
    assert.deepEqual(HookConfig.decode(text, "s.json").handlers.map(({ timeout }) => timeout), [10, 60])
  })
})

describe("rules of hooks and of permissions", () => {
  const commands = [
    "git push",
    "git push origin",
    "git pushx",
    "git status",
    "npm t && git push",
    "rm -rf /",
    "echo $(rm x)",
    "FOO=1 git push",
    "ls",
    "node --version"
  ]
  const rules = [
    "Bash(git push*)",
    "Bash(git push *)",
    "Bash(rm *)",
    "Bash(npm run test:*)",
    "Bash(* --version)",
    "Bash(ls)",
    "Bash",
    "Bash(git *)",
    "Write(src/**)",
    "Read"
  ]

  // rows: C-14
  it("have one evaluator: a policy refuses exactly where a hook with the same rule would run", async () => {
    let cases = 0
    for (const rule of rules) {
      for (const line of commands) {
        const parsed = await Effect.runPromise(Effect.fromResult(Condition.parseAll([rule], "if")))
        const fits = Condition.evaluate(parsed[0]!, { tool: "Bash", args: { command: line } }, {
          cwd: "/p",
          home: "/h",
          use: "guard",
          // Only rules that deny apply to the files of commands, as in Claude Code.
          filesOfCommands: true
        }) !== "no-match"
        const { ran } = await run([PermissionRules.make({ deny: [rule], allow: ["Bash"] })], ["bash", {
          command: line
        }])
        assert.strictEqual(ran.length === 0, fits, `${rule} at ${line}`)
        cases++
      }
    }
    assert.strictEqual(cases, 100)
  })
})
