/** Hooks of Claude Code around a question: who answers before a person, and who is notified. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import type { Decision } from "@belay/core/RunState"
import { assert, describe, it } from "@effect/vitest"
import { calls } from "../../../../../test/support/agent.ts"
import { until } from "../../support/processes.ts"
import { said, start } from "../../support/publicFiles.ts"

const command = (line: string) => ({ hooks: [{ type: "command", command: line }] })
const specific = (hookEventName: string, fields: object) =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName, ...fields } })}'`
const asks = command(specific("PreToolUse", { permissionDecision: "ask", permissionDecisionReason: "sure?" }))
const decides = (decision: object) => command(specific("PermissionRequest", { decision }))
const notes = (file: string) => command(`cat >> ${file}; echo >> ${file}`)

/** A user's hooks, and a model that calls bash once. */
const ask = async (hooks: object, config: Partial<AgentConfig> = {}) => {
  const questions: Array<string> = []
  const { agent, did, heard, read } = start("claude", { README: "", "~/.claude/settings.json": { hooks } }, [
    calls(["bash", { command: "ls" }])
  ], config)
  agent.on((event) => event.type === "ask" && questions.push(event.ask.reason))
  const result = await agent.run("go")
  return { agent, did: did.map(([, args]) => args), heard, questions, read, result, said: said(result.messages) }
}

const policy: Partial<AgentConfig> = {
  policy: { check: () => ({ type: "ask", reason: "may it?", grant: { sandbox: "none" } }) }
}
const person = (decision: Decision): Partial<AgentConfig> => ({ onAsk: () => decision })

describe("a question of Claude Code's hooks", () => {
  it("that an entry puts is answered by PermissionRequest entries before a person is bothered", async () => {
    const denied = await ask({
      PreToolUse: [asks],
      PermissionRequest: [decides({ behavior: "deny", message: "not today" })]
    })
    assert.deepEqual([denied.did, denied.questions, denied.said], [[], [], ["not today"]])
    const allowed = await ask({ PreToolUse: [asks], PermissionRequest: [decides({ behavior: "allow" })] })
    assert.deepEqual([allowed.did, allowed.questions], [[{ command: "ls" }], []])
  })

  it("shows an input that PermissionRequest gives to whoever guards calls, and does not go on for ever about it", async () => {
    const changes = decides({ behavior: "allow", updatedInput: { command: "rm -rf /" } })
    const guard = command(
      `grep -q rm && { echo "no rm" >&2; exit 2; }; ${specific("PreToolUse", { permissionDecision: "ask" })}`
    )
    const guarded = await ask({ PreToolUse: [guard], PermissionRequest: [changes] })
    assert.deepEqual([guarded.did, guarded.questions, guarded.said], [[], [], ["no rm"]])
    const both = specific("PreToolUse", { permissionDecision: "ask", updatedInput: { command: "ls -l" } })
    const restless = await ask(
      { PreToolUse: [command(both)], PermissionRequest: [changes] },
      person({ type: "approve" })
    )
    assert.deepEqual([restless.did, restless.questions.length], [[{ command: "ls -l" }], 1])
  })

  it("tells Notification entries that a person is asked, once, whether a hook or the policy wants it, and does not wait for them", async () => {
    for (const [hooks, config] of [[{ PreToolUse: [asks] }, {}], [{}, policy]] as const) {
      const { did, questions, read } = await ask(
        {
          ...hooks,
          PermissionRequest: [notes("asked")],
          Notification: [{ matcher: "permission_prompt", ...notes("told") }]
        },
        { ...config, ...person({ type: "approve" }) }
      )
      assert.deepEqual([did.length, questions.length], [1, 1])
      await until(() => read("told").endsWith("\n\n"))
      const told = read("told").trim().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
      assert.lengthOf(told, 1)
      assert.deepInclude(told[0], {
        hook_event_name: "Notification",
        notification_type: "permission_prompt",
        message: "Claude needs your permission to use Bash"
      })
      assert.lengthOf(read("asked").trim().split("\n").filter((line) => line !== ""), 1)
    }
    const quiet = await ask({ PreToolUse: [command("exit 0")], Notification: [notes("told")] })
    assert.deepEqual([quiet.did.length, quiet.read("told")], [1, ""])
  })

  it("is not put again when a person answered it in a run that had to wait", async () => {
    const files = {
      "README": "",
      "~/.claude/settings.json": { hooks: { PreToolUse: [asks], PermissionRequest: [notes("asked")] } }
    }
    const { agent, did, read } = start("claude", files, [calls(["bash", { command: "ls" }])])
    const session = await agent.session()
    const waiting = await session.run("go")
    assert.strictEqual(waiting.status, "suspended")
    assert.deepEqual(did, [])
    const callId = waiting.status === "suspended" ? waiting.pending[0]!.callId : ""
    const result = await session.resume({ [callId]: { type: "approve" } })
    assert.strictEqual(result.status, "completed")
    assert.lengthOf(did, 1)
    assert.lengthOf(read("asked").trim().split("\n").filter((line) => line !== ""), 1)
  })

  it("is answered once by an entry that allows the call with another input", async () => {
    const both = specific("PreToolUse", { permissionDecision: "allow", updatedInput: { command: "ls -l" } })
    const hooks = { PreToolUse: [command(`cat >> seen; echo >> seen; ${both}`)], PermissionRequest: [notes("asked")] }
    const { did, questions, read } = await ask(hooks, policy)
    assert.deepEqual([did, questions, read("asked")], [[{ command: "ls -l" }], [], ""])
    const seen = read("seen").trim().split("\n").filter((line) => line !== "")
    assert.deepEqual(seen.map((line) => JSON.parse(line).tool_input), [{ command: "ls" }])
  })

  it("is not put about a call that a rule denies, and the model reads what PreToolUse says about it", async () => {
    const settings = {
      hooks: { PreToolUse: [command("echo 'use make' >&2; exit 2")] },
      permissions: { deny: ["Bash"] }
    }
    const files = { README: "", "~/.claude/settings.json": settings }
    const { agent, did } = start("claude", files, [calls(["bash", { command: "ls" }])])
    const { messages } = await agent.run("go")
    assert.deepEqual(did, [])
    assert.include(JSON.stringify(messages), "use make")
    assert.include(said(messages).join(), "denied by")
  })

  it("PermissionDenied runs for calls that others denied, and retries nothing that a person refused", async () => {
    const retry = command(`cat >> denied; ${specific("PermissionDenied", { retry: true })}`)
    const again = /may be tried again/
    const injected = ({ result }: { readonly result: { readonly messages: ReadonlyArray<unknown> } }) =>
      JSON.stringify(result.messages)
    const own = await ask({ PreToolUse: [command("echo no >&2; exit 2")], PermissionDenied: [retry] })
    assert.strictEqual(own.read("denied"), "")
    assert.notMatch(injected(own), again)
    const refused = await ask({ PreToolUse: [asks], PermissionDenied: [retry] }, person({ type: "deny", reason: "no" }))
    assert.include(refused.read("denied"), `"reason":"no"`)
    assert.notMatch(injected(refused), again)
    const rules = await ask({ PermissionDenied: [retry] }, {
      policy: { check: () => ({ type: "deny", reason: "read only" }) }
    })
    assert.include(rules.read("denied"), `"reason":"read only"`)
    assert.match(injected(rules), again)
  })
})
