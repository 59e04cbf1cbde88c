/** What the page sends, and how it goes on, in a real browser. */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openBrowser } from "../../../../../../test/support/browser.ts"
import {
  type Answer,
  frame,
  hiddenOf,
  html,
  json,
  nothing,
  open,
  say,
  serving,
  status,
  stream
} from "../../support/pageServer.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

describe("the page sends", () => {
  it("nothing for an empty message, a new line with Shift, and nothing while a turn runs", async () => {
    let end = (): void => {}
    const held: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(frame({ type: "start", messageId: "a" }))
      end = () => void response.end(frame("[DONE]"))
    }
    await using server = await serving(browser, { post: [held] })
    await open(server)
    const { tab } = server
    assert.strictEqual(await hiddenOf(tab, "empty", "stop", "send"), "stop")
    await say(tab, "   ")
    await tab.fill("#text", "a")
    await tab.press("#text", "Shift+Enter")
    await tab.keyboard.type("b")
    assert.strictEqual(await tab.inputValue("#text"), "a\nb")
    const composing = "new KeyboardEvent(\"keydown\", { key: \"Enter\", isComposing: true, cancelable: true })"
    assert.isTrue(await tab.evaluate(`document.getElementById("text").dispatchEvent(${composing})`))
    assert.strictEqual(await tab.inputValue("#text"), "a\nb")
    await tab.click("#send")
    await tab.waitForSelector("#stop")
    assert.strictEqual(await hiddenOf(tab, "empty", "stop", "send"), "empty send")
    assert.strictEqual(await tab.inputValue("#text"), "")
    await say(tab, "later")
    assert.strictEqual(await tab.inputValue("#text"), "later")
    await tab.click("#stop")
    await server.until(() => server.kinds().includes("POST cancel"))
    assert.deepStrictEqual(server.kinds(), ["GET load", "GET stream", "POST post", "POST cancel"])
    assert.deepStrictEqual(server.sent.at(-1)!.body as unknown, {})
    end()
    await tab.waitForSelector("#stop", { state: "hidden" })
    await tab.click("#send")
    await server.until(() => server.kinds().filter((kind) => kind === "POST post").length === 2)
    const texts = server.sent.filter(({ what }) => what === "POST post").map(({ body }) => body.messages[0]!.parts)
    assert.deepStrictEqual(texts, [[{ type: "text", text: "a\nb" }], [{ type: "text", text: "later" }]])
    end()
  })

  it("the token of the address, which leaves the address, or the one that is typed", async () => {
    const refused = json({ error: "no valid credentials" }, 401)
    await using server = await serving(browser, { load: [json({ messages: [] }), refused, json({ messages: [] })] })
    const { sent, tab } = server
    await open(server, "#token=a%2Bb")
    assert.strictEqual(tab.url(), server.url)
    assert.strictEqual(await tab.evaluate("history.length"), 2)
    assert.strictEqual(sent[0]!.headers.authorization, "Bearer a+b")
    await tab.reload()
    await tab.waitForSelector("#login")
    assert.strictEqual(await status(tab), "error: no valid credentials")
    assert.strictEqual(sent.at(-1)!.headers.authorization, "Bearer a+b")
    await tab.fill("#token", "  other ")
    await tab.press("#token", "Enter")
    await tab.waitForSelector("#login", { state: "hidden" })
    await server.until(() => server.kinds().length === 5)
    assert.deepStrictEqual(server.kinds().slice(-2), ["GET load", "GET stream"])
    assert.strictEqual(sent.at(-1)!.headers.authorization, "Bearer other")
    assert.strictEqual(await status(tab), ": ")
  })

  it("a new chat under another name, and keeps the name of a chat over a reload", async () => {
    const running: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(frame({ type: "start", messageId: "a" }))
    }
    await using server = await serving(browser, { post: [running, stream("[DONE]")] })
    await open(server)
    const { tab } = server
    const chat = () => tab.evaluate("localStorage.getItem(\"belay.chat\")")
    const first = await chat()
    assert.match(String(first), /^[0-9a-f-]{36}$/)
    await open(server)
    assert.strictEqual(await chat(), first)
    await say(tab, "one")
    await tab.waitForSelector("#stop")
    await tab.click("#new")
    const second = await chat()
    assert.notStrictEqual(second, first)
    assert.strictEqual(await hiddenOf(tab, "empty", "stop", "send"), "stop")
    assert.strictEqual(await html(tab), "")
    assert.strictEqual(await tab.evaluate("document.activeElement.id"), "text")
    await say(tab, "two")
    await server.until(() => server.kinds().filter((kind) => kind === "POST post").length === 2)
    assert.deepStrictEqual(server.sent.filter(({ what }) => what === "POST post").map(({ body }) => body.id), [
      first,
      second
    ])
    assert.deepStrictEqual(await tab.locator("article").allInnerTexts(), ["two"])
  })
})

