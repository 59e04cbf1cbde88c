import type { Json } from "@belay/core/Json"
import * as BaseCoat from "@belay/hook-files/BaseCoat"
import * as Runners from "@belay/hook-files/Runners"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { calls } from "../../../../../test/support/agent.ts"
import { folder, write } from "../../support/processes.ts"
import { asked, bash, events, world } from "./support.ts"

describe("BaseCoat.decode", () => {
  // rows: B-20, B-21, B-23
  it("reads both files; a wrong version, or none, is an error that names the file", () => {
    const config = {
      version: 1,
      hooks: {
        PreToolUse: [{ command: "python hooks/pre_tool.py", priority: 20, kind: "policy", timeout: 1.5 }],
        SessionStart: [{ tool: "memory.load.all", priority: 10 }, { tool: "telemetry.begin", enabled: false }]
      }
    }
    const { handlers, warnings } = BaseCoat.decode(JSON.stringify(config), "hooks.json")
    assert.deepEqual(warnings, [])
    assert.deepEqual(handlers, [
      {
        event: "PreToolUse",
        file: "hooks.json",
        key: "hooks.PreToolUse[0]",
        priority: 20,
        kind: "policy",
        timeoutMs: 1_500,
        work: { type: "command", command: "python hooks/pre_tool.py" }
      },
      {
        event: "SessionStart",
        file: "hooks.json",
        key: "hooks.SessionStart[0]",
        priority: 10,
        work: { type: "mcp_tool", server: "memory", tool: "load.all" }
      }
    ])
    const { version: _version, ...bare } = config
    for (
      const [text, found] of [[{ ...config, version: 2 }, "2"], [bare, "nothing"], [
        { ...config, version: "1" },
        `"1"`
      ]] as const
    ) {
      assert.deepEqual(BaseCoat.decode(JSON.stringify(text), "a/hooks.json"), {
        handlers: [],
        warnings: [{
          file: "a/hooks.json",
          key: "version",
          reason: `expected 1, found ${found}: the whole file is ignored`
        }]
      })
    }
    const servers = BaseCoat.decode(
      JSON.stringify({ mcpServers: { memory: { command: "x" } }, ...bare }),
      "/p/.mcp.json"
    )
    assert.lengthOf(servers.handlers, 2)
    assert.deepEqual(servers.warnings, [])
  })

  it("says what does not count, and why", () => {
    const text =
      `{ "version": 1, "__proto__": { "hooks": {} }, "hooks": { "PreTolUse": [], "constructor": [], "SessionEnd": {}, "OnError": [
      7, { "priority": 1 }, { "command": "x", "tool": "a.b" }, { "tool": "nodot" }, { "command": "x", "priority": "high" },
      { "matcher": "Bash", "hooks": [] }, { "command": "ok", "note": "y" }
    ] } }`
    const { handlers, warnings } = BaseCoat.decode(text, "hooks.json")
    assert.deepEqual(handlers.map(({ key }) => key), ["hooks.OnError[6]"])
    assert.deepEqual(warnings.map(({ key, reason }) => `${key}: ${reason}`), [
      "hooks.PreTolUse: unknown event; did you mean PreToolUse?",
      "hooks.constructor: unknown event",
      "hooks.SessionEnd: expected an array",
      "hooks.OnError[0]: expected an object",
      "hooks.OnError[1]: expected a command or a tool",
      "hooks.OnError[2]: expected a command or a tool",
      "hooks.OnError[3]: does not count: tool is not `server.tool`",
      "hooks.OnError[4]: does not count: priority is not a number",
      "hooks.OnError[5].matcher: is not known",
      "hooks.OnError[5].hooks: is not known",
      "hooks.OnError[5]: expected a command or a tool",
      "hooks.OnError[6].note: is not known"
    ])
    for (const broken of ["", "[]", "{", "null", `{"version":1,"hooks":7}`]) {
      assert.deepEqual(BaseCoat.decode(broken, "hooks.json").handlers, [])
    }
  })
})

