import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
import * as Gemini from "@belay/hook-files/Gemini"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as Windsurf from "@belay/hook-files/Windsurf"
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../../test/support/agent.ts"
import { folder } from "../support/processes.ts"

/** Runs a turn with one call of the shell, and returns the lines of its transcript. */
const transcriptOf = async (make: (transcripts: string) => AgentHook) => {
  const transcripts = folder()
  const { ran, tools } = recording()
  const { provider } = scripted([calls(["bash", { command: "ls" }]), { text: "done" }])
  await using agent = createAgent({ provider, tools, cwd: folder(), hooks: [make(transcripts)] })
  {
    await using session = await agent.session({ id: "s" })
    await session.run("go")
  }
  assert.deepEqual(ran, ["ls"])
  assert.include(readdirSync(transcripts), "s.jsonl")
  return readFileSync(join(transcripts, "s.jsonl"), "utf8").trim().split("\n").map((line) =>
    JSON.parse(line) as {
      readonly type: string
      readonly sessionId: string
      readonly attachment?: { readonly [key: string]: string }
    }
  )
}

const command = (text: string, more: object = {}) => ({ type: "command", command: text, ...more })

describe("hooks that fail", () => {
  // rows: C-32
  it("are all in the transcript, and the turn goes on", async () => {
    const config = {
      hooks: {
        PreToolUse: [{ hooks: [command("echo oops >&2; exit 1"), command("exit 0"), command("/no/such/program")] }],
        PostToolUse: [{
          hooks: [command("sleep 60", { timeout: 0.1 }), command("echo later >&2; exit 3", { async: true })]
        }],
        Stop: [{ hooks: [command("kill -9 $$")] }]
      }
    }
    const { handlers } = HookConfig.decode(JSON.stringify(config), "settings.json")
    const lines = await transcriptOf((transcripts) => ClaudeCode.make({ handlers, projectDir: "/", transcripts }))
    const failed = lines.flatMap(({ attachment }) => attachment === undefined ? [] : [attachment])
    assert.deepEqual(
      failed.filter(({ type }) => type !== "hook_non_blocking_error").map((one) => [one["type"], one["command"]]),
      [["hook_cancelled", "sleep 60"]]
    )
    assert.sameDeepMembers(failed.map((one) => [one["hookEvent"], one["command"]]), [
      ["PreToolUse", "echo oops >&2; exit 1"],
      ["PreToolUse", "/no/such/program"],
      ["PostToolUse", "sleep 60"],
      ["PostToolUse", "echo later >&2; exit 3"],
      ["Stop", "kill -9 $$"]
    ])
    const why = (text: string) => failed.find((one) => one["command"]!.includes(text))!["stderr"]
    assert.include(why("oops"), "ended with 1: oops")
    assert.include(why("sleep"), "took too long")
    assert.deepEqual([...new Set(lines.map(({ type }) => type))].sort(), ["assistant", "attachment", "user"])
  })

  it("are in the transcripts that hooks of other systems read", async () => {
    const gemini = Gemini.decode(
      JSON.stringify({ hooks: { BeforeTool: [{ hooks: [command("echo g >&2; exit 1")] }] } }),
      "settings.json"
    )
    const windsurf = Windsurf.decode(
      JSON.stringify({ hooks: { pre_run_command: [{ command: "echo w >&2; exit 1" }] } }),
      "hooks.json"
    )
    for (
      const [event, make] of [
        [
          "BeforeTool",
          (transcripts: string) => Gemini.make({ handlers: gemini.handlers, projectDir: "/", transcripts })
        ],
        [
          "pre_run_command",
          (transcripts: string) => Windsurf.make({ handlers: windsurf.handlers, projectDir: "/", transcripts })
        ]
      ] as const
    ) {
      const lines = await transcriptOf(make)
      assert.deepEqual(lines.flatMap(({ attachment }) => attachment === undefined ? [] : [attachment["hookEvent"]]), [
        event
      ])
    }
  })
})