describe("the page goes on", () => {
  it("from the last event that it read, after the connection was lost", async () => {
    const cut: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(frame({ type: "start", messageId: "a" }, "7"))
      response.write(frame({ type: "text-start", id: "t" }, "8"))
      response.write(frame({ type: "text-delta", id: "t", delta: "hel" }))
      // Half of an event counts for nothing.
      response.end("id: 9\ndata: {\"type\":\"text-del")
    }
    const rest = stream({ type: "text-delta", id: "t", delta: "lo" }, "[DONE]")
    await using server = await serving(browser, {
      post: [cut],
      stream: [nothing, (response) => void response.writeHead(503).end(), rest]
    })
    await open(server)
    const { sent, tab } = server
    await say(tab, "go")
    await tab.waitForSelector("text=The connection was lost. Trying again …")
    await tab.waitForSelector("text=hello")
    await tab.waitForSelector("#stop", { state: "hidden" })
    assert.strictEqual(await status(tab), ": ")
    assert.deepStrictEqual(server.kinds().slice(2), ["POST post", "GET stream", "GET stream"])
    assert.deepStrictEqual(sent.slice(3).map(({ headers }) => headers["last-event-id"]), ["8", "8"])
    assert.deepStrictEqual(await tab.locator("article").allInnerTexts(), ["go", "hello"])
  })

  it("with what is stored if the turn has ended, and shows why it was refused", async () => {
    const messages = [{ id: "s", role: "assistant", parts: [{ type: "text", text: "from the store" }] }]
    await using server = await serving(browser, {
      load: [json({ messages: [] }), json({ messages })],
      post: [nothing, json({ error: "too many requests" }, 429), (response) => void response.writeHead(404).end("?")]
    })
    await open(server)
    const { tab } = server
    await say(tab, "one")
    await tab.waitForSelector("text=from the store")
    await tab.waitForSelector("#stop", { state: "hidden" })
    // It was known before that nothing runs.
    assert.deepStrictEqual(server.kinds(), ["GET load", "GET stream", "POST post", "GET load"])
    await say(tab, "two")
    await tab.waitForSelector("text=too many requests")
    assert.strictEqual(await hiddenOf(tab, "login", "stop", "send"), "login stop")
    await say(tab, "three")
    await tab.waitForSelector("text=the server answered with 404")
    assert.lengthOf(server.kinds(), 6)
  })

  it("with a turn that runs already, as soon as the server answers", async () => {
    const running = stream(
      { type: "start", messageId: "a" },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "it runs" },
      "[DONE]"
    )
    const down: Answer = (response) => void response.writeHead(500).end()
    const isSeen = Promise.withResolvers<void>()
    const again: Answer = (...given) => void isSeen.promise.then(() => json({ messages: [] })(...given))
    await using server = await serving(browser, { load: [down, again], stream: [running] })
    const { tab } = server
    await tab.goto(server.url)
    await tab.waitForSelector("text=The server cannot be reached. Trying again …")
    isSeen.resolve()
    await tab.waitForSelector("text=it runs")
    await tab.waitForSelector("#stop", { state: "hidden" })
    assert.deepStrictEqual(server.kinds(), ["GET load", "GET load", "GET stream"])
    assert.strictEqual(await status(tab), ": ")
  })

  it("after an approval with what it showed before", async () => {
    const asked = [
      { type: "start", messageId: "a" },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "let me look" },
      { type: "tool-input-available", toolCallId: "c", toolName: "t", input: {} },
      { type: "tool-approval-request", toolCallId: "c", approvalId: "q", reason: "?" },
      "[DONE]"
    ] as const
    const more = [
      { type: "start", messageId: "a" },
      { type: "tool-output-available", toolCallId: "c", output: "it ran" },
      { type: "text-start", id: "t2" },
      { type: "text-delta", id: "t2", delta: "done" },
      "[DONE]"
    ] as const
    await using server = await serving(browser, { post: [stream(...asked), stream(...more)] })
    await open(server)
    const { tab } = server
    await say(tab, "go")
    await tab.click(".allow")
    await server.until(() => server.kinds().filter((kind) => kind === "POST post").length === 2)
    await tab.waitForSelector("#stop", { state: "hidden" })
    assert.deepStrictEqual(server.sent.at(-1)!.body.messages[0]!.parts.map(({ type }) => type), [
      "text",
      "dynamic-tool"
    ])
    await tab.waitForSelector("text=it ran")
    assert.deepStrictEqual(await tab.locator("article.assistant > p").allInnerTexts(), ["let me look", "done"])
  })

  it("with what a person has opened", async () => {
    let more = (): void => {}
    const begun: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const id of ["c1", "c2"]) {
        if (id === "c1") response.write(frame({ type: "start", messageId: "a" }))
        response.write(frame({ type: "tool-input-available", toolCallId: id, toolName: id, input: {} }))
      }
      more = () => {
        response.write(frame({ type: "tool-output-available", toolCallId: "c1", output: "one" }))
        response.write(frame({ type: "tool-output-available", toolCallId: "c2", output: "two" }))
        response.end(frame("[DONE]"))
      }
    }
    await using server = await serving(browser, { post: [begun] })
    await open(server)
    const { tab } = server
    await say(tab, "go")
    await tab.click("summary >> nth=1")
    more()
    await tab.waitForSelector("text=two")
    await tab.waitForSelector("#stop", { state: "hidden" })
    assert.deepStrictEqual(await tab.evaluate("[...document.querySelectorAll(\"details\")].map(({ open }) => open)"), [
      false,
      true
    ])
  })
})

describe("the page scrolls", () => {
  it("with what is added while its end is in sight, and stays where a person reads", async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`).join("\n\n")
    const long = { id: "s", role: "assistant", parts: Array.from({ length: 60 }, () => ({ type: "text", text: "x" })) }
    const added = stream(
      { type: "start", messageId: "a" },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: lines(60) },
      "[DONE]"
    )
    await using server = await serving(browser, { load: [json({ messages: [long] })], post: [added] })
    await open(server)
    const { tab } = server
    const rest = () =>
      tab.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY").then((left) => Number(left))
    assert.isAtMost(await rest(), 1)
    await say(tab, "go")
    await tab.waitForSelector("#stop", { state: "hidden" })
    await tab.waitForSelector("text=line 59")
    assert.isAtMost(await rest(), 1)
    await tab.evaluate("scrollTo(0, 0)")
    await tab.evaluate("document.getElementById(\"text\").value = \"again\"")
    await tab.evaluate("document.getElementById(\"composer\").requestSubmit()")
    await server.until(() => server.kinds().filter((kind) => kind === "POST post").length === 2)
    await tab.waitForSelector("#stop", { state: "hidden" })
    assert.strictEqual(await tab.evaluate("scrollY"), 0)
  })
})
