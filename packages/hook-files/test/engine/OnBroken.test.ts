/** What an entry means that broke or took too long, where the host wants it to block. */
import type { RuntimePolicy } from "@belay/core/RuntimePolicy"
import { unrestricted } from "@belay/core/Tool"
import type { Dialect } from "@belay/hook-files/Discovery"
import { assert, describe, it } from "@effect/vitest"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { calls } from "../../../../test/support/agent.ts"
import { type Files, said, start } from "../support/publicFiles.ts"

const executable = (type: string, body: string) =>
  `#!/bin/bash\nif [ "$1" = hook ]; then echo ${type}; exit; fi\n${body}\n`
const gemini = (event: string, command: string, more: object = {}) => ({
  ".gemini/settings.json": { hooks: { [event]: [{ hooks: [{ type: "command", command, ...more }] }] } }
})
const copilot = (event: string, entry: object) => ({
  ".github/hooks/a.json": { version: 1, hooks: { [event]: [entry] } }
})
const coat = (entry: object) => ({ "hooks.json": { version: 1, hooks: { PreToolUse: [entry] } } })
const kodelet = (type: string, body: string) => ({ ".kodelet/hooks/guard": executable(type, body) })
const slow = "exec sleep 3631.5"

const toolCalls: ReadonlyArray<readonly [what: string, dialect: Dialect, files: Files, reason: RegExp]> = [
  [
    "Gemini CLI, that took too long",
    "gemini",
    gemini("BeforeTool", slow, { timeout: 300 }),
    /a hook broke: it took too long/
  ],
  [
    "Gemini CLI, that ended with 1",
    "gemini",
    gemini("BeforeTool", "echo Traceback >&2; exit 1"),
    /a hook broke: it ended with 1: Traceback/
  ],
  ["Gemini CLI, that was killed", "gemini", gemini("BeforeTool", "kill -9 $$"), /a hook broke: it was killed/],
  [
    "Kodelet, that broke",
    "kodelet",
    kodelet("before_tool_call", "echo no such table >&2; exit 1"),
    /a hook broke: it ended with 1: no such/
  ],
  [
    "Kodelet, that wrote no JSON",
    "kodelet",
    kodelet("before_tool_call", "echo fine"),
    /a hook broke: it wrote output that is not JSON/
  ],
  ["Base Coat, that broke", "basecoat", coat({ command: "exit 4" }), /a hook broke: it ended with 4/],
  [
    "Base Coat, that took too long",
    "basecoat",
    coat({ command: slow, timeout: 0.3, kind: "policy" }),
    /a hook broke: it took too long/
  ],
  [
    "Copilot, that took too long",
    "copilot",
    copilot("preToolUse", { bash: slow, timeoutSec: 0.3 }),
    /a hook broke: it took too long/
  ],
  ["Copilot, whose server is not there", "copilot", {
    "README.md": "",
    "~/.copilot/hooks/a.json": { version: 1, hooks: { preToolUse: [{ type: "http", url: "https://127.0.0.1:1/x" }] } }
  }, /a hook broke: it /]
]