describe("BaseCoat", () => {
  // rows: B-01, B-03
  it("tells each of the eight events once per occurrence, with the end of a session also when it is rotated", async () => {
    const { agent, hear, heard } = world(
      [calls(["fail", { why: "no" }]), bash("ls"), { text: "done", usage: { inputTokens: 10, outputTokens: 1 } }],
      {},
      { window: { tokens: 1_000, compactAt: 1 } }
    )
    for (const event of events) {
      hear(event, event === "OnBudgetExceeded" ? { action: "block", reason: "rotate" } : undefined)
    }
    await using session = await agent.session({
      messages: [{ role: "user", content: "x".repeat(1_500) }, { role: "assistant", content: "y".repeat(1_900) }]
    })
    await session.run("go")
    await session.close()
    assert.deepEqual(heard.map(({ hook }) => hook), [
      "SessionStart",
      "OnBudgetExceeded",
      "PreCompact",
      "SessionEnd",
      "SessionStart",
      "PostCompact",
      "PreToolUse",
      "OnError",
      "PostToolUse",
      "PreToolUse",
      "PostToolUse",
      "SessionEnd"
    ])
    assert.deepEqual(heard.filter(({ hook }) => hook === "SessionEnd").map(({ reason }) => reason), ["rotate", "done"])
    const again = heard.filter(({ hook }) => hook === "SessionStart").map((
      { handoff, source }
    ) => [source, (handoff as Array<string>).length > 0])
    assert.deepEqual(again, [["startup", false], ["rotate", true]])
  })

  // rows: B-15
  it("tells everybody the same envelope", async () => {
    const cwd = folder()
    write(join(cwd, ".git/HEAD"), "ref: refs/heads/feat/145-hooks\n")
    write(
      join(cwd, ".git/config"),
      `[core]\n\tbare = false\n[remote "origin"]\n\turl = https://ada:secret@github.com/acme/base.coat.git\n`
    )
    const { agent, hear, heard } = world([{ ...bash("ls"), usage: { inputTokens: 70, outputTokens: 8 } }], {}, {
      cwd: join(cwd, "src/deep"),
      name: "backend-dev",
      window: { tokens: 160_000 }
    })
    hear("PostToolUse")
    await using session = await agent.session({ id: "s1" })
    await session.run("go")
    const { timestamp, tool, ...rest } = heard[0]!
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.deepEqual(rest, {
      hook: "PostToolUse",
      sessionId: "s1",
      agent: "backend-dev",
      repository: "acme/base.coat",
      branch: "feat/145-hooks",
      budget: { usedTokens: 78, effectiveLimit: 160_000 }
    })
    assert.deepInclude(tool!, {
      name: "bash",
      success: true,
      output: "done",
      input: { command: "ls" },
      callId: "call-0"
    })
    assert.isNumber(tool!.durationMs)
    await session.run("again")
    assert.deepEqual((heard[1] ?? heard[0])!.hook, "PostToolUse")
  })

  // rows: B-15
  it("finds the repository of worktrees and detached heads, and says nothing where there is none", async () => {
    const root = folder()
    write(join(root, "main/.git/worktrees/w/HEAD"), `${"a1b2c3d4".repeat(5)}\n`)
    write(join(root, "main/.git/worktrees/w/commondir"), "../..\n")
    write(
      join(root, "main/.git/config"),
      `[remote "other"]\nurl = x:y/z\n[remote "origin"]\n  url = git@github.com:acme/app\n`
    )
    write(join(root, "work/.git"), `gitdir: ${join(root, "main/.git/worktrees/w")}\n`)
    write(join(root, "plain/.git/HEAD"), "ref: refs/heads/main\n")
    for (
      const [cwd, repository, branch] of [
        [join(root, "work"), "acme/app", "a1b2c3d4a1b2"],
        [join(root, "plain"), "plain", "main"],
        [folder(), "", ""]
      ] as const
    ) {
      const { agent, hear, heard } = world([], {}, { cwd })
      hear("SessionStart")
      await agent.run("go")
      assert.deepInclude(heard[0]!, { repository, branch })
    }
  })

  // rows: B-02, B-11, B-12
  it("knows the size of the context window from the first event", async () => {
    const { agent, hear, heard } = world([bash("ls"), { text: "end" }], {}, { window: { tokens: 1_000 } })
    for (const event of ["SessionStart", "PreToolUse", "SessionEnd"] as const) hear(event)
    await agent.run("go")
    await agent.close()
    assert.deepEqual(heard.map(({ budget, hook }) => [hook, budget.effectiveLimit]), [
      ["SessionStart", 1_000],
      ["PreToolUse", 1_000],
      ["SessionEnd", 1_000]
    ])
  })

  it("what SessionStart and PreToolUse add is read with the next request, and not by the tool that runs", async () => {
    const { agent, hear, requests } = world([bash("ls")])
    hear("SessionStart", { action: "injectContext", additionalContext: ["convention: run the tests", "issue #145"] })
    hear("PreToolUse", { action: "injectContext", additionalContext: ["dist/ may be stale"] })
    await agent.run("go")
    assert.include(asked(requests[0]!.messages), "convention: run the tests\nissue #145")
    assert.notInclude(asked(requests[0]!.messages), "stale")
    assert.strictEqual(asked(requests[1]!.messages).split("dist/ may be stale").length, 2)
  })

  // rows: B-04, B-13
  it("block keeps a tool from running and says why; PreToolUse sees what would run", async () => {
    const { agent, hear, heard, ran, requests } = world([bash("rm -rf /")])
    hear("PreToolUse", { action: "block", reason: "not in this repo" }, { kind: "policy", id: "validator" })
    hear("PreToolUse", { action: "block", reason: "never asked" })
    hear("PostToolUse")
    await agent.run("go")
    assert.deepEqual(ran, [])
    assert.include(asked(requests[1]!.messages), "not in this repo")
    assert.lengthOf(heard, 1)
    assert.deepInclude(heard[0]!.tool!, { name: "bash", input: { command: "rm -rf /" } })
  })

  // rows: B-14, B-33
  it("modify changes the input and the output, and the next hook reads the changed value", async () => {
    const { agent, hear, heard, ran, requests } = world([bash("a")])
    hear("PreToolUse", { action: "modify", modifiedInput: { command: "b" } }, { priority: 10 })
    hear("PreToolUse", {}, { priority: 20 })
    hear("PostToolUse", { action: "modify", modifiedOutput: { summary: "short", redacted: true } }, { priority: 10 })
    hear("PostToolUse", {}, { priority: 20 })
    await agent.run("go")
    assert.deepEqual(ran, ["b"])
    assert.deepEqual(heard[1]!.tool!.input, { command: "b" })
    assert.deepEqual(heard[3]!.tool!.output, { summary: "short", redacted: true })
    assert.include(asked(requests[1]!.messages), `"summary":"short"`)
  })

  // rows: B-05, B-08, B-10, DEC-42
  it("OnError runs first when a call fails, and PostToolUse reads the error as OnError left it", async () => {
    const { agent, hear, heard, requests } = world([calls(["fail", { why: "disk 17 is full" }])])
    hear("PostToolUse")
    hear("OnError", { action: "modify", modifiedOutput: "DISK_FULL" })
    await agent.run("go")
    const [error, post] = heard
    assert.strictEqual(error!.hook, "OnError")
    assert.deepInclude(error!["error"] as object, { source: "tool", recurrence: 1, duplicate: false })
    assert.match((error!["error"] as { signature: string }).signature, /^fail: .*disk <n> is full/)
    assert.deepInclude(post!.tool!, { success: false, error: "DISK_FULL" })
    assert.include(asked(requests[1]!.messages), "DISK_FULL")
  })

  // rows: B-08
  it("reports the same failure again only after a while: until then only hooks see it", async () => {
    const fails = (n: number) => calls(["fail", { why: `job ${n} died` }])
    const { agent, register, requests, warnings } = world([
      fails(1),
      fails(2),
      fails(3),
      calls(["fail", { why: "other" }])
    ])
    const counts: Array<number> = []
    register("OnError", ({ error }) => {
      counts.push((error as { recurrence: number }).recurrence)
      return { action: "injectContext", additionalContext: ["try the mirror"], warnings: ["it failed"] }
    })
    await agent.run("go")
    assert.deepEqual(counts, [1, 2, 3, 1])
    assert.lengthOf(warnings.filter((one) => one.includes("it failed")), 2)
    assert.strictEqual(asked(requests.at(-1)!.messages).split("try the mirror").length, 3)
  })

  // rows: B-16, B-17
  it("warnings go to the developer, metadata to the log alone, and a response's priority counts nowhere", async () => {
    const { agent, hear, heard, requests, sent, warnings } = world([bash("ls")])
    hear("PreToolUse", { priority: 1, warnings: ["slow tool"], metadata: { hookId: "second", secret: "of-the-log" } }, {
      priority: 50
    })
    hear("PreToolUse", { priority: 99, metadata: { hookId: "first" } }, { priority: 10 })
    await agent.run("go")
    assert.deepEqual(warnings, ["second: slow tool"])
    assert.lengthOf(heard, 2)
    assert.deepEqual(
      sent.filter(({ name }) => name === "base-coat-hook").map(({ payload }) => [payload["hookId"], payload["action"]]),
      [
        ["first", "passThrough"],
        ["second", "passThrough"]
      ]
    )
    assert.notInclude(requests.map(({ messages }) => asked(messages)).join(), "of-the-log")
  })

  // rows: B-22
  it("the same handler does the same from hooks.json, from mcp.json and from code", async () => {
    const cwd = folder()
    const answer = {
      action: "modify",
      modifiedInput: { command: "safe" },
      warnings: ["changed"],
      metadata: { hookId: "same" }
    }
    write(
      join(cwd, "hook.py"),
      `import json, sys\nevent = json.load(sys.stdin)\nassert event["tool"]["name"] == "bash"\nprint(${
        JSON.stringify(JSON.stringify(answer))
      })\n`
    )
    const files = {
      "hooks.json": `{"version":1,"hooks":{"PreToolUse":[{"command":"python3 hook.py","priority":5,"timeout":30}]}}`,
      "mcp.json": `{"hooks":{"PreToolUse":[{"tool":"guard.check","priority":5}]}}`
    }
    const given: Array<Json> = []
    const local = Runners.make()
    const runners: Runners.Runners = (task, ctx) => {
      if (task.work.type !== "mcp_tool") return local(task, ctx)
      given.push([task.work.server, task.work.tool, (task.input["tool"] as { name: string }).name])
      return Effect.succeed({
        exitCode: 0,
        stdout: JSON.stringify(answer),
        stderr: "",
        timedOut: false,
        overflowed: false,
        durationMs: 1
      })
    }
    const runs: Array<Json> = []
    for (const source of ["hooks.json", "mcp.json", "code"] as const) {
      const handlers = source === "code" ? [] : BaseCoat.decode(files[source], source).handlers
      const { agent, ran, register, warnings } = world([bash("risky")], { handlers, runners }, { cwd })
      if (source === "code") register("PreToolUse", () => Promise.resolve(answer as BaseCoat.Response), { priority: 5 })
      await agent.run("go")
      runs.push([[...ran], [...warnings]])
    }
    assert.deepEqual(runs[0], [["safe"], ["same: changed"]])
    assert.deepEqual(runs[1], runs[0])
    assert.deepEqual(runs[2], runs[0])
    assert.deepEqual(given, [["guard", "check", "bash"]])
  })
})
