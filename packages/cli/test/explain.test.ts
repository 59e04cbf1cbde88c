import * as Discovery from "@belay/hook-files/Discovery"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as Matcher from "@belay/hook-files/Matcher"
import * as Outcome from "@belay/hook-files/Outcome"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { page } from "../src/internal/files/explain.ts"
import { guideOf, guides } from "../src/internal/guides.ts"

const claude = guideOf("claude")!
import { isBlocked } from "../src/internal/trial/decide.ts"
import * as Trial from "../src/internal/trial/trial.ts"
import { world } from "./belay.ts"

const isEvent = (name: string): name is HookConfig.EventName =>
  HookConfig.fromValue({ hooks: { [name]: [] } }, "settings.json").warnings.length === 0

describe("belay hooks explain", () => {
  it("explains an event in every system that has it, with an example", async () => {
    const { hooks, json } = world()
    const { code, stdout } = await hooks("explain", "PreToolUse")
    assert.strictEqual(code, 0)
    for (
      const part of [
        "PreToolUse  Claude Code",
        "PreToolUse  Codex",
        "BeforeTool  Gemini CLI",
        "before_tool_call  Kodelet",
        "preToolCall",
        "permissionDecision",
        "exit(2)"
      ]
    ) {
      assert.include(stdout, part)
    }
    const { value } = await json("explain", "BeforeTool", "--source", "gemini")
    assert.deepEqual(value.map(({ name, point }: { readonly name: string; readonly point: string }) => [name, point]), [
      [
        "BeforeTool",
        "preToolCall"
      ]
    ])
    const index = await hooks("explain")
    for (const { name } of claude.events) assert.include(index.stdout, name)
  })

  it("promises only input and answers that work", async () => {
    const { json } = world()
    const { value: selection } = await json("explain", "BeforeToolSelection", "--source", "gemini")
    const { value: starts } = await json("explain", "SessionStart", "--source", "gemini")
    const answersOf = (name: string) =>
      Object.keys([...selection, ...starts].find((event: { readonly name: string }) => event.name === name).answers)
    assert.deepEqual(answersOf("BeforeToolSelection"), ["hookSpecificOutput.toolConfig"])
    assert.deepEqual(answersOf("SessionStart"), ["hookSpecificOutput.additionalContext", "systemMessage"])
    assert.include(answersOf("BeforeModel"), "continue: false, stopReason")
    const { value: [copilot] } = await json("explain", "sessionStart", "--source", "copilot")
    assert.notInclude(copilot.input, "initialPrompt")
  })

  it("has a page with every event of every system", () => {
    const text = page()
    for (const { events, name } of guides) {
      const [, section = ""] = new RegExp(`^## ${name}$([\\s\\S]*?)(?:^## |$(?![\\s\\S]))`, "m").exec(text) ?? []
      for (const { name: event } of events) assert.include(section, `| \`${event}\` |`, name)
    }
  })

  it("has data that agree with how Claude Code's files are read", () => {
    for (const { matcher, name, two } of claude.events) {
      if (!isEvent(name)) return assert.fail(`${name} is no event`)
      const isHeld = !Matcher.compile("no-such-value", name).test("agrees with the other systems")
      assert.strictEqual(isHeld, matcher !== undefined, `${name}: matcher`)
      const ended = { exitCode: 2, stdout: "", stderr: "no", timedOut: false, overflowed: false, durationMs: 1 }
      const blocks = Outcome.read(ended, name).outcome === "blocking"
      assert.strictEqual(
        blocks,
        !/^(?:blocks nothing|the model reads standard error$)/.test(two),
        `${name}: exit code 2`
      )
    }
    const known = claude.events.map(({ name }) => name)
    const warned = HookConfig.fromValue({ hooks: { Xyzzyplugh: [] } }, "settings.json").warnings[0]!.reason
    // The list in the warning is cut at its end.
    for (const name of warned.replace(/^.*events are /, "").split(", ").slice(0, -1)) assert.include(known, name)
  })

  it("has examples that load without a warning", () => {
    const paths = new Map([
      ["claude", "home/.claude/settings.json"],
      ["codex", "home/.codex/hooks.json"],
      ["copilot", "home/.copilot/hooks/a.json"],
      ["gemini", "home/.gemini/settings.json"],
      ["basecoat", "project/hooks.json"]
    ])
    for (const { dialect, events, example } of guides) {
      const path = paths.get(dialect)
      if (path === undefined) continue
      for (const event of events) {
        const { cwd, home } = world({ [path]: example(event) })
        const { sources, warnings } = Discovery.find({ cwd, home, managed: cwd, sources: [dialect] })
        assert.deepEqual([dialect, event.name, warnings], [dialect, event.name, []])
        assert.strictEqual(sources.flatMap(({ config }) => config.handlers).length, 1, `${dialect} ${event.name}`)
      }
    }
  })

  it("has data about exit code 2 that agree with every system", async () => {
    const no = "echo no >&2; exit 2"
    const paths = new Map([["codex", "home/.codex/hooks.json"], ["copilot", "home/.copilot/hooks/a.json"], [
      "gemini",
      "home/.gemini/settings.json"
    ], ["basecoat", "project/hooks.json"]])
    for (const { dialect, events } of guides) {
      const path = paths.get(dialect)
      if (path === undefined) continue
      for (const { name, occasion, two } of events) {
        const groups = dialect === "copilot"
          ? [{ bash: no }]
          : dialect === "basecoat"
          ? [{ command: no }]
          : [{ hooks: [{ type: "command", command: no }] }]
        const { cwd, home, managed } = world({
          // Codex runs nothing of a file with a key that it does not know.
          [path]: { ...(dialect === "codex" ? {} : { version: 1 }), hooks: { [name]: groups } }
        })
        const where = { cwd, home, managed, dialects: [dialect], files: [], plugins: [], off: false, systems: [] }
        const facts = {
          event: name,
          occasion,
          input: {},
          payload: {},
          tool: name === "preMcpToolCall" ? "mcp__a__b" : "Bash"
        }
        const trial = await Effect.runPromise(Trial.run({ where, facts, trustOnce: true }))
        assert.deepEqual(trial.runs.map(({ matched }) => matched), [true], `${dialect} ${name}`)
        const blocks = isBlocked(trial) || trial.output !== undefined
        assert.strictEqual(
          blocks,
          /refused|denied|denies|fails|continues|skipped|the model reads/.test(two),
          `${dialect} ${name}: ${trial.decision}`
        )
      }
    }
  })
})
