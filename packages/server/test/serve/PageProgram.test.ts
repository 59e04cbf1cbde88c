/** What the page shows and sends, in a real browser, with a server that says exactly what a test wants. */
import * as Page from "@belay/server/Page"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser, Page as Tab } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openBrowser } from "../../../../test/support/browser.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

interface Sent {
  readonly what: string
  readonly headers: IncomingMessage["headers"]
  readonly body: any
}

type Answer = (response: ServerResponse, sent: Sent) => void

const json = (value: unknown, status = 200): Answer => (response) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
}
const nothing: Answer = (response) => void response.writeHead(204).end()
/** Chunks of a turn. The stream ends after `[DONE]`, and is cut off without it. */
const frame = (chunk: object | "[DONE]", id?: string) =>
  `${id === undefined ? "" : `id: ${id}\n`}data: ${chunk === "[DONE]" ? chunk : JSON.stringify(chunk)}\n\n`
const stream = (...chunks: ReadonlyArray<object | "[DONE]">): Answer => (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const chunk of chunks) response.write(frame(chunk))
  response.end()
}

/**
 * A server that notes what it is sent. Each kind of request (`load`, `stream`, `post`, `cancel`) is answered by its
 * list, one after the other, and the last answer is repeated.
 */
const serving = async (answers: { readonly [kind: string]: ReadonlyArray<Answer> } = {}) => {
  const sent: Array<Sent> = []
  const asked: { [kind: string]: number } = {}
  const all: { readonly [kind: string]: ReadonlyArray<Answer> } = {
    load: [json({ messages: [] })],
    stream: [nothing],
    post: [stream("[DONE]")],
    cancel: [json({})],
    ...answers
  }
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://x")
    if (pathname === "/chats") {
      const page = Page.response({ api: "/api/chat" })
      return void response.writeHead(200, Object.fromEntries(page.headers)).end(await page.text())
    }
    let text = ""
    for await (const part of request) text += String(part)
    const path = pathname.replace("/api/chat", "")
    const kind = /\/(stream|cancel)$/.exec(path)?.[1] ?? (path === "" ? "post" : "load")
    const one = {
      what: `${request.method} ${kind}`,
      headers: request.headers,
      body: text === "" ? undefined : JSON.parse(text)
    }
    sent.push(one)
    const count = asked[kind] = (asked[kind] ?? 0) + 1
    const list = all[kind]!
    list[Math.min(count, list.length) - 1]!(response, one)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const tab = await browser.newPage({ viewport: { width: 390, height: 600 } })
  const problems: Array<string> = []
  tab.on("pageerror", ({ message }) => void problems.push(message))
  return {
    sent,
    tab,
    url: `http://127.0.0.1:${port}/chats`,
    kinds: () => sent.map(({ what }) => what),
    until: async (is: () => boolean): Promise<void> => {
      while (!is()) await new Promise((resolve) => setTimeout(resolve, 5))
    },
    [Symbol.asyncDispose]: async () => {
      await tab.close()
      server.closeAllConnections()
      server.close()
      assert.deepStrictEqual(problems, [])
    }
  }
}

