import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import { testHook } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { calls, recording, run, scripted } from "../../../../test/support/agent.ts"
import { call } from "../../../../test/support/events.ts"
import { decide } from "../support/decide.ts"
import { bypasses } from "../support/shellLines.ts"

const deciding = (options: PermissionRules.Options) => {
  const hook = PermissionRules.make({ home: "/h/ada", realpath: () => undefined, ...options })
  return (name: string, args: Json, tool: Partial<PreToolCallEvent["tool"]> = {}) =>
    decide(hook, name, args, { cwd: "/p", tool })
}

const tag = (options: PermissionRules.Options, name: string, args: Json, tool?: Partial<PreToolCallEvent["tool"]>) =>
  Effect.map(deciding(options)(name, args, tool), ({ _tag }) => _tag)

const shell = (options: PermissionRules.Options, command: string) => tag(options, "bash", { command })

const newFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "permission-rules-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

describe("PermissionRules", () => {
  it.effect("prefers deny to ask, and ask to allow, whatever their sources", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = {
        allow: ["Bash(git *)"],
        sources: [{ ask: ["Bash(git commit *)"], source: "the user" }, {
          deny: ["Bash(git push *)"],
          source: "the project"
        }]
      }
      assert.strictEqual(yield* shell(options, "git status"), "Continue")
      assert.strictEqual(yield* shell(options, "git commit -m x"), "Ask")
      assert.strictEqual(yield* shell(options, "git commit -m x; git push"), "Reject")
      const { reason } = yield* deciding(options)("bash", { command: "git push" })
      assert.strictEqual(reason, "bash is denied by the rule Bash(git push *) of the project")
    }))

  it.effect("asks about a script with more than 4,096 commands", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = { allow: ["Bash(pwd)"] }
      assert.strictEqual(yield* shell(options, "pwd;".repeat(4_096)), "Continue")
      assert.strictEqual(yield* shell(options, "pwd;".repeat(4_097)), "Ask")
    }))

  it.effect("asks about what no rule decides, unless the tool changes nothing", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* tag({}, "deploy", {}), "Ask")
      assert.strictEqual(yield* tag({}, "look", {}, { readOnly: true }), "Continue")
      assert.strictEqual(yield* tag({ otherwise: "allow" }, "deploy", {}), "Continue")
      assert.strictEqual(yield* tag({ otherwise: "deny" }, "deploy", {}), "Reject")
      assert.strictEqual(yield* tag({ otherwise: "deny" }, "look", {}, { readOnly: true }), "Reject")
    }))

  it.effect("says that a call cannot be checked when it cannot be read", () =>
    Effect.gen(function*() {
      const { _tag, reason } = yield* deciding({ deny: ["Bash(git push *)"] })("bash", { command: "git $X" })
      assert.strictEqual(_tag, "Reject")
      assert.include(reason, "so that it can be checked")
    }))

  it.effect("is not evaded", () =>
    Effect.gen(function*() {
      const decide = deciding({ deny: ["Bash(git push *)"], allow: ["Bash"], otherwise: "allow" })
      const passed = yield* Effect.filter(bypasses, (command) =>
        Effect.map(decide("bash", { command }), ({ _tag }) => _tag !== "Reject"))
      assert.deepEqual(passed, [])
    }))

  it.effect("applies rules with a path to the files of commands", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = { deny: ["Read(.env)", "Edit(infra/**)"], otherwise: "allow" }
      for (
        const denied of [
          "cat .env",
          "cp ./.env x",
          "bash -c 'head -1 .env'",
          "echo x > infra/a",
          "rm -r infra",
          "git rm .env"
        ]
      ) {
        assert.strictEqual(yield* shell(options, denied), "Reject", denied)
      }
      for (
        const fine of ["echo .env", "cat infra/a", "npm test", "python3 tool.py .env.example", "terraform plan infra"]
      ) {
        assert.strictEqual(yield* shell(options, fine), "Continue", fine)
      }
      const allowing: PermissionRules.Options = { allow: ["Read(notes.txt)"] }
      assert.strictEqual(yield* shell(allowing, "cat notes.txt"), "Ask")
    }))

  it.effect("reads the scripts that a command runs", () =>
    Effect.scoped(Effect.gen(function*() {
      const cwd = yield* newFolder
      const scripts = {
        "build.sh": "npm ci\nnpm run build\n",
        "release.sh": "npm version patch\nnpm publish\n",
        "outer.sh": "#!/bin/sh\n./release.sh\n",
        "hidden.sh": "$TOOL publish\n"
      }
      for (const [name, text] of Object.entries(scripts)) writeFileSync(join(cwd, name), `#!/bin/sh\n${text}`)
      const hook = PermissionRules.make({ deny: ["Bash(npm publish *)"], otherwise: "allow" })
      const tagOf = (command: string) => Effect.map(decide(hook, "bash", { command }, { cwd }), ({ _tag }) => _tag)
      for (const denied of ["bash release.sh", "./release.sh", "sh outer.sh", ". ./hidden.sh", "bash missing.sh"]) {
        assert.strictEqual(yield* tagOf(denied), "Reject", denied)
      }
      for (const fine of ["bash build.sh", "./build.sh", "source build.sh && convert \"$f\" \"$f.png\""]) {
        assert.strictEqual(yield* tagOf(fine), "Continue", fine)
      }
    })))

  it.effect("can ask about calls that a deny rule may match, and still rejects those that it does match", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = { deny: ["Bash(npm publish *)"], otherwise: "allow", unreadable: "ask" }
      assert.strictEqual(yield* shell(options, "bash scripts/setup.sh"), "Ask")
      assert.strictEqual(yield* shell(options, "$TOOL publish"), "Ask")
      assert.strictEqual(yield* shell(options, "bash scripts/setup.sh; npm publish x"), "Reject")
      for (
        const everyday of [
          "echo $PATH",
          "for f in *.ts; do wc -l $f; done",
          "export SHA=$(git rev-parse HEAD)",
          "kill $(lsof -t -i:3000)",
          "diff <(ls a) <(ls b)",
          "git commit -m \"$(cat <<'EOF'\nfix: x\nEOF\n)\""
        ]
      ) {
        assert.strictEqual(yield* shell(options, everyday), "Continue", everyday)
      }
      assert.strictEqual(yield* shell({ ...options, unreadable: "deny" }, "$TOOL publish"), "Reject")
      assert.strictEqual(yield* shell({ ...options, permissionMode: "dontAsk" }, "$TOOL publish"), "Reject")
    }))

  it.effect("allows a line only when rules cover every command of it", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = { allow: ["Bash(npm test *)"], sources: [{ allow: ["Bash(ls *)"] }] }
      assert.strictEqual(yield* shell(options, "npm test -- --watch"), "Continue")
      assert.strictEqual(yield* shell(options, "npm test && ls -la"), "Continue")
      assert.strictEqual(yield* shell(options, "npm test && rm x"), "Ask")
      assert.strictEqual(yield* shell(options, "npm test > .env"), "Ask")
      assert.strictEqual(yield* shell({ allow: ["Bash(npm test *)", "Bash(ls *)"] }, "npm test; ls"), "Continue")
    }))

  it.effect("applies capabilities to every tool that has them", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = {
        deny: ["write(/etc/**)", "network(domain:*.example.com)"],
        otherwise: "allow"
      }
      assert.strictEqual(yield* tag(options, "save_document", { path: "/etc/passwd" }), "Reject")
      assert.strictEqual(yield* tag(options, "save_document", { path: "/p/../etc/passwd" }), "Reject")
      assert.strictEqual(yield* shell(options, "sudo tee /etc/passwd < x"), "Reject")
      assert.strictEqual(yield* tag(options, "load", { url: "https://a.example.com" }), "Reject")
      assert.strictEqual(yield* shell(options, "cat /etc/passwd"), "Continue")
    }))

  it.effect("starts paths with a slash at the folder of their source", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = { sources: [{ allow: ["Edit(/docs/**)"], folder: "packages/a" }] }
      assert.strictEqual(yield* tag(options, "edit_file", { path: "packages/a/docs/x.md" }), "Continue")
      assert.strictEqual(yield* tag(options, "Edit", { file_path: "packages/a/docs/x.md" }), "Continue")
      assert.strictEqual(yield* tag(options, "Edit", { file_path: "docs/x.md" }), "Ask")
    }))

  it.effect("allows only edits below the working folder in `acceptEdits`", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = { permissionMode: "acceptEdits", ask: ["write(.env*)"] }
      assert.strictEqual(yield* tag(options, "write_file", { path: "src/a.ts" }), "Continue")
      assert.strictEqual(yield* tag(options, "write_file", { path: "../a.ts" }), "Ask")
      assert.strictEqual(yield* tag(options, "write_file", { path: ".env" }), "Ask")
      assert.strictEqual(yield* shell(options, "touch a"), "Ask")
      assert.strictEqual(yield* tag(options, "deploy", {}), "Ask")
    }))

  it.effect("allows only calls that change nothing in `plan`, whatever the rules allow", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = { permissionMode: "plan", allow: ["*"], deny: ["Read(.env)"] }
      assert.strictEqual(yield* tag(options, "write_file", { path: "a" }), "Reject")
      assert.strictEqual(yield* tag(options, "deploy", {}), "Reject")
      assert.strictEqual(yield* tag(options, "deploy", {}, { readOnly: true }), "Continue")
      assert.strictEqual(yield* tag(options, "read_file", { path: "a" }), "Continue")
      assert.strictEqual(yield* tag(options, "Read", { file_path: ".env" }), "Reject")
      for (const line of ["ls -la", "cat a | grep b", "git status -s"]) {
        assert.strictEqual(yield* shell(options, line), "Continue", line)
      }
      for (const line of ["ls > a", "rm a", "git push", "cat a; $X", "sudo ls", "sort -o a b", "ls $(rm a)"]) {
        assert.strictEqual(yield* shell(options, line), "Reject", line)
      }
    }))

  it.effect("refuses what it would ask about in `dontAsk`", () =>
    Effect.gen(function*() {
      const options: PermissionRules.Options = {
        permissionMode: "dontAsk",
        ask: ["Bash(git *)"],
        allow: ["Bash(ls *)"]
      }
      for (const line of ["git status", "npm test"]) assert.strictEqual(yield* shell(options, line), "Reject")
      assert.strictEqual(yield* shell(options, "ls"), "Continue")
    }))

  it.effect("calls the mode function before every call, and rejects the call when it throws", () =>
    Effect.gen(function*() {
      let mode: unknown = "plan"
      const decide = deciding({ allow: ["*"], permissionMode: () => mode as PermissionRules.Mode })
      assert.strictEqual((yield* decide("deploy", {}))._tag, "Reject")
      mode = "default"
      assert.strictEqual((yield* decide("deploy", {}))._tag, "Continue")
      mode = "yolo"
      assert.strictEqual((yield* decide("deploy", {}))._tag, "Reject")
      assert.strictEqual(
        yield* tag({ allow: ["*"], permissionMode: () => assert.fail("broken") }, "deploy", {}),
        "Reject"
      )
    }))

  it("checks a call again that a later hook changed", async () => {
    const later = defineHook({
      name: "later",
      preToolCall: ({ id, name }) => HookAction.transform({ id, name, args: { command: "git push" } })
    })
    await testHook([PermissionRules.make({ deny: ["Bash(git push *)"], otherwise: "allow" }), later])
      .given("preToolCall", call("bash", { command: "ls" })).expect("Reject")
  })

  it("rejects invalid rules, and names their options", () => {
    const key = (options: object) => {
      try {
        PermissionRules.make(options)
      } catch (error) {
        return (error as { key: string }).key
      }
      return undefined
    }
    assert.strictEqual(key({ deny: ["Bash", "Bash("] }), "permission-rules.deny[1]")
    assert.strictEqual(key({ sources: [{}, { ask: [""] }] }), "permission-rules.sources[1].ask[0]")
    assert.strictEqual(key({ permissionMode: "yolo" }), "permission-rules.permissionMode")
    assert.strictEqual(key({ otherwise: "maybe", name: "mine" }), "mine.otherwise")
    assert.deepInclude(PermissionRules.make(), {
      name: "permission-rules",
      kind: "policy",
      reinvoke: "ifChanged",
      priority: 3
    })
  })

  const verdicts = Schema.Literals(["allow", "ask", "deny"])
  const lists = Schema.Array(
    Schema.Tuple([
      verdicts,
      Schema.Literals(["Bash(git *)", "Bash(git push *)", "Bash(ls *)", "Bash", "exec", "mcp__s", "*"])
    ])
  )
  it.effect.prop(
    "never lets a rule more allow what was denied, nor one fewer deny what was allowed",
    [lists, lists],
    ([some, more]) =>
      Effect.gen(function*() {
        const rules = (all: typeof some): PermissionRules.Options => ({
          allow: all.flatMap(([verdict, rule]) => verdict === "allow" ? [rule] : []),
          ask: all.flatMap(([verdict, rule]) => verdict === "ask" ? [rule] : []),
          deny: all.flatMap(([verdict, rule]) => verdict === "deny" ? [rule] : [])
        })
        const before = yield* shell(rules(some), "git push origin")
        const denied = yield* shell(
          rules([...some, ...more.filter(([verdict]) => verdict !== "deny")]),
          "git push origin"
        )
        return before !== "Reject" || denied === "Reject"
      })
  )
})

