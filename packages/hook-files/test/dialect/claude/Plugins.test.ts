/** Plugins of Claude Code that a user has installed, and the folders that their entries read. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { text } from "@belay/core/Message"
import * as Discovery from "@belay/hook-files/Discovery"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { place, settings } from "../../support/places.ts"
import { write } from "../../support/processes.ts"

const json = (path: string, value: unknown): string => write(path, JSON.stringify(value))

/** A user with an installed plugin, whose guard refuses every call and says its own folders. */
const user = (id = "guard@team", more: { readonly projectPath?: string; readonly scope?: string } = {}) => {
  const world = place()
  const { home } = world
  const plugins = join(home, ".claude/plugins")
  const [name, market] = id.split("@") as [string, string]
  const root = join(plugins, "cache", market, name, "1.0.0")
  json(join(root, ".claude-plugin/plugin.json"), { name, version: "1.0.0" })
  write(
    join(root, "bin/guard.sh"),
    `#!/bin/sh\necho "guard of $CLAUDE_PLUGIN_ROOT and $CLAUDE_PLUGIN_DATA" >&2\nexit 2\n`
  )
  write(join(root, "hooks/hooks.json"), settings("\"${CLAUDE_PLUGIN_ROOT}\"/bin/guard.sh"))
  const install = () =>
    json(join(plugins, "installed_plugins.json"), {
      version: 2,
      plugins: { [id]: [{ scope: "user", ...more, installPath: root, version: "1.0.0" }] }
    })
  const enable = (enabled: unknown, at = join(home, ".claude/settings.json"), also: object = {}) =>
    json(at, { ...also, enabledPlugins: enabled })
  return { ...world, plugins, root, install, enable, local: join(world.cwd, ".claude/settings.local.json") }
}

