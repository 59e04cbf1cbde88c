import * as HookConfig from "@belay/hook-files/HookConfig"
import * as Condition from "@belay/hooks/Condition"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

const command = (more: object = {}) => ({ type: "command", command: "./x.sh", ...more })

const decode = (hooks: unknown, more: object = {}) => HookConfig.decode(JSON.stringify({ hooks, ...more }), "s.json")

/** Events as every settings file may name them. */
const documented =
  `SessionStart SessionEnd Setup UserPromptSubmit Stop StopFailure PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied
   PreCompact PostCompact SubagentStart SubagentStop TeammateIdle TaskCreated TaskCompleted Notification Elicitation ElicitationResult
   ConfigChange InstructionsLoaded CwdChanged FileChanged WorktreeCreate WorktreeRemove
   UserPromptExpansion PostToolBatch DirectoryAdded MessageDisplay PreModelSwitch PostModelSwitch`.split(/\s+/)

describe("HookConfig", () => {
  // rows: C-01
  it("reads handlers in the order of the file, and says where each stands", () => {
    const { handlers, warnings } = decode({
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [
            command({ timeout: 10, if: "Bash(git push*)" }),
            command({ command: "node", args: ["a.js"], once: true })
          ]
        },
        { hooks: [command({ async: true, statusMessage: "…" })] }
      ],
      Stop: [{ hooks: [command()] }]
    })
    assert.deepEqual(warnings, [])
    assert.deepEqual(handlers.map(({ event, key }) => [event, key]), [
      ["PreToolUse", "hooks.PreToolUse[0].hooks[0]"],
      ["PreToolUse", "hooks.PreToolUse[0].hooks[1]"],
      ["PreToolUse", "hooks.PreToolUse[1].hooks[0]"],
      ["Stop", "hooks.Stop[0].hooks[0]"]
    ])
    assert.strictEqual(handlers[0]!.timeout, 10)
    assert.deepEqual(handlers[1]!.work, { type: "command", command: "node", args: ["a.js"] })
    assert.isTrue(handlers[0]!.matcher.test("Bash"))
    assert.isFalse(handlers[0]!.matcher.test("Edit"))
  })

  for (const event of documented) {
    // rows: C-03
    it(`knows ${event}`, () => {
      const { handlers, warnings } = decode({ [event]: [{ hooks: [command()] }] })
      assert.deepEqual(warnings, [])
      assert.strictEqual(handlers[0]?.event, event)
    })
  }

  it("names file, key and reason of what is malformed, and takes the rest", () => {
    const { handlers, warnings } = decode({
      PreToolUs: [{ hooks: [command()] }],
      Whatever: [],
      PostToolUse: "x",
      Stop: [
        5,
        { matcher: 7, hooks: [command()] },
        { hooks: "x" },
        {
          hooks: [
            null,
            { type: "command" },
            { type: "shout", command: "x" },
            command({ timeout: 0 }),
            command({ timeout: "10" })
          ]
        },
        {
          hooks: [
            command({ args: "a b" }),
            command({ shell: "powershell" }),
            command({ command: "x ${user_config.key}" })
          ]
        },
        {
          hooks: [{ type: "http", url: "http://localhost:9" }, { type: "prompt", prompt: "?" }, { type: "agent" }, {
            type: "mcp_tool"
          }]
        },
        { hooks: [command({ command: "./last.sh" })] }
      ]
    })
    assert.deepEqual(handlers.map(({ work }) => work), [
      { type: "command", command: "./x.sh", shell: "powershell" },
      { type: "http", url: "http://localhost:9" },
      { type: "prompt", prompt: "?" },
      { type: "command", command: "./last.sh" }
    ])
    const lines = warnings.map(HookConfig.show)
    const expected = [
      /^s\.json: hooks\.PreToolUs: unknown event; did you mean PreToolUse\?$/,
      /^s\.json: hooks\.Whatever: unknown event; events are SessionStart/,
      /^s\.json: hooks\.PostToolUse: expected a list of groups$/,
      /^s\.json: hooks\.Stop\[0\]: expected an object/,
      /^s\.json: hooks\.Stop\[1\]\.matcher: expected a string/,
      /^s\.json: hooks\.Stop\[2\]\.hooks: expected a list/,
      /^s\.json: hooks\.Stop\[3\]\.hooks\[0\]: expected an object/,
      /^s\.json: hooks\.Stop\[3\]\.hooks\[1\]: .*command/,
      /^s\.json: hooks\.Stop\[3\]\.hooks\[2\]\.type: expected one of command, http, mcp_tool, prompt, agent/,
      /^s\.json: hooks\.Stop\[3\]\.hooks\[3\]: .*timeout/,
      /^s\.json: hooks\.Stop\[3\]\.hooks\[4\]: .*timeout/,
      /^s\.json: hooks\.Stop\[4\]\.hooks\[0\]: .*args/,
      /^s\.json: hooks\.Stop\[4\]\.hooks\[2\]\.command: \$\{user_config\.… has no value here/,
      /^s\.json: hooks\.Stop\[5\]\.hooks\[2\]: .*prompt/,
      /^s\.json: hooks\.Stop\[5\]\.hooks\[3\]: .*server/
    ]
    assert.lengthOf(lines, expected.length)
    for (const [index, pattern] of expected.entries()) assert.match(lines[index]!, pattern)
  })

  it("knows what was meant by a key", () => {
    const { warnings } = decode({ Stop: [{ hooks: [{ type: "command", comand: "x" }] }] })
    assert.match(warnings[0]!.reason, /Missing key.*did you mean command\?/)
  })

  it("says which types do not run at an event", () => {
    const prompt = { type: "prompt", prompt: "?" }
    const http = { type: "http", url: "https://example.com" }
    const { handlers, warnings } = decode({
      SessionStart: [{ hooks: [prompt, http] }],
      Notification: [{ hooks: [prompt, http] }]
    })
    assert.deepEqual(handlers.map(({ event, work }) => [event, work.type]), [["Notification", "http"]])
    assert.deepEqual(warnings.map(HookConfig.show), [
      "s.json: hooks.SessionStart[0].hooks[0].type: hooks of type prompt do not run at SessionStart; expected one of command, mcp_tool",
      "s.json: hooks.SessionStart[0].hooks[1].type: hooks of type http do not run at SessionStart; expected one of command, mcp_tool",
      "s.json: hooks.Notification[0].hooks[0].type: hooks of type prompt do not run at Notification; expected one of command, http, mcp_tool"
    ])
  })

  it("takes names of prototypes for names", () => {
    const text =
      `{"hooks":{"__proto__":[{"hooks":[]}],"constructor":[],"toString":{},"Stop":[{"hooks":[{"type":"__proto__"},{"type":"toString"}]}]}}`
    const { handlers, warnings } = HookConfig.decode(text, "s.json")
    assert.deepEqual(handlers, [])
    assert.deepEqual(warnings.map(({ key }) => key), [
      "hooks.__proto__",
      "hooks.constructor",
      "hooks.toString",
      "hooks.Stop[0].hooks[0].type",
      "hooks.Stop[0].hooks[1].type"
    ])
  })

  it("has one warning for a file that is not a JSON object", () => {
    for (const text of ["[]", "null", "5", `"x"`]) {
      assert.deepEqual(HookConfig.decode(text, "s.json").warnings.map(HookConfig.show), [
        "s.json: is not a JSON object"
      ], text)
    }
    const broken: ReadonlyArray<readonly [text: string, why: string]> = [
      ["", "value expected at line 1, column 1"],
      ["{", "close brace expected at line 1, column 2"],
      ["\0\u0001", "invalid symbol at line 1, column 1"],
      ["\uFEFF{\r\n  \"hooks\": {\r\n  },\r\n}", "property name expected at line 4, column 1"],
      ["{\n  // a comment\n}", "invalid comment token at line 2, column 3"],
      ["{\n  \"hooks\" {}\n}", "colon expected at line 2, column 11"],
      ["{} {}", "end of file expected at line 1, column 4"]
    ]
    for (const [text, why] of broken) {
      assert.deepEqual(
        HookConfig.decode(text, "s.json").warnings.map(HookConfig.show),
        [`s.json: is not JSON: ${why}`],
        text
      )
    }
    assert.lengthOf(HookConfig.decode("[".repeat(200_000), "s.json").warnings, 1)
    assert.deepEqual(HookConfig.decode("\uFEFF{}", "s.json").warnings, [])
  })

  it.prop("survives any JSON", [Schema.Json], ([json]) => {
    for (const text of [json, { hooks: json }, { hooks: { Stop: json } }, { hooks: { Stop: [{ hooks: [json] }] } }]) {
      const { handlers } = HookConfig.decode(JSON.stringify(text), "s.json")
      assert.isTrue(
        handlers.every(({ work }) => ["command", "http", "mcp_tool", "prompt", "agent"].includes(work.type))
      )
    }
  })

  // rows: C-46
  it("never runs a hook whose `if` is not a rule, or stands where it does not count, and warns", () => {
    const { handlers, warnings } = decode({
      PreToolUse: [{ hooks: [command({ if: "Bash(" })] }],
      Stop: [{ hooks: [command({ if: "Bash(git *)" })] }]
    })
    assert.deepEqual(handlers.map(({ rule }) => rule), ["never", "never"])
    assert.deepEqual(warnings.map(({ key }) => key), ["hooks.PreToolUse[0].hooks[0].if", "hooks.Stop[0].hooks[0].if"])
    assert.match(warnings[0]!.reason, /^"Bash\(" is not a rule.*, so the hook never runs$/)
    assert.match(warnings[1]!.reason, /so the hook never runs at Stop/)
  })

  it("reads disableAllHooks", () => {
    assert.isTrue(decode({}, { disableAllHooks: true }).disableAllHooks)
    assert.isFalse(decode({}).disableAllHooks)
    assert.match(decode({}, { disableAllHooks: "yes" }).warnings[0]!.reason, /expected true or false/)
  })

  // rows: C-12, C-13
  describe("reads `if` as", () => {
    const paths: ReadonlyArray<
      readonly [rule: string, tool: string, args: { readonly [key: string]: string | boolean }, hit: boolean]
    > = [
      ["Write(src/**/*.ts)", "Write", { file_path: "/p/src/a.ts" }, true],
      ["Write(src/**/*.ts)", "Write", { file_path: "/p/src/x/y.ts" }, true],
      ["Write(src/**/*.ts)", "Write", { file_path: "/p/lib/src/a.ts" }, false],
      ["Write(src/**/*.ts)", "Write", { file_path: "/p/src/a.js" }, false],
      ["Write(src/**/*.ts)", "Write", { file_path: "/q/src/a.ts" }, false],
      ["Edit(*.ts)", "Edit", { file_path: "/p/a.ts" }, true],
      ["Edit(*.ts)", "Edit", { file_path: "/p/x/y/a.ts" }, true],
      ["Edit(src/**)", "Edit", { file_path: "/p/src/a" }, true],
      ["Edit(src/**)", "Edit", { file_path: "/p/v/src/a" }, false],
      ["Edit(**/src/**)", "Edit", { file_path: "/p/v/src/a" }, true],
      ["Read(~/.zshrc)", "Read", { file_path: "/h/ada/.zshrc" }, true],
      ["Read(//etc/**)", "Read", { file_path: "/etc/passwd" }, true],
      ["Edit(/docs/**)", "Edit", { file_path: "/p/sub/docs/a.md" }, true],
      ["Edit(/docs/**)", "Edit", { file_path: "/p/docs/a.md" }, false],
      ["Write(.env*)", "Write", { file_path: "/p/.env.local" }, true],
      ["WebFetch(domain:*.example.com)", "WebFetch", { url: "https://a.b.example.com/x" }, true],
      ["WebFetch(domain:*.example.com)", "WebFetch", { url: "https://example.com/x" }, false],
      ["mcp__s", "mcp__s__t", {}, true],
      ["mcp__s__*", "mcp__s__t", {}, true],
      ["mcp__s__t", "mcp__s__t", {}, true],
      ["Agent(Explore)", "Agent", { subagent_type: "Explore" }, true],
      ["Agent(model:opus)", "Agent", { model: "opus" }, true],
      ["Bash(run_in_background:true)", "Bash", { command: "ls", run_in_background: true }, true],
      ["Bash(rm *)", "Bash", { command: "echo $(rm -rf /)" }, true],
      ["Bash(rm *)", "Bash", { command: "echo $(date)" }, false],
      ["Bash(git push *)", "Bash", { command: "git pushx" }, false],
      ["Bash(git push*)", "Bash", { command: "npm t && git push" }, true],
      ["Bash(git push*)", "Bash", { command: "echo 'unclosed" }, true]
    ]
    for (const [rule, tool, args, hit] of paths) {
      it(`${rule}: ${hit ? "runs" : "does not run"} at ${tool} ${JSON.stringify(args)}`, () => {
        const text = JSON.stringify({ hooks: { PreToolUse: [{ hooks: [command({ if: rule })] }] } })
        const { handlers, warnings } = HookConfig.decode(text, "s.json", { folder: "/p/sub" })
        assert.deepEqual(warnings, [])
        const compiled = handlers[0]!.rule
        if (compiled === undefined || compiled === "never") return assert.fail("expected a rule")
        const verdict = Condition.evaluate(compiled, { tool, args }, {
          cwd: "/p",
          home: "/h/ada",
          use: "advice",
          realpath: () => undefined
        })
        assert.strictEqual(verdict !== "no-match", hit, verdict)
      })
    }
  })
})
