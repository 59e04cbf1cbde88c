/** Files of Claude Code in agents that run: every event on its occasion, and what belongs to no event alone. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { text } from "@belay/core/Message"
import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { folder, write } from "../../support/processes.ts"

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

describe("sources of Claude Code", () => {
  // rows: C-50
  it(
    "add to each other: settings, plugins, skills and agents make one configuration",
    async () => {
      const say = (word: string) => JSON.stringify({ hooks: { UserPromptSubmit: [command(`echo ${word}`)] } })
      const { cwd, home, root, source } = place({ UserPromptSubmit: [command("echo from-user")] })
      const plugin = join(root, "formatter")
      write(
        join(plugin, "hooks/hooks.json"),
        JSON.stringify({ description: "x", ...JSON.parse(say("from-plugin at $CLAUDE_PLUGIN_ROOT")) })
      )
      write(
        join(plugin, ".claude-plugin/plugin.json"),
        JSON.stringify({ name: "formatter", hooks: ["./hooks/hooks.json", "./more.json", "../outside.json"] })
      )
      write(join(plugin, "more.json"), say("from-manifest"))
      write(join(root, "outside.json"), say("from-outside"))
      const matter = (event: string, word: string) =>
        `---\nname: NAME\ndescription: x\nhooks:\n  ${event}:\n    - hooks:\n        - type: command\n          command: "echo ${word}"\n---\nBody\n`
      write(
        join(home, ".claude/skills/review/SKILL.md"),
        // As an editor on Windows writes it.
        matter("UserPromptSubmit", "from-skill").replace("NAME", "review").replaceAll("\n", "\r\n")
      )
      write(join(home, ".claude/agents/helper.md"), matter("PreToolUse", "from-agent").replace("NAME", "helper"))
      const skill = defineTool({
        name: "Skill",
        description: "Calls a skill",
        input: Schema.Struct({ skill: Schema.String }),
        execute: () => "loaded"
      })
      const { provider, requests } = scripted([calls(["Skill", { skill: "review" }]), { text: "one" }, { text: "two" }])
      const hookSources = [source({ sources: ["claude", { plugin }] })]
      const { warnings } = hookSources[0]!.load({ cwd })
      assert.lengthOf(warnings!, 1)
      assert.match(warnings![0]!, /plugin\.json: hooks\[2\]: names a file outside of the plugin/)
      await using agent = createAgent({ provider, tools: [skill], hookSources, cwd })
      const session = await agent.session()
      await session.run("first")
      const said = (index: number) => requests[index]!.messages.map(text).join("\n")
      for (const word of ["from-user", `from-plugin at ${plugin}`, "from-manifest"]) assert.include(said(0), word)
      for (const word of ["from-skill", "from-outside", "from-agent"]) assert.notInclude(said(1), word)
      await session.run("second")
      assert.include(said(2), "from-skill")
    }
  )

  // rows: C-50
  it(
    "hooks in an agent's front matter run while that agent runs, and when it stops",
    async () => {
      const { cwd, home, source, told } = place({})
      const hook = "    - hooks:\n        - type: command\n          command: cat >> ../log.jsonl\n"
      write(
        join(home, ".claude/agents/helper.md"),
        `---\nname: helper\nhooks:\n  PreToolUse:\n${hook}  Stop:\n${hook}---\n`
      )
      const inner = scripted([calls(["bash", { command: "inner" }]), { text: "helped" }])
      const helper = createAgent({ name: "helper", provider: inner.provider, tools: recording().tools })
      const { provider } = scripted([calls(["bash", { command: "outer" }]), calls(["ask_helper", { message: "help" }])])
      await using agent = createAgent({
        provider,
        tools: [...recording().tools, agentTool({ name: "ask_helper", description: "Helps", agent: helper })],
        hookSources: [source()],
        cwd
      })
      await agent.run("go")
      assert.deepEqual(told().map(({ hook_event_name, tool_input }) => [hook_event_name, tool_input]), [
        ["PreToolUse", { command: "inner" }],
        ["SubagentStop", undefined]
      ])
    }
  )

  it("what is managed comes first, cannot be silenced, and has to be right", async () => {
    const { cwd, root, source } = place({ PreToolUse: [command("echo user >&2; exit 2")] }, { disableAllHooks: true })
    const managed = (settings: object) => write(join(root, "managed/managed-settings.json"), JSON.stringify(settings))
    const refusal = async () => {
      await using agent = createAgent({
        provider: scripted([calls(["bash", { command: "ls" }])]).provider,
        tools: recording().tools,
        hookSources: [source()],
        cwd
      })
      const { messages } = await agent.run("go")
      return text(messages.find(({ role }) => role === "tool")!)
    }
    assert.strictEqual(await refusal(), "done")
    managed({ hooks: { PreToolUse: [command("echo managed >&2; exit 2")] } })
    assert.strictEqual(await refusal(), "managed")
    managed({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "comand", command: "x" }] }] } })
    assert.throws(
      () => createAgent({ provider: scripted([]).provider, hookSources: [source()], cwd }),
      /managed hooks, and hooks that enforce a policy, must be valid: .*hooks\.PreToolUse\[0\]\.hooks\[0\]\.type.*did you mean command\?/
    )
  })
})

describe("folders of Claude Code", () => {
  it("scripts find their home, and leave variables for later commands", async () => {
    const exporting =
      `printf 'export NODE_ENV=production\nexport NAME="a b"\nexport LD_PRELOAD=/evil.so\nrm -rf x\n' >> "$CLAUDE_ENV_FILE"`
    const { cwd, home, source } = place({
      SessionStart: [command(exporting)],
      UserPromptSubmit: [command("~/.claude/hooks/say.sh")]
    })
    write(join(home, ".claude/hooks/say.sh"), `#!/bin/sh\necho "home is $HOME$CLAUDE_ENV_FILE"\n`)
    const { provider, requests } = scripted([{ text: "hello" }])
    await using agent = createAgent({ provider, hookSources: [source()], cwd })
    const session = await agent.session()
    await session.run("hi")
    assert.deepEqual(session.state.get(ClaudeCode.environment), { NODE_ENV: "production", NAME: "a b" })
    assert.include(requests[0]!.messages.map(text).join("\n"), `home is ${home}`)
  })
})
