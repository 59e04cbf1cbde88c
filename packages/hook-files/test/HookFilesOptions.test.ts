/** Options of `hookSource` that only one system has. */
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { calls, recording, scripted } from "../../../test/support/agent.ts"
import { place } from "./support/places.ts"
import { write } from "./support/processes.ts"

/** An executable of Kodelet that asks for a recipe after the first step. */
const callback = (name: string) =>
  `#!/bin/sh\n[ "$1" = hook ] && echo after_turn && exit\ncat > /dev/null\n[ -e asked ] || { touch asked; echo '{"result":"callback","callback":"${name}","callback_args":{"who":"ada"}}'; }\n`

const run = async (
  cwd: string,
  hookSources: ReadonlyArray<ReturnType<typeof HookFiles.source>>,
  config: object = {}
) => {
  const { provider, requests } = scripted([calls(["bash", { command: "ls" }]), { text: "a handoff" }, { text: "end" }])
  const warnings: Array<string> = []
  await using agent = createAgent({ provider, cwd, tools: recording().tools, hookSources: [...hookSources], ...config })
  agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
  await agent.run("go")
  return { requests, warnings }
}

describe("an option with a wrong value", () => {
  it.each<[object, string]>([
    [{ onBroken: "blok" }, "HookFiles.load.onBroken: expected one of continue, block"],
    [{ scopes: ["users"] }, "hook-files.scopes[0]: expected one of managed, user, project"],
    [{ permissionMode: "planned" }, "claude.permissionMode: expected one of default, plan"],
    [{ run: 5 }, "HookFiles.load.run: expected a function"],
    [{ sources: [{ file: "x.json" }] }, "hook-files.sources: expected a system, { dialect, file } or { plugin }"],
    [{ sources: [{ plugin: 5 }] }, "hook-files.sources: expected a system, { dialect, file } or { plugin }"]
  ])("is an error that names it: %j", (options, message) => {
    const { cwd, home } = place()
    write(
      join(home, ".claude/settings.json"),
      JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command: "true" }] }] } })
    )
    assert.throws(() => HookFiles.load({ cwd, home, ...options }), message)
  })

  it("is a warning if it is the folder of a plugin that does not exist", () => {
    const { cwd, home } = place()
    const { warnings } = HookFiles.load({ cwd, home, sources: [{ plugin: "nowhere" }] })
    assert.deepStrictEqual(warnings, [{ file: join(cwd, "nowhere"), key: "", reason: "does not exist" }])
  })
})

describe("hookSource", () => {
  it("passes recipes and autoCompact to Kodelet", async () => {
    const { cwd, home } = place()
    write(join(home, ".kodelet/hooks/cb"), callback("handoff"))
    const source = HookFiles.source({
      home,
      sources: ["kodelet"],
      autoCompact: 0.8,
      recipes: { handoff: ({ args }) => `for ${args["who"]}` }
    })
    const { requests, warnings } = await run(cwd, [source])
    assert.deepEqual(warnings, [])
    assert.include(requests[1]!.messages.map(text).join(), "for ada")
    assert.throws(() => HookFiles.load({ home, cwd, sources: ["kodelet"], autoCompact: 7 }), /autoCompact/)
  })

  it("finds recipes of Kodelet in the folders of the project and of the user", async () => {
    for (const at of ["project", "user"]) {
      const { cwd, home, load } = place()
      write(join(home, ".kodelet/hooks/cb"), callback("handoff"))
      write(join(home, ".kodelet/recipes/handoff.md"), "---\nname: x\n---\nWrite for {{.who}}, user")
      if (at === "project") write(join(cwd, "recipes/handoff.md"), "Write for {{.who}}, project")
      const { requests, warnings } = await run(cwd, [HookFiles.source({ home, sources: ["kodelet"] })])
      assert.deepEqual(warnings, [])
      assert.strictEqual(requests[1]!.instructions, `Write for ada, ${at}`)
      assert.include(requests[2]!.messages.map(text).join(), "a handoff")
      assert.lengthOf(load({ sources: ["kodelet"] }).hooks, 1)
    }
  })

  it("writes transcripts for scripts to the folder of the user, to another, or nowhere", async () => {
    const { cwd, home, root } = place()
    const said = join(root, "said")
    const hooks = { Stop: [{ hooks: [{ type: "command", command: `cat > ${said}` }] }] }
    write(join(home, ".claude/settings.json"), JSON.stringify({ hooks }))
    const pathWith = async (options: object): Promise<unknown> => {
      await run(cwd, [HookFiles.source({ home, sources: ["claude"], ...options })])
      return JSON.parse(readFileSync(said, "utf8"))["transcript_path"]
    }
    assert.strictEqual(dirname(String(await pathWith({}))), join(home, ".belay/transcripts/claude"))
    assert.strictEqual(dirname(String(await pathWith({ transcripts: join(root, "own") }))), join(root, "own/claude"))
    assert.strictEqual(await pathWith({ transcripts: false }), "")
  })

  it("passes effectiveLimit to Base Coat", async () => {
    const { cwd, home, load, root } = place()
    const hooks = { SessionStart: [{ command: `cat > ${join(root, "said")}` }] }
    write(join(cwd, "hooks.json"), JSON.stringify({ version: 1, hooks }))
    load({ sources: ["basecoat"] }).untrusted[0]!.trust()
    const source = HookFiles.source({
      home,
      trust: join(home, "trust"),
      sources: ["basecoat"],
      effectiveLimit: 160_000
    })
    await run(cwd, [source])
    const said = JSON.parse(readFileSync(join(root, "said"), "utf8"))
    assert.deepEqual(said.budget, { usedTokens: 0, effectiveLimit: 160_000 })
  })
})
