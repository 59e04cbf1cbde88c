/** `belay sessions`: looking into sessions, and sending to them. */
import * as Effect from "effect/Effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { runHere } from "./belay.ts"

const config = fileURLToPath(new URL("./support/host.config.ts", import.meta.url))

describe("belay sessions", () => {
  process.env["BELAY_TEST_STORE"] = join(mkdtempSync(join(tmpdir(), "belay-cli-sessions-")), "store.db")
  let stop: () => Promise<unknown>
  // A command closes the store of its config, which all tests of this process share.
  let keep: () => void
  beforeAll(async () => {
    const { agent, store } = (await import(pathToFileURL(config).href)).default
    const Host = await import("@belay/server/Host")
    const [closeAgent, closeStore] = [agent.close.bind(agent), store.close]
    agent.close = store.close = async () => {}
    keep = () => void closeAgent().then(closeStore)
    const running = await Host.make({ agent, store, pollMs: 20 }).start()
    stop = () => Promise.resolve(running.drain())
  })
  afterAll(async () => {
    await stop()
    keep()
  })

  const sessions = (...args: ReadonlyArray<string>) => runHere(["sessions", ...args, "--config", config])
  const json = async (...args: ReadonlyArray<string>) => JSON.parse((await sessions(...args, "--json")).stdout)

  it("sends a message and waits for its answer, once for a key", async () => {
    const { code, stdout } = await sessions("send", "ada", "hello", "--key", "k", "--wait")
    assert.deepStrictEqual([code, stdout], [0, "re: hello\n"])
    assert.deepStrictEqual(await json("send", "ada", "other", "--key", "k"), { key: "k", type: "known" })
    assert.deepInclude((await json("send", "ada", "other", "--key", "k", "--wait")).outcome, { text: "re: hello" })
  })

  it("shows the conversation, what waits, and how to answer its questions", async () => {
    const asked = await sessions("send", "eve", "danger 0", "--key", "q", "--wait")
    assert.deepStrictEqual([asked.code, asked.stdout], [3, "q waits for people: belay sessions show eve\n"])
    const { stdout } = await sessions("show", "eve")
    assert.match(stdout, /^eve {2}turn 1, waits for people\nuser: danger 0\n/)
    assert.include(stdout, "message q: suspended")
    assert.include(stdout, "question c1: danger {\"said\":\"danger 0\"}\n  gate asks: is that \\x1b[2J safe?")
    assert.include(stdout, "belay sessions decide eve c1 approve\n")
    assert.strictEqual((await json("show", "eve")).waiting.pending[0].callId, "c1")
    const wrong = await sessions("decide", "eve", "c9", "approve")
    assert.deepStrictEqual([wrong.code, wrong.stdout], [1, ""])
    assert.match(wrong.stderr, /^belay: session eve has no open question with the id c9: open are c1\n$/)
    const denied = await sessions("decide", "eve", "c1", "deny", "--reason", "too late", "--wait")
    assert.deepStrictEqual([denied.code, denied.stdout], [0, "finished: danger 0\n"])
    assert.match((await sessions("show", "eve")).stdout, /tool|too late/)
    const late = await sessions("decide", "eve", "c1", "approve")
    assert.match(late.stderr, /no question is open/)
  })

  it("lists dead messages, and runs one again or removes it", async () => {
    const { store } = (await import(pathToFileURL(config).href)).default
    for (const key of ["a", "b"]) {
      await sessions("send", "dan", `hello ${key}`, "--key", key, "--at", "2100-01-01T00:00:00Z")
      const outcome = { status: "dead", attempts: 5, reason: "it ends \u001b[2J processes" }
      await Effect.runPromise(store.inbox.report("dan", key, "dead", outcome))
    }
    const { code, stdout } = await sessions("dead")
    assert.deepStrictEqual([code, stdout], [
      0,
      "dan  a\n  it ends \\x1b[2J processes\ndan  b\n  it ends \\x1b[2J processes\n"
    ])
    const page = await json("dead", "--limit", "1")
    assert.deepStrictEqual(page.messages.map(({ key }: { readonly key: string }) => key), ["a"])
    assert.deepStrictEqual(
      (await json("dead", "--after", String(page.next))).messages.map(({ key }: { readonly key: string }) => key),
      ["b"]
    )
    assert.deepStrictEqual((await sessions("retry", "dan", "a")).stdout, "a waits again\n")
    const asked = await sessions("drop", "dan", "b")
    assert.deepStrictEqual([asked.code, asked.stdout.includes("--yes")], [1, true])
    assert.deepStrictEqual((await sessions("drop", "dan", "b", "--yes")).stdout, "b is removed\n")
    assert.strictEqual(
      (await sessions("drop", "dan", "b", "--yes")).stderr,
      "belay: session dan has no dead message b\n"
    )
    assert.strictEqual((await sessions("retry", "dan", "b")).code, 1)
    assert.strictEqual((await sessions("dead")).stdout, "no dead messages\n")
  })

  it("says what each session with something unfinished waits for, and moves one that is pinned to a release", async () => {
    const { store } = (await import(pathToFileURL(config).href)).default
    await sessions("send", "gus", "danger 0", "--key", "q", "--wait")
    await Effect.runPromise(store.inbox.pin("gil", "v1 \u001b[2J"))
    const body = { message: "hello" }
    await Effect.runPromise(
      store.inbox.add({ sessionId: "gil", key: "m", kind: "message", body, at: Date.now() - 600_000 })
    )
    const { stdout } = await sessions("open")
    assert.match(
      stdout,
      /^gil {2}stuck {2}no process has begun m, and the session is pinned to the release v1 \\x1b\[2J/m
    )
    assert.match(stdout, /^ {2}message m: waiting, 0 attempts$/m)
    assert.match(stdout, /^gus {2}waiting {2}it waits for people, about danger {2}\d{4}-/m)
    assert.notInclude((await sessions("open", "--state", "waiting")).stdout, "gil")
    assert.strictEqual((await json("open", "--state", "stuck")).sessions[0].release, "v1 \u001b[2J")
    assert.strictEqual((await sessions("open", "--stuck-after", "0")).code, 2)
    assert.strictEqual((await sessions("move", "gil", "v2")).stdout, "gil belongs to the release v2\n")
    assert.strictEqual((await sessions("move", "gil")).stdout, "gil belongs to no release any more\n")
    assert.deepInclude((await json("send", "gil", "hello", "--key", "m", "--wait")).outcome, { text: "re: hello" })
    assert.match((await sessions("move", "nobody", "v2")).stderr, /there is no session nobody/)
    await sessions("decide", "gus", "c1", "deny", "--wait")
  })

  it("erases a session or a person, when somebody confirms it", async () => {
    await sessions("send", "fay", "my name is Fay", "--key", "k", "--tenant", "fay@example.org", "--wait")
    const asked = await sessions("erase", "--principal", "fay@example.org")
    assert.deepStrictEqual([asked.code, asked.stdout], [
      1,
      "would erase everything of fay@example.org. Nobody can undo it: add --yes to do it\n"
    ])
    assert.strictEqual((await sessions("show", "fay")).code, 0)
    assert.deepInclude(await json("erase", "--principal", "fay@example.org", "--yes"), {
      sessions: ["fay"],
      entries: 1
    })
    assert.match((await sessions("show", "fay")).stderr, /there is no session fay/)
    assert.match((await sessions("erase", "--session", "fay", "--yes")).stdout, /^erased 0 sessions/)
    assert.strictEqual((await sessions("erase", "--yes")).code, 2)
    assert.strictEqual((await sessions("erase", "--session", "a/b", "--yes")).code, 2)
  })

  it("cancels a message", async () => {
    await sessions("send", "bob", "hello", "--key", "later", "--at", "2100-01-01T00:00:00Z")
    const { code, stdout } = await sessions("cancel", "bob", "later", "--wait")
    assert.deepStrictEqual([code, stdout], [0, "cancel later: cancelled\n"])
    const unknown = await sessions("cancel", "bob", "nothing")
    assert.deepStrictEqual([unknown.code, unknown.stderr], [
      1,
      "belay: session bob has no message with the key nothing\n"
    ])
  })

  it("lists sessions in pages, also those of one status only", async () => {
    for (const id of ["l1", "l2", "l3"]) await sessions("send", id, "hello", "--wait")
    await sessions("send", "l4", "danger 0", "--wait")
    const suspended = await json("list", "--status", "suspended")
    assert.deepStrictEqual(suspended.sessions.map(({ id }: { readonly id: string }) => id), ["l4"])
    const first = await json("list", "--limit", "2")
    assert.deepStrictEqual(first.sessions.map(({ id }: { readonly id: string }) => id), ["l4", "l3"])
    const { stdout } = await sessions("list", "--limit", "2", "--before", String(first.next))
    assert.match(stdout, /^l2 +waits for nothing +turn 1, 2 messages +\d{4}-.*Z\nl1 .*\nnext page: --before [\d.]+\n$/)
    const { stdout: none } = await sessions("list", "--before", "0")
    assert.strictEqual(none, "no sessions\n")
  })

  it("ends with 1 if the turn has failed, and says why", async () => {
    const { code, stdout } = await sessions("send", "strike", "fail", "--key", "f", "--wait")
    assert.strictEqual(code, 1)
    assert.match(stdout, /^f failed: .*the model is on strike/)
    const unknown = await sessions("show", "nobody")
    assert.deepStrictEqual([unknown.code, unknown.stderr], [1, "belay: there is no session nobody\n"])
  })

  it("ends with 2 and one line if it is used in a wrong way", async () => {
    for (
      const args of [
        ["send", "../x", "hello"],
        ["send", "ada", "hello", "--at", "soon"],
        ["decide", "ada", "c1", "maybe"],
        ["decide", "ada", "c1", "approve", "--reason", "because"],
        ["list", "--limit", "0"],
        ["list", "--before", "yesterday"],
        ["list", "--status", "strange"],
        ["show"]
      ]
    ) {
      const { code, stderr, stdout } = await sessions(...args)
      assert.deepStrictEqual(
        [code, stdout, stderr.trim().split("\n").length],
        [2, "", 1],
        `${args.join(" ")}: ${stderr}`
      )
    }
  })
})
