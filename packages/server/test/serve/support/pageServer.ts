/** A server for the page that says exactly what a test wants, and what the page shows of it. */
import * as Page from "@belay/server/Page"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser, Page as Tab } from "playwright-core"
import { assert } from "vitest"

/** What the page sends: a message, or nothing. */
interface Body {
  readonly id?: string
  readonly messages: ReadonlyArray<
    { readonly id: string; readonly role: string; readonly parts: ReadonlyArray<{ readonly [field: string]: unknown }> }
  >
}

export interface Sent {
  readonly what: string
  readonly headers: IncomingMessage["headers"]
  readonly body: Body
}

export type Answer = (response: ServerResponse, sent: Sent) => void

export const json = (value: unknown, status = 200): Answer => (response) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
}
export const nothing: Answer = (response) => void response.writeHead(204).end()
/** Chunks of a turn. The stream ends after `[DONE]`, and is cut off without it. */
export const frame = (chunk: object | "[DONE]", id?: string) =>
  `${id === undefined ? "" : `id: ${id}\n`}data: ${chunk === "[DONE]" ? chunk : JSON.stringify(chunk)}\n\n`
export const stream = (...chunks: ReadonlyArray<object | "[DONE]">): Answer => (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const chunk of chunks) response.write(frame(chunk))
  response.end()
}

/**
 * A server that notes what it is sent. Each kind of request (`load`, `stream`, `post`, `cancel`) is answered by its
 * list, one after the other, and the last answer is repeated.
 */
export const serving = async (
  browser: Browser,
  answers: { readonly [kind: string]: ReadonlyArray<Answer> } = {}
) => {
  const sent: Array<Sent> = []
  const asked: { [kind: string]: number } = {}
  const all: { readonly [kind: string]: ReadonlyArray<Answer> } = {
    load: [json({ messages: [] })],
    stream: [nothing],
    post: [stream("[DONE]")],
    cancel: [json({})],
    ...answers
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
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
      // The page sends nothing, or JSON.
      body: (text === "" ? {} : JSON.parse(text)) as Body
    }
    sent.push(one)
    const count = asked[kind] = (asked[kind] ?? 0) + 1
    const list = all[kind]!
    list[Math.min(count, list.length) - 1]!(response, one)
  }
  const server = createServer((request, response) => void answer(request, response))
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
export const open = async ({ tab, url }: { readonly tab: Tab; readonly url: string }, hash = "") => {
  const asked = tab.waitForResponse((response) => response.url().endsWith("/stream"))
  await tab.goto(`${url}${hash}`)
  await asked
  await tab.waitForSelector("#login", { state: "hidden" })
}
export const html = (tab: Tab, selector = "#messages") =>
  tab.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerHTML`) as Promise<string>
export const status = (tab: Tab) =>
  tab.evaluate(
    `[document.getElementById("status").className, document.getElementById("status").textContent].join(": ")`
  )
export const hiddenOf = (tab: Tab, ...ids: ReadonlyArray<string>) =>
  tab.evaluate(`${JSON.stringify(ids)}.filter((id) => document.getElementById(id).hidden).join(" ")`)
export const say = async (tab: Tab, words: string) => {
  await tab.fill("#text", words)
  await tab.press("#text", "Enter")
}
