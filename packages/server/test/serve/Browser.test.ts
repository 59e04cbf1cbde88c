/** `useChat` and the page in a real browser. */
import { createAgent } from "@belay/core/createAgent"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as Page from "@belay/server/Page"
import type * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openBrowser } from "../../../../test/support/browser.ts"
import { bundle } from "./support/bundle.ts"
import { asking, served, talker, tools } from "./support/served.ts"

let browser: Browser
let script: string
beforeAll(async () => {
  ;[browser, script] = await Promise.all([openBrowser(), bundle("chatPage.mjs")])
})
afterAll(() => browser.close())

describe("useChat in a browser", () => {
  const withPage = (serve: Serve.Serve): Serve.Handler => {
    const chat = UiStream.handler(serve)
    return async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith("/api/chat")) return chat(request)
      const isScript = pathname === "/script.js"
      const type = isScript ? "text/javascript" : "text/html"
      const html = "<!doctype html><meta charset=utf-8><div id=root></div><script type=module src=/script.js></script>"
      return new Response(isScript ? script : html, { headers: { "content-type": `${type}; charset=utf-8` } })
    }
  }

  it("streams, asks, goes on after an approval, and shows all of it after a reload", async () => {
    await using server = await served(withPage)
    const page = await browser.newPage()
    const say = async (words: string) => {
      await page.fill("input", words)
      await page.press("input", "Enter")
    }
    await page.goto(server.url)
    await page.waitForSelector("input")
    await say("call weather")
    await page.waitForSelector("text=Result: {\"degrees\":21}")
    await say("call delete_file")
    await page.waitForSelector("text=delete_file approval-requested")
    await page.reload()
    await page.click("text=Allow")
    await page.waitForSelector("text=Result: deleted")
    assert.deepStrictEqual(server.log, ["weather", "delete_file"])
    await page.reload()
    await page.waitForSelector("text=delete_file output-available")
    assert.lengthOf(await page.$$("article"), 4)
    assert.match(await page.innerText("output"), /^ready\s*$/)
    await page.close()
  })

  it("gets the rest of an answer after a reload, also when another process continues it", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "belay-serve-")), "store.db")
    let words = 0
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => go = resolve)
    const open = () => {
      const store = SqliteStore.make({ path })
      const provider = talker({ each: async () => ++words === 3 ? gate : undefined })
      const agent = createAgent({ provider, tools: tools(), hooks: [asking], store: store.sessions, log: false })
      return { store, agent, host: Host.make({ agent, store, pollMs: 20 }) }
    }
    const [runner, front] = [open(), open()]
    await using _running = await runner.host.start()
    await using server = await served(withPage, { host: front.host })
    const page = await browser.newPage()
    await page.goto(server.url)
    await page.fill("input", "hello")
    await page.press("input", "Enter")
    await page.waitForSelector("text=You said:")
    await page.reload()
    await page.waitForSelector("text=You said:")
    go()
    await page.waitForSelector("text=You said: hello (1)")
    assert.lengthOf(await page.$$("article"), 2)
    await page.close()
    await front.agent.close()
  })
})

describe("the page", () => {
  const withPage = (serve: Serve.Serve): Serve.Handler => {
    const chat = UiStream.handler(serve, { hooks: true })
    return async (request) => new URL(request.url).pathname === "/" ? Page.response({ title: "Demo" }) : chat(request)
  }
  const phone = { viewport: { width: 390, height: 844 }, colorScheme: "dark" } as const

  it("works with the keyboard alone, shows tools and decisions, and keeps its state over a reload", async () => {
    await using server = await served(withPage)
    const page = await browser.newPage(phone)
    const problems: Array<string> = []
    page.on("pageerror", (error) => problems.push(error.message))
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    await page.goto(`${server.url}/#token=token-ada`)
    await page.waitForSelector("#login", { state: "hidden" })
    assert.strictEqual(await page.evaluate("location.hash + document.activeElement.id"), "text")
    const say = async (words: string) => {
      await page.keyboard.type(words)
      await page.keyboard.press("Enter")
    }
    await say("call weather")
    await page.waitForSelector("text=Result: {\"degrees\":21}")
    await say("call delete_file")
    await page.waitForSelector("text=needs your approval")
    await page.waitForSelector("text=gate: Ask at preToolCall")
    assert.notInclude(await page.innerText("#messages"), "client-tools")
    assert.lengthOf(await page.$$(".hook"), 1)
    await page.reload()
    await page.waitForSelector("text=needs your approval")
    await page.focus("[aria-label='Deny delete_file']")
    await page.keyboard.press("Enter")
    await page.waitForSelector(".output-denied")
    await page.waitForSelector("text=Result: ")
    await say("call delete_file")
    await page.waitForSelector("text=needs your approval")
    await page.focus("[aria-label='Allow delete_file']")
    await page.keyboard.press("Space")
    await page.waitForSelector("text=Result: deleted")
    assert.deepStrictEqual(server.log, ["weather", "delete_file"])
    await page.reload()
    await page.waitForSelector("text=Result: deleted")
    assert.lengthOf(await page.$$("article"), 6)
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert.isAtMost(Number(overflow), 0)
    assert.deepStrictEqual(problems, [])
    await page.close()
  })

  it("asks for the token, and says what is wrong", async () => {
    await using server = await served(withPage)
    const page = await browser.newPage(phone)
    await page.goto(`${server.url}/#token=wrong`)
    await page.waitForSelector("text=no valid credentials")
    await page.fill("#token", "token-ada")
    await page.press("#token", "Enter")
    await page.waitForSelector("#login", { state: "hidden" })
    await page.close()
  })

  it("continues a turn after its server was killed and started again", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "belay-serve-")), "store.db")
    let starts = 0
    const start = async (port?: number) => {
      const isFirst = ++starts === 1
      let words = 0
      // The first process stops in the middle of a word, and never goes on.
      const provider = talker({ each: () => isFirst && ++words === 3 ? new Promise(() => {}) : Promise.resolve() })
      const store = SqliteStore.make({ path })
      const agent = createAgent({ provider, store: store.sessions, log: false })
      const host = Host.make({ agent, store, pollMs: 20 })
      const running = await host.start()
      return { running, server: await served(withPage, { host }, {}, port) }
    }
    const first = await start()
    const page = await browser.newPage(phone)
    await page.goto(`${first.server.url}/#token=token-ada`)
    await page.fill("#text", "hello")
    await page.press("#text", "Enter")
    await page.waitForSelector("text=You said:")
    await first.server.close()
    await page.waitForSelector("text=The connection was lost")
    // The end of a process frees the file for the next one.
    await first.running.drain({ withinMs: 100 })
    const second = await start(Number(new URL(first.server.url).port))
    await page.waitForSelector("text=You said: hello (1)")
    assert.strictEqual(await page.innerText("article.assistant"), "You said: hello (1)")
    assert.lengthOf(await page.$$("article"), 2)
    await page.close()
    await second.running.drain()
    await second.server.close()
  })
})
