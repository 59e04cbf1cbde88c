/** `belay chat` and `belay endpoint`, as processes. */
import * as Endpoint from "@belay/testing/Endpoint"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { run } from "./belay.ts"

const bin = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))
const args = ["--conditions=@belay/source", bin]
const noKeys = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", OPENAI_MODEL: "", NO_COLOR: "1" }
const newFolder = () => mkdtempSync(join(tmpdir(), "belay-chat-"))

const chat = (input: string, more: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) =>
  run(process.execPath, [...args, "chat", ...more], input, { ...noKeys, ...env })

describe("belay chat", () => {
  it("needs no key, and remembers the conversation after a restart", async () => {
    const store = join(newFolder(), "new", "chat.db")
    const first = await chat("hello there\n", ["--store", store])
    assert.strictEqual(first.code, 0, first.stderr)
    assert.match(first.stdout, /a rule-based model on this machine; set OPENAI_API_KEY/)
    assert.match(first.stdout, /session chat: new/)
    const second = await chat("/new\nanother\n/exit\nnever sent\n", ["--store", store])
    assert.match(second.stdout, /session chat: 2 messages so far/)
    assert.match(second.stdout, /session [0-9a-f-]{36}/)
    assert.notInclude(second.stdout, "never sent")
  })

  it("gives the plain agent tools for files, and runs no command without approval", async () => {
    const folder = newFolder()
    writeFileSync(join(folder, "notes.txt"), "remember the milk")
    await using endpoint = await Endpoint.start({
      script: [
        { toolCalls: [{ name: "Read", args: { file_path: "notes.txt" } }] },
        { toolCalls: [{ name: "Bash", args: { command: "touch ran" } }] },
        { text: "That is all." }
      ]
    })
    const more = ["--tools", "all", "--base-url", endpoint.url, "--model", "scripted"]
    const { code, stderr, stdout } = await run(process.execPath, [...args, "chat", ...more], "go\n", noKeys, folder)
    assert.strictEqual(code, 0, stderr)
    assert.include(stdout, "✓ remember the milk")
    assert.match(stdout, /✗ Bash: refused by/)
    assert.isFalse(existsSync(join(folder, "ran")))
    const wrong = await chat("", ["agent.ts", "--tools", "read"])
    assert.strictEqual(wrong.code, 2)
  })

  it("runs the agent of a module: its tools are shown, and nobody approves without a terminal", async () => {
    const folder = newFolder()
    await using endpoint = await Endpoint.start({
      script: [
        { toolCalls: [{ name: "look", args: { at: "the sky" } }] },
        { toolCalls: [{ name: "drop", args: {} }] },
        { text: "That is all." }
      ]
    })
    const at = (path: string) => JSON.stringify(new URL(`../../${path}`, import.meta.url).href)
    writeFileSync(
      join(folder, "agent.ts"),
      `import { defineTool } from ${at("core/src/index.ts")}
import { Approval } from ${at("hooks/src/index.ts")}
import { OpenAiCompatible } from ${at("providers/src/index.ts")}
const tool = (name: string) => defineTool({ name, description: name, input: { type: "object" }, execute: () => name + " done" })
export default {
  provider: OpenAiCompatible.make({ baseUrl: ${JSON.stringify(endpoint.url)}, apiKey: "none", model: "scripted" }),
  tools: [tool("look"), tool("drop")],
  hooks: [Approval.make({ tools: "drop" })]
}
`
    )
    const { code, stderr, stdout } = await chat("go\n", [join(folder, "agent.ts"), "--store", join(folder, "chat.db")])
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /→ look {"at":"the sky"}\n✓ look done/)
    assert.match(stdout, /✗ drop: refused by/)
    assert.include(stdout, "That is all.")
  })

  it("stops an answer with Ctrl-C and goes on, and ends with Ctrl-C when nothing runs", async () => {
    await using endpoint = await Endpoint.start({ slowMs: 2_000 })
    const child = spawn(process.execPath, [
      ...args,
      "chat",
      "--store",
      join(newFolder(), "chat.db"),
      "--model",
      "demo:slow"
    ], {
      env: { ...process.env, ...noKeys, OPENAI_BASE_URL: endpoint.url }
    })
    let shown = ""
    child.stdout.on("data", (data) => shown += String(data))
    const until = async (text: string) => {
      while (!shown.includes(text)) await once(child.stdout, "data")
    }
    await until("session chat")
    child.stdin.write("tell me a long story about many things\n")
    while (endpoint.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill("SIGINT")
    await until("stopped")
    assert.isNull(child.exitCode)
    child.kill("SIGINT")
    const [code] = await once(child, "exit")
    assert.strictEqual(code, 130)
  })

  it("says in a line what is wrong with the endpoint or the module", async () => {
    const store = join(newFolder(), "chat.db")
    const closed = await Endpoint.start()
    await closed.close()
    const away = await chat("hi\n", ["--store", store, "--base-url", closed.url])
    assert.strictEqual(away.code, 0)
    assert.match(away.stdout, /error {2}.*/)
    const missing = await chat("", ["no-such-file.ts"])
    assert.strictEqual(missing.code, 2)
    assert.match(missing.stderr, /there is no file no-such-file\.ts/)
  })
})

describe("belay endpoint", () => {
  it("answers any OpenAI client until it is stopped", async () => {
    const child = spawn(process.execPath, [...args, "endpoint", "--key", "test-key"], {
      env: { ...process.env, ...noKeys }
    })
    let shown = ""
    child.stdout.on("data", (data) => shown += String(data))
    while (!/OPENAI_BASE_URL=\S+\n/.test(shown)) await once(child.stdout, "data")
    const [, url = ""] = /OPENAI_BASE_URL=(\S+)/.exec(shown) ?? []
    const ask = (key: string) => fetch(`${url}/models`, { headers: { authorization: `Bearer ${key}` } })
    assert.strictEqual((await ask("test-key")).status, 200)
    assert.strictEqual((await ask("wrong")).status, 401)
    child.kill("SIGINT")
    await once(child, "exit")
  })
})
