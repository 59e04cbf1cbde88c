/** Hooks of Factory's Droid: the files as projects have them, in agents that run. */
import { text } from "@belay/core/Message"
import * as Discovery from "@belay/hook-files/Discovery"
import * as Factory from "@belay/hook-files/Factory"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { folder, write } from "../../support/processes.ts"
import { type Files, judge, start, type Step } from "../../support/publicFiles.ts"

const group = (command: string, matcher?: string) => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [{ type: "command", command }]
})
const settings = (hooks: object) => JSON.stringify({ hooks })

describe("files of Droid", () => {
  it("are hooks.json, with the events at the top or in hooks, or settings.json without it", () => {
    const root = folder()
    const [cwd, home] = [join(root, "p"), join(root, "home")]
    const find = () =>
      Discovery.find({ cwd, home, sources: ["factory"] }).sources.map(({ config, path, scope }) => [
        scope,
        path.slice(root.length),
        config.handlers.length
      ])
    write(join(cwd, ".factory/settings.json"), settings({ Stop: [group("a")] }))
    write(join(cwd, ".factory/settings.local.json"), settings({ Stop: [group("b")] }))
    write(join(home, ".factory/hooks.json"), JSON.stringify({ Stop: [group("c")], PreToolUse: [group("d")] }))
    assert.deepEqual(find(), [
      ["user", "/home/.factory/hooks.json", 2],
      ["project", "/p/.factory/settings.json", 1],
      ["local", "/p/.factory/settings.local.json", 1]
    ])
    write(join(cwd, ".factory/hooks/hooks.json"), settings({ Stop: [group("e"), group("f")] }))
    assert.deepEqual(find()[1], ["project", "/p/.factory/hooks/hooks.json", 2])
  })

  it("are read as far as they are right, with a warning for each mistake", () => {
    const { handlers, warnings } = Factory.decode(
      JSON.stringify({
        hooks: {
          PermissionRequest: [group("x")],
          PreToolUse: [{
            hooks: [{ type: "prompt", prompt: "ok?" }, {
              type: "command",
              command: "y",
              async: true,
              once: true,
              if: "Bash(ls)"
            }]
          }]
        }
      }),
      "f"
    )
    assert.deepEqual(warnings.map(({ key, reason }) => `${key}: ${reason.split(";")[0]}`), [
      "hooks.PermissionRequest: unknown event",
      "hooks.PreToolUse[0].hooks[0].type: expected \"command\", so this one never runs"
    ])
    assert.deepEqual(handlers.map(({ async, once, rule, work }) => [work, async, once, rule]), [[
      {
        type: "command",
        command: "y"
      },
      undefined,
      undefined,
      undefined
    ]])
    assert.match(Factory.decode("{", "f").warnings[0]!.reason, /is not JSON/)
  })
})

const cases: ReadonlyArray<readonly [what: string, files: Files, steps: ReadonlyArray<Step>]> = [
  [
    "a guard in python that reads the fields of both spellings",
    {
      ".factory/settings.json": settings({
        PreToolUse: [group("python3 \"$FACTORY_PROJECT_DIR\"/.factory/hooks/guard.py", "Execute")]
      }),
      ".factory/hooks/guard.py": [
        "import json, sys",
        "e = json.load(sys.stdin)",
        "assert e['sessionId'] == e['session_id'] and e['hookEventName'] == e['hook_event_name'] == 'PreToolUse'",
        "assert e['permissionMode'] == 'off' and e['tool_name'] == 'Execute'",
        "if 'rm -rf' in e['tool_input']['command']:",
        "    print('never', file=sys.stderr)",
        "    sys.exit(2)"
      ].join("\n")
    },
    [["bash", { command: "rm -rf /" }, /^never$/], ["bash", { command: "ls" }, "runs"], ["edit", { path: "a" }, "runs"]]
  ],
  [
    "matchers with the names of Claude Code and with patterns",
    {
      ".factory/hooks.json": settings({
        PreToolUse: [group("echo by Bash >&2; exit 2", "Bash"), group("echo by Create >&2; exit 2", "^Create$|mcp__.*")]
      })
    },
    [
      ["bash", { command: "ls" }, /^by Bash$/],
      ["write_file", { path: "a", content: "x" }, /^by Create$/],
      ["mcp__tracker__delete", {}, /^by Create$/],
      ["read_file", { path: "a" }, "runs"]
    ]
  ],
  [
    "answers in JSON",
    {
      ".factory/hooks.json": settings({
        PreToolUse: [group(
          "jq -c '{hookSpecificOutput: {hookEventName: \"PreToolUse\", permissionDecision: \"allow\", updatedInput: {command: (\"nice \" + .tool_input.command)}}}'",
          "Execute"
        )]
      })
    },
    [["bash", { command: "make" }, { with: { command: "nice make" } }]]
  ]
]

describe("hooks of Droid in projects", () => {
  it.each(cases)("%s", async (_what, files, steps) => void (await judge("factory", files, steps)))

  it("add context, keep the agent going, and have 60 seconds", async () => {
    const world = start("factory", {
      ".factory/hooks.json": settings({
        UserPromptSubmit: [group("echo the branch is main")],
        Stop: [group("[ $(jq .stopHookActive) = true ] || { echo again >&2; exit 2; }")],
        PreCompact: [group("echo no >&2; exit 2")]
      })
    }, [{ text: "one" }, { text: "two" }])
    const { text: last } = await world.agent.run("go")
    await world.agent.close()
    assert.strictEqual(last, "two")
    const said = (index: number) => world.requests[index]!.messages.map(text).join("\n")
    assert.include(said(0), "the branch is main")
    assert.include(said(1), "again")
  })
})
