/** What the page shows, in a real browser. */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openBrowser } from "../../../../../../test/support/browser.ts"
import { hiddenOf, html, json, nothing, open, say, serving, status, stream } from "../../support/pageServer.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

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
    await using server = await serving(browser, { load: [json({ messages })] })
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
    await using server = await serving(browser, { load: [json({ messages })], post: [stream(...done)] })
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
    const chat = String(await tab.evaluate("localStorage.getItem(\"belay.chat\")"))
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
    await using server = await serving(browser, { post: [stream(...chunks)] })
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
    assert.deepStrictEqual(body.messages.map(({ parts, role }) => [role, parts]), [
      ["user", [{ type: "text", text: "go" }]]
    ])
    assert.strictEqual(headers.authorization, "Bearer")
  })

  it("a stored turn once that still runs and comes from its beginning", async () => {
    const messages = [{ id: "m", role: "assistant", parts: [{ type: "text", text: "half" }] }]
    const turn = stream(
      { type: "start", messageId: "m" },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "half, and whole" },
      "[DONE]"
    )
    await using server = await serving(browser, { load: [json({ messages })], stream: [turn, nothing] })
    await open(server)
    await server.tab.waitForSelector("text=and whole")
    assert.deepStrictEqual(await server.tab.locator("article.assistant > p").allTextContents(), ["half, and whole"])
  })

  it("a turn once that comes again, and a turn that failed or was stopped", async () => {
    const words = (text: string) => [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: text }
    ]
    await using server = await serving(browser, {
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
