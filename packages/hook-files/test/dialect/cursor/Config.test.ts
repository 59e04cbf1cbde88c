import * as Cursor from "@belay/hook-files/Cursor"
import * as Discovery from "@belay/hook-files/Discovery"
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { folder, write } from "../../support/processes.ts"

const read = (hooks: object, more: object = { version: 1 }) => {
  const { handlers, warnings } = Cursor.decode(JSON.stringify({ ...more, hooks }), "h")
  return { handlers, warnings: warnings.map(({ key, reason }) => `${key}: ${reason}`) }
}

describe("hooks.json of Cursor", () => {
  it("has commands and prompts with their limits", () => {
    const { handlers, warnings } = read({
      stop: [{ command: "a" }, { command: "b", timeout: 1.5, loop_limit: 2, failClosed: true, matcher: "Stop" }],
      subagentStop: [{ command: "c", loop_limit: null }],
      beforeShellExecution: [{ type: "prompt", prompt: "safe? $ARGUMENTS", model: "small" }]
    }, {})
    assert.deepEqual(warnings, [])
    assert.deepEqual(
      handlers.map(({ failClosed, key, loopLimit, timeoutMs, work }) => [key, work, timeoutMs, loopLimit, failClosed]),
      [
        ["hooks.stop[0]", { type: "command", command: "a" }, 60_000, 5, false],
        ["hooks.stop[1]", { type: "command", command: "b" }, 1_500, 2, true],
        ["hooks.subagentStop[0]", { type: "command", command: "c" }, 60_000, undefined, false],
        [
          "hooks.beforeShellExecution[0]",
          { type: "prompt", prompt: "safe? $ARGUMENTS", model: "small" },
          60_000,
          5,
          false
        ]
      ]
    )
  })

  it("is read as far as it is right, with a warning for each mistake", () => {
    const { handlers, warnings } = read({
      beforeShelExecution: [],
      stop: {},
      preToolUse: [7, { comand: "x" }, { command: " " }, { type: "http", url: "x" }, { command: "ok", matcher: ["x"] }],
      beforeReadFile: [{ command: "ok", timeout: -1, loop_limit: 1.5, failClosed: "yes", matcher: "(?=x)" }],
      afterFileEdit: [{ command: "ok", matcher: "(" }]
    }, { version: 2 })
    assert.lengthOf(handlers, 3)
    assert.deepEqual(warnings, [
      "version: expected 1",
      "hooks.beforeShelExecution: unknown event; did you mean beforeShellExecution?",
      "hooks.stop: expected a list of hooks",
      "hooks.preToolUse[0]: expected an object with a command",
      "hooks.preToolUse[1].command: expected a shell command",
      "hooks.preToolUse[2].command: expected a shell command",
      "hooks.preToolUse[3].type: expected \"command\" or \"prompt\", so this one never runs",
      "hooks.preToolUse[4].matcher: expected a text, so it matches everything",
      "hooks.beforeReadFile[0].failClosed: expected true or false",
      "hooks.beforeReadFile[0].timeout: expected a number of seconds above 0",
      "hooks.beforeReadFile[0].loop_limit: expected a whole number or null",
      "hooks.beforeReadFile[0].matcher: \"(?=x)\" is not a pattern that RE2 can read (backreferences, most lookaround), so it matches everything",
      "hooks.afterFileEdit[0].matcher: \"(\" is not a valid pattern, so it matches everything"
    ])
    assert.match(Cursor.decode("{ \"hooks\": ", "h").warnings[0]!.reason, /is not JSON: .* at line 1/)
    assert.deepEqual(Cursor.decode("// a comment\n{}", "h").warnings, [])
  })

  it("exists for the machine, the project and the user, whose commands run in different folders", () => {
    const root = folder()
    const [cwd, home, managed] = [join(root, "p"), join(root, "home"), join(root, "managed")]
    const text = JSON.stringify({ version: 1, hooks: { stop: [{ command: "x" }] } })
    write(join(cwd, ".cursor/hooks.json"), text)
    write(join(home, ".cursor/hooks.json"), text)
    write(join(managed, "cursor/hooks.json"), text)
    const { sources } = Discovery.find({ cwd, home, managed, sources: ["cursor"] })
    assert.deepEqual(sources.map(({ config, scope }) => [scope, config.handlers[0]!.cwd]), [
      ["managed", join(managed, "cursor")],
      ["project", undefined],
      ["user", join(home, ".cursor")]
    ])
    const atHome = Discovery.find({ cwd: home, home, managed, sources: ["cursor"] }).sources
    assert.deepEqual(atHome.map(({ ofProject, scope }) => [scope, ofProject]), [["managed", false], ["user", true]])
  })
})