describe("an entry that broke", () => {
  it.each(toolCalls)(
    "of %s is a warning, and with `onBroken` refuses the call",
    async (_what, dialect, files, reason) => {
      for (const onBroken of ["continue", "block"] as const) {
        const { agent: made, did, heard } = start(dialect, files, [calls(["bash", { command: "ls" }])], {
          options: { onBroken }
        })
        await using agent = made
        const { messages } = await agent.run("go")
        assert.isNotEmpty(heard.warnings)
        if (onBroken === "continue") assert.lengthOf(did, 1)
        else {
          assert.deepEqual(did, [])
          assert.match(said(messages)[0]!, reason)
        }
      }
    }
  )

  const prompts: ReadonlyArray<readonly [dialect: Dialect, files: Files]> = [
    ["gemini", gemini("BeforeAgent", "exit 1")],
    ["kodelet", kodelet("user_message_send", "exit 1")],
    // Nobody knows what it would have guarded.
    ["kodelet", { ".kodelet/hooks/guard": "#!/bin/bash\nexit 1\n" }],
    ["copilot", copilot("userPromptSubmitted", { bash: "exit 1" })],
    ["copilot", copilot("userPromptTransformed", { bash: slow, timeoutSec: 0.3 })]
  ]
  it.each(prompts)("of %s refuses a prompt with `onBroken`", async (dialect, files) => {
    for (const onBroken of ["continue", "block"] as const) {
      const { agent: made, requests } = start(dialect, files, [], { options: { onBroken } })
      await using agent = made
      const ended = await agent.run("go").then(({ status }) => status, String)
      assert.match(ended, onBroken === "block" ? /a hook broke: .*(?:ended with 1|took too long)/ : /^completed$/)
      assert.lengthOf(requests, onBroken === "block" ? 0 : 1)
    }
  })

  it("refuses a permission with `onBroken`, also where a later one allows it", async () => {
    const policy: RuntimePolicy = { check: () => ({ type: "ask", reason: "?", grant: unrestricted }) }
    const permissionRequest = [{ bash: "exit 7" }, { bash: `echo '{"behavior":"allow"}'` }]
    const files = { "README.md": "", "~/.copilot/hooks/a.json": { version: 1, hooks: { permissionRequest } } }
    for (const onBroken of ["continue", "block"] as const) {
      const { agent: made, did } = start("copilot", files, [calls(["bash", { command: "ls" }])], {
        policy,
        options: { onBroken }
      })
      await using agent = made
      const { messages } = await agent.run("go")
      assert.lengthOf(did, onBroken === "block" ? 0 : 1)
      if (onBroken === "block") assert.match(said(messages)[0]!, /a hook broke: it ended with 7/)
    }
  })

  it("does not block where it may not, or where nothing could be blocked", async () => {
    const cases: ReadonlyArray<readonly [Dialect, Files]> = [
      ["basecoat", coat({ command: "exit 4", kind: "advisory" })],
      ["basecoat", coat({ command: "exit 4", kind: "telemetry" })],
      ["gemini", gemini("AfterTool", "exit 1")],
      ["gemini", gemini("BeforeTool", "echo '{}'; exit 1")],
      ["kodelet", kodelet("after_tool_call", "exit 1")],
      ["kodelet", { ".kodelet/hooks/lib.sh": "#!/bin/bash\necho helpers\n" }],
      ["copilot", copilot("postToolUse", { bash: "exit 1" })]
    ]
    for (const [dialect, files] of cases) {
      const { agent: made, did, heard } = start(dialect, files, [calls(["bash", { command: "ls" }])], {
        options: { onBroken: "block" }
      })
      await using agent = made
      assert.strictEqual((await agent.run("go")).status, "completed")
      assert.lengthOf(did, 1)
      assert.isNotEmpty(heard.warnings, JSON.stringify(files))
    }
  })

  const changed: ReadonlyArray<readonly [Dialect, Files, guard: string]> = [
    ["gemini", { ...gemini("BeforeTool", "./guard.sh"), "guard.sh": "#!/bin/bash\nexit 0\n" }, "guard.sh"],
    ["kodelet", kodelet("before_tool_call", "exit 0"), ".kodelet/hooks/guard"],
    ["basecoat", { ...coat({ command: "./guard.sh" }), "guard.sh": "#!/bin/bash\nexit 0\n" }, "guard.sh"],
    ["copilot", { ...copilot("preToolUse", { bash: "./guard.sh" }), "guard.sh": "#!/bin/bash\nexit 0\n" }, "guard.sh"]
  ]
  it.each(changed)(
    "of %s whose files changed since they were trusted refuses the call with `onBroken`",
    async (dialect, files, guard) => {
      const { agent: made, cwd, did } = start(
        dialect,
        files,
        [calls(["bash", { command: "ls" }]), {}, calls(["bash", { command: "ls" }])],
        {
          options: { onBroken: "block" }
        }
      )
      await using agent = made
      const session = await agent.session()
      await session.run("go")
      assert.lengthOf(did, 1)
      appendFileSync(join(cwd, guard), "# changed\n")
      const { messages } = await session.run("go on")
      assert.lengthOf(did, 1)
      assert.match(said(messages).at(-1)!, /was not run: .*changed since they were trusted/)
    }
  )
})
