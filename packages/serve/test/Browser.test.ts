/** `useChat` in a real browser. */
import { createAgent } from "@belay/core/createAgent"
import * as Host from "@belay/host/Host"
import * as SqliteStore from "@belay/providers/SqliteStore"
import type * as Serve from "@belay/serve/Serve"
import * as UiStream from "@belay/serve/UiStream"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bundle, openBrowser } from "./support/browser.ts"
import { asking, served, talker, tools } from "./support/served.ts"

describe("useChat in a browser", () => {
  let browser: Browser
  let script: string
  beforeAll(async () => {
    ;[browser, script] = await Promise.all([openBrowser(), bundle("chatPage.mjs")])
  })
  afterAll(() => browser.close())

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

  it("gets the rest of an answer after a reload, also when another process goes on with it", async () => {
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