describe("installed plugins", () => {
  it.live("run with their folder and their data folder if the user has enabled them", () =>
    Effect.gen(function*() {
      const { enable, fire, home, install, load, root } = user()
      install()
      assert.deepEqual(load().hooks, [])
      enable({ "guard@team": true })
      const { action } = yield* fire(load())
      const data = join(home, ".claude/plugins/data/guard-team")
      assert.deepInclude(action, { _tag: "Reject", reason: `guard of ${root} and ${data}` })
    }))

  it.live("run although the project disables them, because a project turns off only its own", () =>
    Effect.gen(function*() {
      const { cwd, enable, fire, install, load, local } = user()
      install()
      enable({ "guard@team": true })
      enable({ "guard@team": false }, join(cwd, ".claude/settings.json"))
      enable({ "guard@team": false }, local)
      assert.strictEqual((yield* fire(load())).action._tag, "Reject")
    }))

  it.live("run for a project that enables them after somebody has trusted it", () =>
    Effect.gen(function*() {
      const { cwd, enable, fire, install, load, root } = user("guard@team", {
        scope: "project",
        projectPath: "/elsewhere"
      })
      install()
      enable({ "guard@team": true }, join(cwd, ".claude/settings.json"))
      const [waiting] = load().untrusted
      assert.strictEqual(waiting?.commands[0]?.file, join(root, "hooks/hooks.json"))
      assert.deepEqual((yield* fire(load())).action._tag, "Continue")
      waiting!.trust()
      assert.strictEqual((yield* fire(load())).action._tag, "Reject")
      write(join(root, "bin/guard.sh"), "#!/bin/sh\nexit 0\n")
      assert.lengthOf(load().untrusted, 1)
    }))

  it.live("are found in a marketplace on disk if nothing records where they are", () =>
    Effect.gen(function*() {
      const { enable, fire, home, load, plugins } = user("other@team")
      const market = join(home, "market")
      json(join(plugins, "known_marketplaces.json"), {
        team: { source: { source: "directory", path: market }, installLocation: market }
      })
      json(join(market, ".claude-plugin/marketplace.json"), {
        name: "team",
        owner: { name: "x" },
        metadata: { pluginRoot: "./plugins" },
        plugins: [{ name: "guard", source: "./guard", hooks: JSON.parse(settings("echo entry >&2; exit 2")) }, {
          name: "escape",
          source: "../../outside"
        }]
      })
      write(join(market, "plugins/guard/hooks/hooks.json"), settings("echo folder $CLAUDE_PLUGIN_ROOT >&2; exit 2"))
      write(join(home, "outside/hooks/hooks.json"), settings("exit 2"))
      enable({ "guard@team": true, "escape@team": true })
      const loaded = load()
      assert.deepInclude((yield* fire(loaded)).action, { reason: `folder ${market}/plugins/guard\nentry` })
      assert.match(loaded.warnings[0]!.reason, /^escape@team is enabled, but it is not installed/)
    }))

  it.live("are found in the folder of their marketplace that settings name", () =>
    Effect.gen(function*() {
      const { enable, fire, home, load } = user("other@team")
      const market = join(home, "mine")
      json(join(market, ".claude-plugin/marketplace.json"), {
        name: "local",
        plugins: [{ name: "guard", source: "./g" }]
      })
      write(join(market, "g/hooks/hooks.json"), settings("echo mine >&2; exit 2"))
      enable({ "guard@local": true }, undefined, {
        extraKnownMarketplaces: { local: { source: { source: "directory", path: market } } }
      })
      assert.deepInclude((yield* fire(load())).action, { reason: "mine" })
    }))

  it.live("are the newest version in the cache if nothing records where they are", () =>
    Effect.gen(function*() {
      const { enable, fire, load, plugins } = user()
      write(join(plugins, "cache/team/guard/1.10.0/hooks/hooks.json"), settings("echo newest >&2; exit 2"))
      write(join(plugins, "cache/team/guard/1.9.0/hooks/hooks.json"), settings("echo older >&2; exit 2"))
      enable({ "guard@team": true })
      assert.deepInclude((yield* fire(load())).action, { reason: "newest" })
    }))

  it("that are missing are named in one warning, with the setting that enables them", () => {
    const { cwd, enable, home, load } = user("other@team")
    enable({ "a@team": true, "b@team": true, "c@team": false, "d@team": ["x"] })
    enable({ "p@team": true, "a@team": true }, join(cwd, ".claude/settings.json"))
    const found = load().warnings.map(({ file, key, reason }) => [file, key, reason.split(";")[0]])
    assert.deepEqual(found, [
      [
        join(home, ".claude/settings.json"),
        "enabledPlugins",
        "a@team, b@team are enabled, but they are not installed, so their hooks do not run"
      ],
      [
        join(cwd, ".claude/settings.json"),
        "enabledPlugins",
        "p@team is enabled, but it is not installed, so its hooks do not run"
      ]
    ])
  })

  it("that an administrator enables are managed, and those that he disables never run", () => {
    const { enable, install, load, root } = user()
    install()
    const managed = join(root, "../managed")
    const scopes = () =>
      load({ managed }).sources.filter(({ origin }) => origin !== undefined).map(({ scope }) => scope)
    enable({ "guard@team": true }, join(managed, "managed-settings.json"), { disableAllHooks: false })
    assert.deepEqual(scopes(), ["managed", "managed"])
    enable({ "guard@team": true })
    enable({ "guard@team": false }, join(managed, "managed-settings.json"))
    assert.deepEqual(scopes(), [])
    enable({ "missing@team": true }, join(managed, "managed-settings.json"))
    assert.match(load({ managed }).warnings[0]!.reason, /missing@team is enabled/)
  })

  it("that hostile files describe are not found, and nothing throws", () => {
    const { cwd, enable, load, plugins } = user("other@team")
    const hostile = [
      "../../evil@team",
      "x@../../evil",
      "@",
      "x",
      "a@b@c",
      "__proto__",
      "x@__proto__",
      "constructor@team"
    ]
    enable(Object.fromEntries(hostile.map((id) => [id, true])), join(cwd, ".claude/settings.json"))
    write(join(cwd, "../home/.claude/evil/hooks/hooks.json"), settings("exit 2"))
    for (
      const text of [
        "[]",
        "{\"plugins\":[]}",
        "{\"plugins\":{\"x@team\":[null,{\"installPath\":7}]}}",
        "nonsense",
        "{\"team\":7}"
      ]
    ) {
      write(join(plugins, "installed_plugins.json"), text)
      write(join(plugins, "known_marketplaces.json"), text)
      assert.deepEqual(load().sources.filter(({ origin }) => origin !== undefined), [])
    }
  })
})

