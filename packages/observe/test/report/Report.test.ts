/** The report in a real browser. */
import { createAgent, defineTool, HookAction } from "@belay/core"
import * as Recorder from "@belay/observe/Recorder"
import * as Recording from "@belay/observe/Recording"
import * as Report from "@belay/observe/Report"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { openBrowser } from "../../../../test/support/browser.ts"

const secret = "AKIAIOSFODNN7EXAMPLE"

const tool = (name: string) =>
  defineTool({
    name,
    description: `Does ${name}`,
    input: { type: "object" },
    execute: () => `${name} has <b>done</b> it`
  })

/** Records a run with as many steps, a refusal and a change. */
const recorded = async (steps: number): Promise<Recording.Recording> => {
  const path = join(mkdtempSync(join(tmpdir(), "belay-report-")), "run.jsonl")
  const calls = Array.from(
    { length: steps },
    (_, index) =>
      Scripted.toolCalls({ name: index === 1 ? "drop" : "look", args: { index, text: `argument of step ${index}` } })
  )
  const agent = createAgent({
    name: "clerk",
    provider: Scripted.make([...calls, `</script><script>document.title = "broken"</script> the key is ${secret}`]),
    tools: [tool("look"), tool("drop")],
    hooks: [{
      name: "guard",
      preToolCall: (call) =>
        call.name === "drop"
          ? HookAction.reject("nothing is dropped")
          : Object(call.args).index === 2
          ? HookAction.transform({ ...call, args: { ...Object(call.args), text: "changed" } })
          : undefined
    }],
    limits: { steps: 1_000, toolCalls: 1_000 },
    plugins: [Recorder.make({ path })]
  })
  await agent.run("work")
  await agent.close()
  return Result.getOrThrow(Recording.parse(readFileSync(path, "utf8")))
}

const saved = (html: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), "belay-report-")), "report.html")
  writeFileSync(path, html)
  return `file://${path}`
}

describe("a report", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  /** Opens a page that must not load anything and must not have an error. */
  const open = async (url: string, use: (page: Page) => Promise<void>, options = {}) => {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const problems: Array<string> = []
    page.on("pageerror", ({ message }) => problems.push(message))
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    page.on(
      "request",
      (request) => request.url() === url || request.url().startsWith("data:") || problems.push(request.url())
    )
    await page.goto(url)
    await use(page)
    await context.close()
    assert.deepStrictEqual(problems, [])
  }

  it("shows what happened, with decisions, and hides what is a secret", async () => {
    const url = saved(Report.render(await recorded(4), { title: "Clerk" }))
    assert.notInclude(readFileSync(new URL(url), "utf8"), secret)
    await open(url, async (page) => {
      assert.strictEqual(await page.title(), "Clerk")
      assert.strictEqual(await page.textContent("#totals >> text=refused >> xpath=following-sibling::dd"), "1")
      const refused = page.locator("li.bad", { hasText: "drop" })
      assert.include(await refused.locator("summary").textContent(), "guard: Reject")
      await refused.locator("summary").click()
      await refused.locator(".details").waitFor()
      assert.include(await refused.textContent(), "nothing is dropped")
      const changed = page.locator("li.changed")
      assert.strictEqual(await changed.count(), 1)
      await changed.locator("summary").click()
      await changed.locator(".details").waitFor()
      assert.match(await changed.textContent() ?? "", /argument of step 2.*changed/)
      await page.locator("li.turn summary").click()
      await page.locator("li.turn .details").waitFor()
      assert.include(await page.locator("li.turn").textContent(), "</script><script>")
      assert.include(await page.locator("li.turn").textContent(), "[aws-key]")
    })
  })

  it("shows a long run in parts, and searches all of it", async () => {
    const url = saved(Report.render(await recorded(700)))
    await open(url, async (page) => {
      const shown = async () => page.locator("#rows > li").count()
      assert.strictEqual(await shown(), 1_001)
      assert.strictEqual(await page.textContent("#count"), "1000 of 1404 shown")
      await page.getByRole("button", { name: "Show 404 more" }).click()
      assert.strictEqual(await shown(), 1_404)
      await page.keyboard.press("/")
      await page.keyboard.type("argument of step 699")
      assert.strictEqual(await shown(), 2)
    })
  })

  it("can be filtered and searched, also with the keyboard alone", async () => {
    const url = saved(Report.render(await recorded(4)))
    await open(url, async (page) => {
      const shown = async () => page.locator("#rows > li").count()
      const all = await shown()
      const kinds = ["sessions", "turns", "model calls", "tools"]
      assert.deepStrictEqual(await page.locator("button[aria-pressed]").allInnerTexts(), kinds)
      await page.keyboard.press("/")
      await page.keyboard.type("argument of step 3")
      assert.strictEqual(await shown(), 2)
      await page.keyboard.press("Control+A")
      await page.keyboard.press("Delete")
      assert.strictEqual(await shown(), all)
      await page.getByRole("button", { name: "tools" }).focus()
      await page.keyboard.press("Enter")
      assert.strictEqual(await page.getByRole("button", { name: "tools" }).getAttribute("aria-pressed"), "false")
      assert.strictEqual(await page.locator("li.tool").count(), 0)
      await page.keyboard.press("Enter")
      await page.getByLabel(/only changes/).focus()
      await page.keyboard.press("Space")
      assert.strictEqual(await shown(), 2)
      await page.locator("li summary").first().focus()
      await page.keyboard.press("Enter")
      assert.isTrue(
        await page.locator("li details").first().evaluate((box) => (box as never as { open: boolean }).open)
      )
    })
  })

  it("of 200 steps has less than 300 kB, and fits a phone", async () => {
    const html = Report.render(await recorded(200))
    assert.isBelow(Buffer.byteLength(html), 300_000)
    await open(saved(html), async (page) => {
      assert.isAbove(await page.locator("#rows > li").count(), 400)
      const [content, screen] = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]") as [
        number,
        number
      ]
      assert.isAtMost(content, screen)
      const background = await page.evaluate("getComputedStyle(document.body).backgroundColor")
      assert.strictEqual(background, "rgb(13, 17, 23)")
    }, { viewport: { width: 360, height: 740 }, colorScheme: "dark" })
  })

  it("shows newer data as it arrives, and keeps the search and what is open", async () => {
    const [few, many] = [await recorded(2), await recorded(4)]
    let send: ((data: object) => void) | undefined
    const server = createServer((request, response) => {
      if (request.url === "/events") {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.flushHeaders()
        send = (data) => response.write(`data: ${JSON.stringify(data)}\n\n`)
      } else response.setHeader("content-type", "text/html").end(Report.render(few, { live: "/events" }))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(url)
    await page.fill("#search", "argument of step")
    const before = await page.locator("#rows > li").count()
    await page.locator("li summary").first().click()
    while (send === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    send(Report.data(many))
    // A script in a text would be an eval, which the page forbids.
    await page.locator("#rows > li").nth(before).waitFor({ state: "attached" })
    assert.strictEqual(await page.inputValue("#search"), "argument of step")
    assert.isTrue(await page.locator("li details").first().evaluate((box) => (box as never as { open: boolean }).open))
    await context.close()
    server.closeAllConnections()
    server.close()
  })
})
