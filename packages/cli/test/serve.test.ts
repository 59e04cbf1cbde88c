/** `belay serve`, as processes. */
import * as acp from "@agentclientprotocol/sdk"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import OpenAI from "openai"
import { afterAll, assert, describe, it } from "vitest"
import { runHere } from "./belay.ts"

const folder = mkdtempSync(join(tmpdir(), "belay-serve-"))
const program = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))
const children: Array<ChildProcess> = []
afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
})

/** Starts a server and returns what it prints: its addresses and the token. */
const start = (...args: ReadonlyArray<string>) => startWith({}, ...args)
const startWith = async (env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, ["--conditions=@belay/source", program, "serve", "--port", "0", ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  children.push(child)
  let [text, errors] = ["", ""]
  child.stderr.on("data", (data) => void (errors += String(data)))
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (data) => {
      text += String(data)
      if (text.includes("token ")) resolve()
    })
    child.once("exit", () => reject(new Error(errors)))
  })
  const kill = () =>
    new Promise<void>((resolve) => {
      child.once("exit", () => resolve())
      child.kill("SIGKILL")
    })
  const stop = async (): Promise<number | null> => {
    child.kill("SIGTERM")
    const [code] = await once(child, "exit")
    return code
  }
  const token = /token\s+(\S+)/.exec(text)![1]!
  return { kill, stop, token, origin: /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? "", text }
}

