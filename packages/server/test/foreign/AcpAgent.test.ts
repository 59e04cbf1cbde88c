/** Programs that speak ACP as agents: what they ask for passes the guards. The program is a scripted one. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import * as AcpAgent from "@belay/server/AcpAgent"
import * as Scripted from "@belay/testing/Scripted"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, assert, beforeEach, describe, it } from "vitest"

const program = fileURLToPath(new URL("support/scriptedAgent.ts", import.meta.url))

let folder: string
let log: string
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "belay-acp-"))
  log = join(folder, "log")
  mkdirSync(join(folder, "work"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const lines = () => existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []
const until = async (is: () => boolean) => {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const foreign = (more: Partial<AcpAgent.Options> = {}, mode = "") =>
  AcpAgent.make({
    name: "coder",
    command: process.execPath,
    args: [program],
    env: { LOG: log, MODE: mode },
    cwd: join(folder, "work"),
    ...more,
    agent: { log: false, ...more.agent }
  })

const say = async (agent: ReturnType<typeof foreign>, message: string): Promise<string> => {
  const result = await agent.run(message)
  return result.text
}

describe("a foreign agent", () => {
  it("answers in a session with one process, and reads what was said before it was started", async () => {
    await using agent = foreign()
    const session = await agent.session({
      messages: [{ role: "user", content: "my name is Ada" }, { role: "assistant", content: "noted" }]
    })
    const first = (await session.run("hello")).text
    assert.match(first, /^prompt 1: The conversation so far:[^]*user: my name is Ada[^]*hello$/)
    assert.strictEqual((await session.run("again")).text, "prompt 2: again")
    assert.lengthOf(lines().filter((line) => line.startsWith("new")), 1)
  })

  it("gets permission once from the hooks, which see the call of a tool that they know", async () => {
    const seen: Array<unknown> = []
    await using agent = foreign({
      agent: {
        hooks: [{
          name: "gate",
          preToolCall: ({ args, name }) => {
            seen.push([name, args])
            return JSON.stringify(args).includes("rm ") ? HookAction.reject("never") : undefined
          }
        }]
      }
    })
    assert.strictEqual(await say(agent, "shell ls -l"), "said yes")
    assert.strictEqual(await say(agent, "shell rm -rf /"), "said no")
    assert.strictEqual(await say(agent, "words"), "said no")
    assert.strictEqual(await say(agent, "edit a.ts"), "said yes")
    // Null means that the call is as it was shown.
    assert.strictEqual(await say(agent, "known rm -rf /"), "said no")
    assert.strictEqual(await say(agent, "two"), "yes and yes")
    assert.deepStrictEqual(seen.slice(0, 5), [
      ["Bash", { command: "ls -l", title: "Does it" }],
      ["Bash", { command: "rm -rf /", title: "Does it" }],
      ["Bash", { command: "rm -rf 'my dir'", title: "Does it" }],
      ["Edit", { file_path: "a.ts", old_string: "a", new_string: "b", title: "Does it" }],
      ["Bash", { command: "rm -rf /", title: "Deploys" }]
    ])
  })

  it("gets no permission for arguments that a hook has changed, because it would use its own", async () => {
    await using agent = foreign({
      agent: {
        hooks: [{
          name: "safe",
          preToolCall: ({ id, name }) => HookAction.replace({ id, name, args: { command: "ls" } })
        }]
      }
    })
    assert.strictEqual(await say(agent, "shell rm -rf /"), "said no")
  })

  it("waits for a person, as a sub-agent too, and continues with the answer", async () => {
    const provider = Scripted.make([Scripted.toolCalls({ name: "code", args: { message: "shell deploy" } }), "done"])
    const events: Array<string> = []
    await using lead = createAgent({
      provider,
      tools: [agentTool({ name: "code", description: "Codes", agent: foreign() })],
      hooks: [{
        name: "ask",
        preToolCall: ({ name }) => name === "Bash" ? HookAction.ask("deploy?") : undefined,
        postDelegation: ({ result }) => void events.push(result.text)
      }]
    })
    const first = await lead.run("go")
    assert.strictEqual(first.status, "suspended")
    if (first.status !== "suspended") return
    const [ask] = first.pending
    assert.strictEqual(ask!.tool, "Bash")
    const second = await lead.resume(first.snapshot, { [ask!.callId]: { type: "approve" } })
    assert.strictEqual(second.text, "done")
    assert.deepStrictEqual(events, ["said yes"])
  })

  it("reads and writes files in its folder through the hooks, and no others", async () => {
    const work = join(folder, "work")
    writeFileSync(join(work, "a.txt"), "the key is sk-123")
    writeFileSync(join(folder, "secret.txt"), "secret")
    symlinkSync(join(folder, "secret.txt"), join(work, "link.txt"))
    await using agent = foreign({
      files: "write",
      agent: {
        hooks: [{
          name: "redact",
          postToolCall: ({ call, result }) =>
            call.name === "Read" && result.ok
              ? HookAction.replace({
                ok: true,
                output: JSON.stringify(result.output).slice(1, -1).replace("sk-123", "[key]")
              })
              : undefined
        }]
      }
    })
    assert.strictEqual(await say(agent, `read ${join(work, "a.txt")}`), "{\"content\":\"the key is [key]\"}")
    assert.match(await say(agent, `read ${join(folder, "secret.txt")}`), /error: .*outside of/)
    assert.match(await say(agent, `read ${join(work, "link.txt")}`), /error: .*outside of/)
    assert.match(await say(agent, `write ${join(folder, "new.txt")}`), /error: .*outside of/)
    assert.strictEqual(await say(agent, `write ${join(work, "deep", "b.txt")}`), "{}")
    assert.strictEqual(readFileSync(join(work, "deep", "b.txt"), "utf8"), "written")
  })

  it("runs commands through the hooks, and is offered only what it was given", async () => {
    await using agent = foreign({
      terminal: true,
      agent: {
        hooks: [{
          name: "h",
          preToolCall: ({ args }) => JSON.stringify(args).includes("exit") ? HookAction.reject("no") : undefined
        }]
      }
    })
    assert.deepStrictEqual(JSON.parse(await say(agent, "run echo $((40 + 2))")), { output: "42", code: 0 })
    assert.match(await say(agent, "run exit 3"), /^error: /)
    assert.include(lines()[0]!, "\"terminal\":true")
    await using plain = foreign()
    assert.match(await say(plain, "run echo hi"), /^error: /)
    assert.match(await say(plain, `read ${join(folder, "work", "x")}`), /error: .*was not given `files`/)
  })

  it("costs what it says", async () => {
    const provider = Scripted.make([Scripted.toolCalls({ name: "code", args: { message: "spend" } }), "done"])
    await using lead = createAgent({
      provider,
      tools: [agentTool({ name: "code", description: "Codes", agent: foreign() })]
    })
    const { cost } = await lead.run("go")
    assert.include(JSON.stringify(cost), "0.5")
  })

  it("is cancelled with the turn, and its process ends", async () => {
    await using agent = foreign()
    const stop = new AbortController()
    const running = agent.run("hang", { signal: stop.signal }).then(() => "ended", String)
    await until(() => lines().includes("prompt hang"))
    stop.abort()
    assert.notStrictEqual(await running, "ended")
    await until(() => lines().includes("cancelled"))
  })

  it("fails with what its process said, and starts again with the next message", async () => {
    const failure = (agent: ReturnType<typeof foreign>, message = "hello") =>
      agent.run(message).then(() => "no failure", String)
    await using broken = foreign({}, "no-start")
    assert.match(await failure(broken), /coder: .*has ended with code 3 \(it said: please log in first\)/)
    await using locked = foreign({}, "auth")
    assert.match(await failure(locked), /coder: .*[Aa]uthentication/)
    await using missing = foreign({ command: "no-such-agent-here", args: [] })
    assert.match(await failure(missing), /no-such-agent-here cannot be started/)
    await using agent = foreign()
    const session = await agent.session()
    assert.match(await session.run("crash").then(() => "", String), /has ended with code 1/)
    assert.match((await session.run("hello")).text, /hello$/)
  })

  it("is checked: mistakes in options say what was meant", () => {
    assert.throws(() => AcpAgent.make({} as never), /AcpAgent\.command.*required/)
    assert.throws(() => AcpAgent.make({ command: "x", files: "all" } as never), /files/)
    assert.throws(() => AcpAgent.make({ command: "x", terminals: true } as never), /did you mean "terminal"/)
  })
})