/** Opens the page and waits until it has shown what is stored. */
const open = async ({ tab, url }: { readonly tab: Tab; readonly url: string }, hash = "") => {
  const asked = tab.waitForResponse((response) => response.url().endsWith("/stream"))
  await tab.goto(`${url}${hash}`)
  await asked
  await tab.waitForSelector("#login", { state: "hidden" })
}
const html = (tab: Tab, selector = "#messages") =>
  tab.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerHTML`) as Promise<string>
const status = (tab: Tab) =>
  tab.evaluate(
    `[document.getElementById("status").className, document.getElementById("status").textContent].join(": ")`
  )
const hiddenOf = (tab: Tab, ...ids: ReadonlyArray<string>) =>
  tab.evaluate(`${JSON.stringify(ids)}.filter((id) => document.getElementById(id).hidden).join(" ")`)
const say = async (tab: Tab, words: string) => {
  await tab.fill("#text", words)
  await tab.press("#text", "Enter")
}

const tool = (state: string, more: object = {}) => ({
  type: "dynamic-tool",
  toolName: "t",
  toolCallId: `c-${state}`,
  state,
  input: { a: 1 },
  ...more
})

describe("the page shows", () => {
  it("every part of stored messages, and nothing for parts that it does not know", async () => {
    const messages = [
      { id: "1", role: "user", parts: [{ type: "text", text: "<b>hi</b>" }, { type: "file" }] },
      {
        id: "2",
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "text" },
          { type: "reasoning", text: "because" },
          { type: "reasoning" },
          { type: "data-hook", data: { by: "gate", action: "Ask", point: "preToolCall", subject: "t", why: "risky" } },
          { type: "data-hook", data: { action: "Reject", point: "preTurn", subject: 5, why: "no" } },
          { type: "data-hook", data: { by: "", action: 1, point: "p", subject: "", why: "" } },
          { type: "data-hook" },
          tool("input-available"),
          tool("approval-responded", { input: "as text", approval: { id: "q" } }),
          tool("output-available", { output: { b: [2] } }),
          tool("output-error", { errorText: "it broke" }),
          tool("output-denied"),
          { type: "dynamic-tool" }
        ]
      }
    ]
    await using server = await serving({ load: [json({ messages })] })
    await open(server)
    const input = "<pre>{\n  \"a\": 1\n}</pre>"
    const head = (label: string, name = "t") => `<summary><b>${name}</b> <span class="label">${label}</span></summary>`
    const shown = (await html(server.tab)).replaceAll("</details>", "</details>\n").replaceAll("</p>", "</p>\n")
    assert.strictEqual(
      shown,
      "<article class=\"user\" aria-label=\"You\"><p class=\"text\">&lt;b&gt;hi&lt;/b&gt;</p>\n</article>" +
        "<article class=\"assistant\" aria-label=\"Agent\"><p class=\"text\"></p>\n" +
        "<details class=\"reasoning\"><summary>Thoughts</summary><p>because</p>\n</details>\n" +
        "<details class=\"reasoning\"><summary>Thoughts</summary><p></p>\n</details>\n" +
        "<p class=\"hook\">gate: Ask at preToolCall (t, risky)</p>\n" +
        "<p class=\"hook\">a hook: Reject at preTurn (no)</p>\n" +
        "<p class=\"hook\">a hook:  at p</p>\n" +
        "<p class=\"hook\">a hook:  at </p>\n" +
        `<details class="tool input-available">${head("runs")}${input}</details>\n` +
        `<details class="tool approval-responded">${head("answered")}<pre>as text</pre></details>\n` +
        `<details class="tool output-available">${head("done")}${input}` +
        "<pre class=\"result\">{\n  \"b\": [\n    2\n  ]\n}</pre></details>\n" +
        `<details class="tool output-error">${head("failed")}${input}<pre class="result">it broke</pre></details>\n` +
        `<details class="tool output-denied">${head("denied")}${input}</details>\n` +
        `<details class="tool undefined">${head("", "")}<pre></pre></details>\n</article>`
    )
    assert.strictEqual(await hiddenOf(server.tab, "empty", "login", "stop", "send"), "empty login stop")
    assert.strictEqual(await status(server.tab), ": ")
    assert.deepStrictEqual(server.kinds(), ["GET load", "GET stream"])
  })

  it("a question, open, with its reason and a button for each answer", async () => {
    const asked = tool("approval-requested", { approval: { id: "q1", requestReason: "really?" } })
    const other = tool("approval-requested", { toolCallId: "other", approval: { id: "q2" } })
    const messages = [{ id: "m", role: "assistant", parts: [asked, other] }]
    const done = [
      { type: "start", messageId: "m" },
      { type: "tool-output-available", toolCallId: "other", output: "it ran" },
      { type: "tool-output-denied", toolCallId: asked.toolCallId },
      "[DONE]"
    ] as const
    await using server = await serving({ load: [json({ messages })], post: [stream(...done)] })
    await open(server)
    const { tab } = server
    const question = (reason: string) =>
      "<details class=\"tool approval-requested\" open=\"\"><summary><b>t</b> " +
      "<span class=\"label\">needs your approval</span></summary><pre>{\n  \"a\": 1\n}</pre>" +
      `<p class="reason">${reason}</p><div class="buttons"><button class="allow" aria-label="Allow t">Allow</button>` +
      "<button class=\"deny\" aria-label=\"Deny t\">Deny</button></div></details>"
    assert.strictEqual(await html(tab, "article"), `${question("really?")}${question("")}`)
    await tab.click(".deny >> nth=0")
    assert.strictEqual(await tab.innerText(".label >> nth=0"), "answered")
    assert.lengthOf(server.kinds(), 2)
    await tab.click(".allow")
    await tab.waitForSelector("text=it ran")
    await tab.waitForSelector("#stop", { state: "hidden" })
    const { body } = server.sent.find(({ what }) => what === "POST post")!
    const chat = await tab.evaluate("localStorage.getItem(\"belay.chat\")")
    assert.deepStrictEqual(body, {
      id: chat,
      messages: [{
        id: "m",
        role: "assistant",
        parts: [
          { ...asked, state: "approval-responded", approval: { id: "q1", requestReason: "really?", approved: false } },
          { ...other, state: "approval-responded", approval: { id: "q2", approved: true } }
        ]
      }]
    })
    assert.deepStrictEqual(await tab.locator(".label").allInnerTexts(), ["denied", "done"])
    assert.strictEqual(await tab.evaluate("document.activeElement.id"), "text")
  })

  it("what a turn streams, each piece in its part", async () => {
    const chunks = [
      { type: "text-delta", id: "0", delta: "too early" },
      { type: "start", messageId: "a1" },
      { type: "start-step" },
      { type: "text-start", id: "t1" },
      { type: "text-delta", id: "t1", delta: "kept " },
      { type: "start-step" },
      { type: "text-start", id: "t2" },
      { type: "text-delta", id: "t2", delta: "withdrawn" },
      { type: "reset-step" },
      { type: "reasoning-start", id: "r1" },
      { type: "text-start", id: "t3" },
      { type: "reasoning-delta", id: "r1", delta: "thought" },
      { type: "text-delta", id: "t3", delta: "one " },
      { type: "text-delta", id: "t3", delta: "two" },
      { type: "text-delta", id: "t1", delta: "too" },
      { type: "text-delta", id: "nobody", delta: "lost" },
      { type: "unknown-chunk" },
      { type: "data-hook", data: { by: "gate", action: "Ask", point: "p" } },
      { type: "tool-input-available", toolCallId: "c1", toolName: "look", input: { q: 1 } },
      { type: "tool-input-available", toolCallId: "c2", toolName: "ask", input: {} },
      { type: "tool-input-available", toolCallId: "c3", toolName: "fail", input: {} },
      { type: "tool-input-available", toolCallId: "c4", toolName: "runs", input: {} },
      { type: "tool-output-available", toolCallId: "c1", output: "looked" },
      { type: "tool-approval-request", toolCallId: "c2", approvalId: "q", reason: "sure?" },
      { type: "tool-approval-request", toolCallId: "none", approvalId: "q", reason: "sure?" },
      { type: "tool-output-error", toolCallId: "c3", errorText: "broke" },
      { type: "tool-output-denied", toolCallId: "c4" },
      { type: "tool-input-available", toolCallId: "c4", toolName: "again", input: { not: "shown" } },
      "[DONE]"
    ] as const
    await using server = await serving({ post: [stream(...chunks)] })
    await open(server)
    const { tab } = server
    await say(tab, "  go  ")
    await tab.waitForSelector("text=broke", { state: "attached" })
    await tab.waitForSelector("#stop", { state: "hidden" })
    assert.deepStrictEqual(await tab.locator("article.assistant > p").allTextContents(), [
      "kept too",
      "one two",
      "gate: Ask at p"
    ])
    assert.deepStrictEqual(await tab.locator(".reasoning p").allTextContents(), ["thought"])
    assert.deepStrictEqual(await tab.locator("summary").allTextContents(), [
      "Thoughts",
      "look done",
      "ask needs your approval",
      "fail failed",
      "runs runs"
    ])
    assert.deepStrictEqual(await tab.locator(".result").allTextContents(), ["looked", "broke"])
    assert.strictEqual(await tab.innerText(".reason"), "sure?")
    assert.strictEqual(await tab.innerText("article.user"), "go")
    const { body, headers } = server.sent.find(({ what }) => what === "POST post")!
    assert.deepStrictEqual(body.messages.map(({ parts, role }: any) => [role, parts]), [
      ["user", [{ type: "text", text: "go" }]]
    ])
    assert.strictEqual(headers.authorization, "Bearer")
  })

  it("a turn once that comes again, and a turn that failed or was stopped", async () => {
    const words = (text: string) => [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: text }
    ]
    await using server = await serving({
      post: [
        stream({ type: "start", messageId: "a" }, ...words("half")),
        stream({ type: "start", messageId: "b" }, { type: "error", errorText: "the model failed" }, "[DONE]"),
        stream({ type: "start", messageId: "c" }, { type: "error" }, "[DONE]"),
        stream({ type: "start" }, ...words("an end"), { type: "abort" }, "[DONE]")
      ]
    })
    await open(server)
    const { tab } = server
    await say(tab, "one")
    await tab.waitForSelector("text=the model failed")
    assert.strictEqual(await status(tab), "error: the model failed")
    await say(tab, "two")
    await tab.waitForSelector("text=the agent failed")
    await say(tab, "three")
    await tab.waitForSelector("text=stopped")
    assert.strictEqual(await status(tab), ": stopped")
    assert.deepStrictEqual(await tab.locator("article").allInnerTexts(), ["one", "half", "two", "three", "an end"])
  })
})

describe("the page sends", () => {
  it("nothing for an empty message, a new line with Shift, and nothing while a turn runs", async () => {
    let end = (): void => {}
    const held: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(frame({ type: "start", messageId: "a" }))
      end = () => void response.end(frame("[DONE]"))
    }
    await using server = await serving({ post: [held] })
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
    assert.deepStrictEqual(server.sent.at(-1)!.body, {})
    end()
    await tab.waitForSelector("#stop", { state: "hidden" })
    await tab.click("#send")
    await server.until(() => server.kinds().filter((kind) => kind === "POST post").length === 2)
    const texts = server.sent.filter(({ what }) => what === "POST post").map(({ body }) => body.messages[0].parts)
    assert.deepStrictEqual(texts, [[{ type: "text", text: "a\nb" }], [{ type: "text", text: "later" }]])
    end()
  })

  it("the token of the address, which leaves the address, or the one that is typed", async () => {
    const refused = json({ error: "no valid credentials" }, 401)
    await using server = await serving({ load: [json({ messages: [] }), refused, json({ messages: [] })] })
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
    await using server = await serving({ post: [running, stream("[DONE]")] })
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
    await using server = await serving({
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
    await using server = await serving({
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
    await using server = await serving({ load: [down, json({ messages: [] })], stream: [running] })
    const { tab } = server
    await tab.goto(server.url)
    await tab.waitForSelector("text=The server cannot be reached. Trying again …")
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
    await using server = await serving({ post: [stream(...asked), stream(...more)] })
    await open(server)
    const { tab } = server
    await say(tab, "go")
    await tab.click(".allow")
    await server.until(() => server.kinds().filter((kind) => kind === "POST post").length === 2)
    await tab.waitForSelector("#stop", { state: "hidden" })
    assert.deepStrictEqual(server.sent.at(-1)!.body.messages[0].parts.map(({ type }: any) => type), [
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
    await using server = await serving({ post: [begun] })
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
    await using server = await serving({ load: [json({ messages: [long] })], post: [added] })
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
