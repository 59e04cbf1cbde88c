/** The page of sessions, in a real browser and as its handler answers. */
import type { NewEntry } from "@belay/core/Inbox"
import * as NodeHttp from "@belay/server/NodeHttp"
import * as Serve from "@belay/server/Serve"
import * as SessionsPage from "@belay/server/SessionsPage"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openBrowser } from "../../../../test/support/browser.ts"
import { asking, gate, hosted, newFile, tool } from "../host/support/hosted.ts"

const run = Effect.runPromise

/** A host with a session in each state, behind a server. */
const open = async () => {
  const [began, go] = [gate(), gate()]
  const log: Array<string> = []
  const slow = tool("slow", log, () => {
    began.open()
    return go.opened
  })
  const { agent, close, host, store } = hosted(newFile(), {
    tools: [tool("danger", log), slow],
    hooks: [asking]
  }, { release: "v2" })
  const now = Date.now()
  const add = (entry: Partial<NewEntry> & Pick<NewEntry, "sessionId" | "key">) =>
    run(store.inbox.add({ kind: "message", body: { message: entry.key }, at: now, ...entry }))
  const running = await host.start()
  await host.send("asks", "do danger", { key: "a" })
  await host.result("asks", "a")
  await host.send("busy", "do slow", { key: "b" })
  await began.opened
  await add({ sessionId: "dead", key: "d" })
  await run(store.inbox.report("dead", "d", "dead", { status: "dead", attempts: 5, reason: "it ends its process" }))
  await run(store.inbox.pin!("stuck", "v1"))
  await add({ sessionId: "stuck", key: "s", at: now - 600_000 })
  await add({ sessionId: "later", key: "l", at: now + 600_000 })
  const serve = Serve.make({
    host,
    authorize: ({ headers }) => /^Bearer token-(.+)$/.exec(headers.get("authorization") ?? "")?.[1]
  })
  const handler = Serve.route({
    "/api/sessions": SessionsPage.handler(serve, { operator: async (principal) => principal === "ops" }),
    "/": async () => SessionsPage.response()
  })
  const server = createServer(NodeHttp.toNode(handler)).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (path: string, body?: unknown, token = "token-ops") => {
    const response = await fetch(`${url}/api/sessions${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
    })
    return { status: response.status, body: await response.json() as { readonly [field: string]: unknown } }
  }
  const dispose = async () => {
    go.open()
    server.closeAllConnections()
    server.close()
    await running.drain()
    await serve.close()
    await close()
  }
  return { agent, host, url, ask, go, log, [Symbol.asyncDispose]: dispose }
}

describe("the handler of the page of sessions", () => {
  it("says of each session what it waits for, the dead and the stuck ones first", async () => {
    await using server = await open()
    const { body } = await server.ask("")
    const sessions = body["sessions"] as ReadonlyArray<{ readonly [field: string]: unknown }>
    assert.deepStrictEqual(sessions.map(({ id, state, why }) => [id, state, why]), [
      ["dead", "dead", "d: it ends its process"],
      ["stuck", "stuck", "no process has begun s, and the session is pinned to the release v1"],
      ["asks", "waiting", "it waits for people, about danger"],
      ["later", "waiting", "l is due later"],
      ["busy", "busy", "the turn of b runs"]
    ])
    const some = (await server.ask("?state=stuck")).body["sessions"] as ReadonlyArray<{ readonly id: string }>
    assert.deepStrictEqual(some.map(({ id }) => id), ["stuck"])
    const soon = await server.host.overview({ stuckMs: 1, state: "stuck" })
    assert.includeMembers(soon.map(({ id }) => id), ["busy", "stuck"])
  })

  it("names a wrong argument", () => {
    assert.throws(
      () => SessionsPage.handler(undefined as never, { operator: () => true }),
      /SessionsPage\.serve: expected/
    )
  })

  it("refuses everybody but operators, and does what cannot be undone only when it is confirmed", async () => {
    await using server = await open()
    assert.strictEqual((await server.ask("", undefined, "token-eve")).status, 403)
    assert.strictEqual((await server.ask("/dead", { act: "retry", key: "d" }, "token-eve")).status, 403)
    assert.strictEqual((await fetch(`${server.url}/api/sessions`)).status, 401)
    for (const act of ["drop", "cancel", "erase"]) {
      const { body, status } = await server.ask("/dead", { act, key: "d" })
      assert.strictEqual(status, 400)
      assert.match(String(body["error"]), /nobody can undo .*: send `confirmed: true`/)
    }
    assert.strictEqual((await server.host.status("dead", "d"))?.status, "dead")
    const wrong: ReadonlyArray<readonly [path: string, body: unknown, status: number]> = [
      ["/dead", { act: "explode" }, 400],
      ["/dead", { act: "__proto__" }, 400],
      ["/dead", { act: "retry" }, 400],
      ["/dead", { act: "retry", key: 7 }, 400],
      ["/dead", { act: "retry", key: "other" }, 409],
      ["/dead", { act: "move" }, 400],
      ["/dead", null, 400],
      ["/dead/more", { act: "retry", key: "d" }, 404],
      ["", { act: "retry", key: "d" }, 405]
    ]
    for (const [path, body, status] of wrong) {
      assert.strictEqual((await server.ask(path, body)).status, status, JSON.stringify([path, body]))
    }
    assert.strictEqual((await server.ask("/nobody")).status, 404)
    assert.strictEqual((await server.ask("?state=odd")).status, 400)
    const foreign = await fetch(`${server.url}/api/sessions/dead`, {
      method: "POST",
      headers: { authorization: "Bearer token-ops", origin: "https://evil.example" },
      body: JSON.stringify({ act: "retry", key: "d" })
    })
    assert.strictEqual(foreign.status, 403)
  })
})

describe("the page of sessions in a browser", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it("retries, moves, cancels and erases, and asks again before what nobody can undo", async () => {
    await using server = await open()
    const page = await browser.newPage()
    const problems: Array<string> = []
    page.on("pageerror", (error) => problems.push(error.message))
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    await page.goto(`${server.url}/#token=token-ops`)
    await page.waitForSelector("article.dead")
    assert.lengthOf(await page.$$("article"), 5)
    assert.match(await page.innerText("article.stuck"), /pinned to the release v1/)
    await page.click("article.waiting summary")
    await page.waitForSelector("article.waiting pre")
    assert.include(await page.innerText("article.waiting pre"), "user: do danger")

    await page.click("[aria-label='Retry dead']")
    await page.waitForSelector("text=Retry: done for dead")
    assert.lengthOf(await page.$$("article.dead"), 0)
    assert.deepInclude(await server.host.result("dead", "d"), { status: "completed" })

    // A process may begin the session only after the page has asked what there is.
    await page.route("**/api/sessions", async (route) => {
      const sessions = [{ id: "stuck", state: "stuck", why: "nobody began it", since: Date.now(), entries: [] }]
      await route.fulfill({ json: { sessions } })
    }, { times: 1 })
    await page.fill("[aria-label='Release for stuck']", "v2")
    await page.click("article.stuck button:has-text('Move')")
    await page.waitForSelector("text=Move: done for stuck")
    assert.lengthOf(await page.$$("article.stuck"), 0)
    assert.deepInclude(await server.host.result("stuck", "s"), { status: "completed" })

    await page.selectOption("#state", "waiting")
    await page.waitForSelector("text=2 sessions")
    await page.click("[aria-label='Cancel asks']")
    await page.waitForSelector("text=Cancel: nobody can undo it. Do it")
    assert.strictEqual((await server.host.status("asks", "a"))?.status, "suspended")
    await page.click("[aria-label='Cancel asks']")
    await page.waitForSelector("text=Cancel: done for asks")
    assert.deepInclude(await server.host.result("asks", "a"), { status: "cancelled" })

    await page.click("[aria-label='Erase later']")
    await page.click("[aria-label='Erase later']")
    await page.waitForSelector("text=Erase: done for later")
    assert.isUndefined(await server.host.conversation("later"))
    assert.deepStrictEqual(problems, [])
    await page.close()
  })

  it("asks for the token, and says what is wrong", async () => {
    await using server = await open()
    const page = await browser.newPage()
    await page.goto(server.url)
    await page.waitForSelector("#login", { state: "visible" })
    await page.fill("#token", "token-eve")
    await page.click("text=Sign in")
    await page.waitForSelector("text=only operators may see the sessions of everybody")
    await page.close()
  })
})