describe("files of a plugin", () => {
  it.live("know their folder when they are named one by one", () =>
    Effect.gen(function*() {
      const { cwd, fire, load, root } = user()
      for (const file of ["hooks/hooks.json", ".claude-plugin/plugin.json"]) {
        json(join(root, ".claude-plugin/plugin.json"), {
          name: "guard",
          hooks: file.startsWith("hooks") ? undefined : "./more.json"
        })
        write(join(root, "more.json"), settings("\"$CLAUDE_PLUGIN_ROOT\"/bin/guard.sh"))
        const { action } = yield* fire(load({ sources: [{ dialect: "claude", file: join(root, file) }] }))
        assert.include(action.reason, `guard of ${root}`)
      }
      const { sources } = Discovery.find({
        cwd,
        home: cwd,
        sources: [{ dialect: "claude", file: join(root, "hooks/hooks.json") }]
      })
      assert.strictEqual(sources[0]!.origin?.name, "guard")
    }))

  it("include the skills of the plugin, which know both folders", async () => {
    const { cwd, enable, install, load, root } = user()
    install()
    enable({ "guard@team": true })
    write(join(root, "hooks/hooks.json"), "{}")
    write(
      join(root, "skills/review/SKILL.md"),
      `---\nname: review\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: '"\${CLAUDE_PLUGIN_ROOT}"/bin/guard.sh'\n---\n`
    )
    const skill = defineTool({
      name: "Skill",
      description: "Calls a skill",
      input: Schema.Struct({ skill: Schema.String }),
      execute: () => "loaded"
    })
    const { provider } = scripted([calls(["Skill", { skill: "guard:review" }]), calls(["bash", { command: "ls" }]), {
      text: "end"
    }])
    await using agent = createAgent({ provider, tools: [skill, ...recording().tools], hooks: load().hooks, cwd })
    const { messages } = await agent.run("go")
    assert.include(text(messages.findLast(({ role }) => role === "tool")!), `guard of ${root}`)
  })
})

describe("entries of skills and agents", () => {
  it("get the folder of their file as the folder of a plugin", async () => {
    const { cwd, home, load } = place()
    const hook = (path: string) =>
      `---\nname: NAME\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: "\${CLAUDE_PLUGIN_ROOT}/${path}"\n---\n`
    write(join(home, ".claude/skills/review/SKILL.md"), hook("guard.sh").replace("NAME", "review"))
    write(join(home, ".claude/skills/review/guard.sh"), "#!/bin/sh\necho \"skill in $CLAUDE_SKILL_DIR\" >&2\nexit 2\n")
    write(join(home, ".claude/agents/helper.md"), hook("guard.sh").replace("NAME", "helper"))
    write(join(home, ".claude/agents/guard.sh"), "#!/bin/sh\necho agent >&2\nexit 2\n")
    const { hooks, warnings } = load()
    assert.deepEqual(warnings, [])
    const skill = defineTool({
      name: "Skill",
      description: "Calls a skill",
      input: Schema.Struct({ skill: Schema.String }),
      execute: () => "loaded"
    })
    const run = async (name: string) => {
      const { provider } = scripted([calls(["Skill", { skill: "review" }]), calls(["bash", { command: "ls" }]), {
        text: "end"
      }])
      await using agent = createAgent({ name, provider, tools: [skill, ...recording().tools], hooks, cwd })
      const { messages } = await agent.run("go")
      return text(messages.findLast(({ role }) => role === "tool")!)
    }
    assert.strictEqual(await run("main"), `skill in ${home}/.claude/skills/review`)
    assert.include(await run("helper"), "agent")
  })

  it("of a project are covered by trust with the scripts in their folder", () => {
    const { cwd, load } = place()
    const path = join(cwd, ".claude/skills/review")
    write(
      join(path, "SKILL.md"),
      "---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: $CLAUDE_PLUGIN_ROOT/a.sh\n---\n"
    )
    write(join(path, "a.sh"), "#!/bin/sh\n")
    load().untrusted[0]!.trust()
    assert.deepEqual(load().untrusted, [])
    write(join(path, "a.sh"), "#!/bin/sh\nexit 2\n")
    assert.lengthOf(load().untrusted, 1)
  })
})