describe("belay serve", () => {
  it("serves the demo agent without a key, and keeps its token and its chats over a kill", async () => {
    const first = await start()
    // A token in the part after `#` is sent to no server, and is in no log.
    assert.include(first.text, `page       ${first.origin}/#token=${first.token}\n`)
    assert.strictEqual(statSync(join(folder, ".belay/serve.token")).mode & 0o777, 0o600)
    const page = await fetch(first.origin)
    assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/)
    assert.include(await page.text(), "<textarea")
    assert.strictEqual((await fetch(`${first.origin}/v1/models`)).status, 401)
    const client = (server: typeof first) =>
      new OpenAI({ baseURL: `${server.origin}/v1`, apiKey: server.token, maxRetries: 0 })
    const answer = await client(first).responses.create({ model: "agent", input: "What is the weather in Bern?" })
    assert.deepStrictEqual(answer.output.map(({ type }) => type), ["mcp_call", "message"])
    const asked = await client(first).responses.create({
      model: "agent",
      input: "Send an email to ada@example.com with the text hello",
      previous_response_id: answer.id
    })
    const question = asked.output.find((item) => item.type === "mcp_approval_request")!
    assert.strictEqual(question.name, "send_email")
    await first.kill()
    const second = await start()
    assert.strictEqual(second.token, first.token)
    const done = await client(second).responses.create({
      model: "agent",
      previous_response_id: asked.id,
      input: [{ type: "mcp_approval_response", approval_request_id: question.id, approve: true }]
    })
    assert.match(done.output_text, /sent nothing to/)
    await second.kill()
  })

  it("ends a turn where another process can continue it when it is asked to end", async () => {
    const env = { BELAY_TEST_STORE: join(folder, "turns.db"), BELAY_TEST_LOG: join(folder, "turns.log") }
    const config = fileURLToPath(new URL("./support/host.config.ts", import.meta.url))
    const log = () => existsSync(env.BELAY_TEST_LOG) ? readFileSync(env.BELAY_TEST_LOG, "utf8").trim().split("\n") : []
    const open = () => startWith(env, config, "--openai", "--token", "a-token-of-twenty-characters")
    const one = await open()
    const clientOf = ({ origin, token }: typeof one) =>
      new OpenAI({ baseURL: `${origin}/v1`, apiKey: token, maxRetries: 0 })
    const { id } = await clientOf(one).responses.create({ model: "agent", input: "work 700", background: true })
    while (!log().includes("work begins")) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.strictEqual(await one.stop(), 0)
    assert.deepStrictEqual(log(), ["work begins", "work ends"])
    const two = await open()
    let text = ""
    while (text === "") text = (await clientOf(two).responses.retrieve(id)).output_text
    assert.strictEqual(text, "finished: work 700")
    assert.deepStrictEqual(log(), ["work begins", "work ends"])
    await two.kill()
  })

  it("serves the module that is named, with the protocols and the token that are given", async () => {
    const file = join(folder, "agent.mjs")
    writeFileSync(
      file,
      `export default {
      provider: { name: "echo", complete: () => { throw new Error("not called") } },
      hooks: [{ name: "echo", preTurn: ({ message }) => ({ _tag: "Respond", output: { text: "re: " + message } }) }],
      log: false
    }`
    )
    const token = "a-token-of-twenty-characters"
    const server = await start("agent.mjs", "--openai", "--token", token, "--data", "elsewhere")
    assert.strictEqual(server.token, token)
    const client = new OpenAI({ baseURL: `${server.origin}/v1`, apiKey: token })
    const answer = await client.chat.completions.create({ model: "x", messages: [{ role: "user", content: "hi" }] })
    assert.strictEqual(answer.choices[0]!.message.content, "re: hi")
    assert.strictEqual((await fetch(server.origin)).status, 404)
    assert.throws(() => statSync(join(folder, "elsewhere")))
    await server.kill()
  })

  it("runs and serves the sessions of an agent and its store", async () => {
    const url = (path: string) => JSON.stringify(new URL(`../../${path}`, import.meta.url).href)
    writeFileSync(
      join(folder, "hosted.ts"),
      `import { createAgent } from ${url("core/src/agent/createAgent.ts")}
      import * as SqliteStore from ${url("providers/src/store/SqliteStore.ts")}
      const store = SqliteStore.make({ path: "hosted.db" })
      const provider = { name: "none", complete: () => { throw new Error("not called") } }
      const hello = { name: "hello", preTurn: () => ({ _tag: "Respond", output: { text: "hello" } }) }
      export default { agent: createAgent({ provider, hooks: [hello], store: store.sessions }), store }`
    )
    const server = await start("hosted.ts")
    const client = new OpenAI({ baseURL: `${server.origin}/v1`, apiKey: server.token, maxRetries: 0 })
    assert.strictEqual((await client.responses.create({ model: "agent", input: "hi" })).output_text, "hello")
    await server.kill()
  })

  it("serves an editor over standard input and output, and ends with it", async () => {
    writeFileSync(
      join(folder, "loud.mjs"),
      `console.log("a line of the program")
    export default {
      provider: { name: "echo", complete: () => { throw new Error("not called") } },
      hooks: [{ name: "echo", preTurn: ({ message }) => ({ _tag: "Respond", output: { text: "re: " + message } }) }]
    }`
    )
    const child = spawn(process.execPath, ["--conditions=@belay/source", program, "serve", "loud.mjs", "--acp"], {
      cwd: folder,
      stdio: ["pipe", "pipe", "ignore"]
    })
    children.push(child)
    const texts: Array<string> = []
    const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as never)
    const { agent } = acp.client({ name: "test" }).onNotification("session/update", ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
        texts.push(update.content.text)
      }
    }).connect(stream)
    await agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} })
    const { sessionId } = await agent.request("session/new", { cwd: folder, mcpServers: [] })
    const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] })
    assert.strictEqual(stopReason, "end_turn")
    assert.deepStrictEqual(texts, ["re: hi"])
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.stdin.end()
    assert.strictEqual(await ended, 0)
  })

  it("ends if it cannot listen, or cannot keep its data", async () => {
    const file = join(folder, "file")
    writeFileSync(file, "")
    const token = ["--token", "a".repeat(16)]
    // No machine has an address of this network.
    const notHere = ["--hostname", "192.0.2.1", ...token]
    const failures = [[notHere, /cannot listen/], [["--data", file], /cannot be kept in .*--data/], [
      ["--data", file, ...token],
      /serve\.db: it cannot be opened/
    ]] as const
    for (const [args, words] of failures) {
      const error = await start(...args).then(() => "it has started", String)
      assert.match(error, words)
    }
  })

  it("says what is wrong with its arguments", async () => {
    const wrong = async (...args: ReadonlyArray<string>) => {
      const { code, stderr } = await runHere(["serve", ...args])
      return `${code} ${stderr}`
    }
    assert.match(await wrong("--hostname", "0.0.0.0"), /^2 .*give a token with --token/)
    assert.match(await wrong("--token", "short"), /^2 .*at least 16 characters/)
    assert.match(await wrong("--port", "70000"), /^2 .*0 to 65535/)
    for (const other of ["--openai", "--ui", "--ag-ui", "--mcp", "--all"]) {
      assert.match(await wrong("--acp", other), /^2 .*give no other protocol/, other)
    }
    assert.match(await wrong("--port", "-1"), /^2 .*0 to 65535/)
    assert.match(await wrong("--port", "65536"), /^2 .*0 to 65535/)
    assert.match(await wrong("--drain", "-1"), /^2 .*0 or more seconds/)
    assert.match(await wrong("--token", "a".repeat(15)), /^2 .*at least 16 characters/)
    for (const hostname of ["127.0.0.1", "::1", "localhost"]) {
      assert.match(await wrong("missing.ts", "--hostname", hostname), /^2 .*there is no file missing\.ts/)
    }
    assert.match(await wrong("missing.ts", "--token", "a".repeat(16)), /^2 .*there is no file missing\.ts/)
    assert.match(await wrong("missing.ts", "--data", folder), /^2 .*there is no file missing\.ts/)
    const empty = join(folder, "empty.mjs")
    writeFileSync(empty, "export default 1")
    assert.match(await wrong(empty, "--data", folder), /^2 .*no default export that can be served/)
  })
})