describe("an agent with permission rules", () => {
  const rules = PermissionRules.make({ deny: ["Bash(git push *)"], allow: ["Bash(ls *)"], ask: ["Bash(rm *)"] })

  it("runs allowed calls, and informs the model about denied ones", async () => {
    const { ran, said } = await run([rules], ["bash", { command: "ls" }], ["bash", { command: "ls; env git push" }])
    assert.deepEqual(ran, ["ls"])
    assert.include(said[1], "denied by the rule Bash(git push *) of the agent")
  })

  it("suspends to ask, and continues when somebody approves", async () => {
    const { ran, tools } = recording()
    const { provider } = scripted([calls(["bash", { command: "rm a" }])])
    await using agent = createAgent({ provider, tools, hooks: [rules] })
    const asked = await agent.run("go")
    assert(asked.status === "suspended")
    assert.deepEqual(ran, [])
    assert.deepInclude(asked.pending[0], {
      tool: "bash",
      reason: "bash needs approval by the rule Bash(rm *) of the agent"
    })
    const { status } = await agent.resume(JSON.stringify(asked.snapshot), { "call-0": { type: "approve" } })
    assert.strictEqual(status, "completed")
    assert.deepEqual(ran, ["rm a"])
  })

  it("checks the arguments that a person edited with the rules of another hook", async () => {
    const { ran, tools } = recording()
    const { provider } = scripted([calls(["bash", { command: "rm a" }])])
    const never = PermissionRules.make({ name: "never", deny: ["Bash(git push *)"], otherwise: "allow" })
    await using agent = createAgent({ provider, tools, hooks: [never, rules] })
    const asked = await agent.run("go")
    assert(asked.status === "suspended")
    await agent.resume(JSON.stringify(asked.snapshot), { "call-0": { type: "edit", args: { command: "git push" } } })
    assert.deepEqual(ran, [])
  })
})
