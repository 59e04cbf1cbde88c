/** Files of every system together, and what a project may allow. */
import { createAgent } from "@belay/core/createAgent"
import type { RuntimePolicy } from "@belay/core/RuntimePolicy"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../test/support/agent.ts"
import { place, settings } from "./support/places.ts"
import { write } from "./support/processes.ts"

describe("allow", () => {
  const answer = (event: string, fields: object) =>
    `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...fields } })}'`
  const copilot = {
    version: 1,
    hooks: { permissionRequest: [{ type: "command", bash: `echo '{"behavior":"allow"}'` }] }
  }
  const cases: ReadonlyArray<readonly [what: string, path: string, user: string, text: string]> = [
    [
      "PreToolUse",
      ".claude/settings.json",
      ".claude/settings.json",
      settings(answer("PreToolUse", { permissionDecision: "allow" }), {}, "PreToolUse")
    ],
    [
      "PermissionRequest",
      ".claude/settings.json",
      ".claude/settings.json",
      settings(answer("PermissionRequest", { decision: { behavior: "allow" } }), {}, "PermissionRequest")
    ],
    ["permissionRequest of Copilot", ".github/hooks/x.json", ".copilot/hooks/x.json", JSON.stringify(copilot)]
  ]
  for (const [what, path, user, text] of cases) {
    it(
      `of the user answers the policy at ${what}; a project's does when the user says so`,
      async () => {
        const { cwd, home, load } = place()
        const status = async (options: HookFiles.Options) => {
          const { ran, tools } = recording()
          const { provider } = scripted([calls(["bash", { command: "ls" }])])
          const policy: RuntimePolicy = { check: () => ({ type: "ask", reason: "?", grant: { sandbox: "none" } }) }
          await using agent = createAgent({ provider, tools, policy, hooks: load(options).hooks, cwd })
          return `${(await agent.run("go")).status} ${ran.join()}`
        }
        write(join(cwd, path), text)
        load().untrusted[0]!.trust()
        assert.strictEqual(await status({}), "suspended ")
        assert.strictEqual(await status({ projectAllows: true }), "completed ls")
        write(join(home, user), text)
        assert.strictEqual(await status({ scopes: ["user"] }), "completed ls")
      }
    )
  }
})

describe("files of every system", () => {
  const build = () => {
    const one = place()
    const { cwd, home } = one
    const group = (command: string) => [{ hooks: [{ type: "command", command }] }]
    write(join(home, ".claude/settings.json"), settings("echo claude >> $CLAUDE_PROJECT_DIR/../log"))
    write(
      join(home, ".codex/hooks.json"),
      JSON.stringify({ hooks: { PreToolUse: group("echo codex >> $CLAUDE_PROJECT_DIR/../log") } })
    )
    write(
      join(home, ".copilot/hooks/a.json"),
      JSON.stringify({ version: 1, hooks: { preToolUse: [{ type: "command", bash: "echo copilot >> ../log" }] } })
    )
    write(
      join(home, ".copilot/hooks/off.json"),
      JSON.stringify({ version: 1, disableAllHooks: true, hooks: { preToolUse: [{ bash: "exit 2" }] } })
    )
    write(
      join(home, ".gemini/settings.json"),
      `{ // comments are fine\n "hooks": { "BeforeTool": ${JSON.stringify(group("echo gemini >> ../log"))} } }`
    )
    write(
      join(home, ".kodelet/hooks/a"),
      `#!/bin/sh\n[ "$1" = hook ] && echo before_tool_call || echo kodelet >> ${join(one.root, "log")}\n`
    )
    write(
      join(cwd, "hooks.json"),
      JSON.stringify({ version: 1, hooks: { PreToolUse: [{ command: "echo basecoat >> ../log" }] } })
    )
    return one
  }

  it.live("each system is one hook, and all of them see a call", () =>
    Effect.gen(function*() {
      const { fire, load, root } = build()
      const sources = ["claude", "codex", "copilot", "gemini", "kodelet", "basecoat"]
      assert.deepEqual(load({ sources }).hooks.map(({ name }) => name), [
        "claude",
        "codex",
        "copilot",
        "gemini",
        "kodelet"
      ])
      const { untrusted } = load({ sources })
      assert.deepEqual(untrusted[0]!.commands.map(({ command }) => command), ["echo basecoat >> ../log"])
      untrusted[0]!.trust()
      const loaded = load({ sources })
      assert.deepEqual([loaded.warnings, loaded.untrusted], [[], []])
      const { action, warnings } = yield* fire(loaded)
      assert.deepEqual([action._tag, warnings], ["Continue", []])
      const heard = readFileSync(join(root, "log"), "utf8").trim().split("\n").sort()
      assert.deepEqual(heard, ["basecoat", "claude", "codex", "copilot", "gemini", "kodelet"])
    }))

  it("are not left out for a name that is misspelt", () => {
    const { load } = build()
    assert.throws(
      () => load({ sources: ["cluade" as never] }),
      /hook-files\.sources: expected claude, .*found "cluade"; did you mean claude\?/
    )
    assert.throws(() => load({ sources: [{ dialect: "vscode" as never, file: "x.json" }] }), /found "vscode"/)
  })

  it("are chosen by name, by scope, or not at all", () => {
    const { load } = build()
    assert.deepEqual(load({ sources: ["kodelet", "codex"] }).hooks.map(({ name }) => name), ["codex", "kodelet"])
    assert.deepEqual(load({ sources: [] }).hooks, [])
    assert.deepEqual(load({ scopes: ["project"] }).hooks, [])
    assert.lengthOf(load({ scopes: ["project"] }).untrusted, 1)
  })

  it("stop the start where an entry of a policy is malformed, but not for a project that nobody trusts", () => {
    const { cwd, load } = place()
    write(
      join(cwd, "hooks.json"),
      JSON.stringify({ version: 1, hooks: { PreToolUse: [{ command: 5, kind: "policy" }] } })
    )
    const { untrusted, warnings } = load()
    assert.lengthOf(warnings, 1)
    untrusted[0]!.trust()
    assert.throws(
      () => load(),
      /managed hooks, and hooks that enforce a policy, must be valid: .*hooks\.json: hooks\.PreToolUse\[0\]: does not count: command is not a text/
    )
  })
})
