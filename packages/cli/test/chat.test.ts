/** `belay chat` and `belay endpoint`, as processes. */
import * as Endpoint from "@belay/testing/Endpoint"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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

  // rows: D-36
  it("compacts a conversation by hand, with a line of the chat and with the recipe compact", async () => {
    const folder = newFolder()
    writeFileSync(
      join(folder, "agent.mjs"),
      `import { Kodelet } from ${JSON.stringify(import.meta.resolve("@belay/hook-files"))}
      import { OpenAiCompatible } from ${JSON.stringify(import.meta.resolve("@belay/providers"))}
      export default {
        provider: OpenAiCompatible.make({ baseUrl: process.env.OPENAI_BASE_URL, apiKey: "k", model: "scripted" }),
        hooks: [Kodelet.make({ handlers: [], projectDir: ".", autoCompact: 0 })]
      }`
    )
    const long = "x".repeat(1500)
    const script = [{ text: long }, { text: "what they said" }, { text: long }, { text: "what they said again" }]
    await using endpoint = await Endpoint.start({ script })
    const own = [join(folder, "agent.mjs"), "--store", join(folder, "chat.db"), "--session", "s"]
    const first = await chat(`${long}\n/compact\n${long}\n`, own, { OPENAI_BASE_URL: endpoint.url })
    assert.strictEqual(first.code, 0, first.stderr)
    assert.include(first.stdout, "compacted 2 messages to 1")
    const then = await chat("never sent\n", [...own, "--recipe", "compact"], { OPENAI_BASE_URL: endpoint.url })
    assert.include(then.stdout, "compacted 3 messages to 1", then.stderr)
    assert.lengthOf(endpoint.requests, 4)
    const last = await chat("", own, { OPENAI_BASE_URL: endpoint.url })
    assert.include(last.stdout, "session s: 1 messages so far")
  })

  // rows: D-30
  it("starts with a recipe of the project, and leaves hook files out with --no-hooks", async () => {
    const folder = newFolder()
    mkdirSync(join(folder, "recipes"))
    mkdirSync(join(folder, ".kodelet/hooks"), { recursive: true })
    writeFileSync(join(folder, "recipes/intro.md"), "---\nname: intro\n---\nSay who you are.")
    const heard = join(folder, "heard")
    const script = `#!/bin/sh\nif [ "$1" = hook ]; then echo user_message_send; else cat >> '${heard}'; fi\n`
    writeFileSync(join(folder, ".kodelet/hooks/log"), script, { mode: 0o755 })
    writeFileSync(
      join(folder, "agent.mjs"),
      `import { HookFiles, Kodelet } from ${JSON.stringify(import.meta.resolve("@belay/hook-files"))}
      import { OpenAiCompatible } from ${JSON.stringify(import.meta.resolve("@belay/providers"))}
      const cwd = ${JSON.stringify(folder)}
      const { handlers } = Kodelet.find(Kodelet.folders({ cwd, home: cwd + "/nobody" }))
      export default {
        cwd,
        provider: OpenAiCompatible.make({ baseUrl: process.env.OPENAI_BASE_URL, apiKey: "k", model: "scripted" }),
        hooks: [Kodelet.make({ handlers, projectDir: cwd })]
      }`
    )
    await using endpoint = await Endpoint.start({ script: [{ text: "I am Ada." }, { text: "Hello." }] })
    const own = [join(folder, "agent.mjs"), "--store", join(folder, "chat.db"), "--recipe", "intro"]
    const first = await chat("", own, { OPENAI_BASE_URL: endpoint.url })
    assert.include(first.stdout, "I am Ada.", first.stderr)
    const input = JSON.parse(readFileSync(heard, "utf8"))
    assert.deepInclude(input, { event: "user_message_send", recipe_name: "intro", message: "Say who you are." })
    rmSync(heard)
    const second = await chat("hi\n", [...own.slice(0, 3), "--no-hooks"], { OPENAI_BASE_URL: endpoint.url })
    assert.include(second.stdout, "Hello.", second.stderr)
    assert.isFalse(existsSync(heard))
    const wrong = await chat("", [...own.slice(0, 3), "--recipe", "outro"])
    assert.strictEqual(wrong.code, 2)
    assert.include(wrong.stderr, "there is no recipe outro; recipes are compact, intro")
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
