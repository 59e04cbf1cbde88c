import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as HostEvents from "@belay/hooks/HostEvents"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { folder, until, write } from "../../support/processes.ts"

describe("Claude Code with HostEvents", () => {
  // rows: C-03
  it("signals the files that commands of settings files requested", async () => {
    const root = folder()
    const settings = {
      hooks: {
        SessionStart: [{
          hooks: [{
            type: "command",
            command: `echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","watchPaths":["notes.md"]}}'`
          }]
        }],
        FileChanged: [{ matcher: "notes.md", hooks: [{ type: "command", command: "cat >> heard.jsonl" }] }]
      }
    }
    const { handlers } = HookConfig.decode(JSON.stringify(settings), "settings.json")
    const agent = createAgent({
      provider: Scripted.make(["hello"]),
      cwd: root,
      hooks: [ClaudeCode.make({ handlers, projectDir: root }), { name: "other", onSignal: () => HookAction.Continue }]
    })
    await using _ = agent
    const session = await agent.session()
    await using events = HostEvents.start({ session, agent, cwd: root, home: root, config: false, debounceMs: 20 })
    await session.run("hi")
    write(join(root, "notes.md"), "one")
    await events.flush()
    await until(() => readFileSync(join(root, "heard.jsonl"), "utf8").endsWith("\n"))
    const { event, file_path, hook_event_name } = JSON.parse(readFileSync(join(root, "heard.jsonl"), "utf8"))
    assert.deepEqual([hook_event_name, file_path, event], ["FileChanged", join(root, "notes.md"), "add"])
  })
})
