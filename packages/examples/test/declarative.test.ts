import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const run = atEndpoint()

describe("the examples of hook files", () => {
  it("hook-files: a settings file guards an agent after it is trusted", async () => {
    assert.deepStrictEqual(await run("hook-files/hook-files.ts", {}, { asProcess: true }), [
      "trusting PreToolUse: echo 'pushing is for people' >&2; exit 2",
      "ran npm test",
      "pushing is for people"
    ])
  })

  it("base-coat-mcp: an mcp.json starts its own servers, and its hooks call their tools", async () => {
    assert.deepStrictEqual(await run("hook-files/base-coat-mcp.ts", {}, { asProcess: true }), [
      "trusting SessionStart: memory.load",
      "The tests need port 5433."
    ])
  })

  it("base-coat-hooks: the hooks.json of a repository loads a memory and blocks a tool", async () => {
    assert.deepStrictEqual(await run("hook-files/base-coat-hooks.ts"), [
      "trusting SessionStart: node memory.mjs",
      "trusting PreToolUse: node policy.mjs",
      "The tests need port 5433.",
      "deploying is for people"
    ])
  })

  it("kodelet-recipes: a recipe replaces the history by hand, and an executable learns the recipe of a turn", async () => {
    assert.deepStrictEqual(await run("hook-files/kodelet-recipes.ts"), [
      "compacted: true",
      "The tests need port 5433.",
      `user_message_send heard "Which port?" of the recipe intro`
    ])
  })

  // rows: E-06, E-07
  it("inkeep-packages: a stored hook imports a package, knows the tenant, and counts each call once", async () => {
    assert.deepStrictEqual(await run("hook-files/inkeep-packages.ts"), [
      "acme: 12.50 EUR, call 1",
      "acme: 12.50 EUR, call 2",
      "globex: 12.50 EUR, call 1",
      "globex: 12.50 EUR, call 2"
    ])
  })

  it("claude-settings: hooks, permissions and the front matter of a skill decide about calls", async () => {
    const lines = await run("hook-files/claude-settings.ts")
    assert.deepStrictEqual(lines.map((line) => line.replace(/ of \/.*/, "")), [
      "trusting PreToolUse of .claude/settings.json",
      "trusting PreToolUse of .claude/skills/deploy/SKILL.md",
      "loaded deploy",
      "ran npm test",
      "Bash is denied by the rule Bash(git push *)",
      "rm is for people",
      "the skill asks a person to deploy",
      `suspended: {"command":"npm publish --access public"}`
    ])
  })

  it("string-state: hooks share state under plain names, and limits hold for a tree", async () => {
    assert.deepStrictEqual(await run("agent/string-state.ts"), [
      "model calls of the tree: 5",
      "completed",
      "limited: steps"
    ])
  })
})
