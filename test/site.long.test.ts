/** Builds the site as `npm run site` does, follows its links, and looks at it in a real browser. */
import { execFile } from "node:child_process"
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join, posix } from "node:path"
import { promisify } from "node:util"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openBrowser } from "./support/browser.ts"

const folder = "site/dist"
const types: { readonly [ending: string]: string } = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
  png: "image/png"
}

const fileOf = (path: string): string | undefined => {
  const file = join(folder, decodeURIComponent(path))
  const candidates = existsSync(file) && statSync(file).isDirectory()
    ? [join(file, "index.html")]
    : [file, `${file}.html`]
  return candidates.find((candidate) => existsSync(candidate))
}

const server = createServer((request, response) => {
  const file = fileOf(new URL(request.url ?? "/", "http://localhost").pathname)
  if (file === undefined) return void response.writeHead(404).end()
  response.writeHead(200, { "content-type": types[file.split(".").at(-1)!] ?? "text/plain" }).end(readFileSync(file))
})

let browser: Browser
let url = ""
beforeAll(async () => {
  // Fails with what was printed.
  await promisify(execFile)(process.execPath, ["--conditions=@belay/source", "scripts/site/main.ts"])
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await openBrowser()
}, 900_000)
afterAll(async () => {
  await browser?.close()
  server.close()
})

const open = async (path: string, options: Parameters<Browser["newPage"]>[0] = {}) => {
  const page = await browser.newPage(options)
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(String(error)))
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
  page.on("request", (request) => !request.url().startsWith(url) && problems.push(`asked for ${request.url()}`))
  await page.goto(`${url}${path}`)
  await page.waitForLoadState("networkidle")
  return { page, problems }
}

const overflow = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - window.innerWidth")

describe("the built site", () => {
  it("has no link that leads nowhere", () => {
    const anchors = new Map<string, ReadonlySet<string>>()
    const anchorsOf = (file: string) => {
      const known = anchors.get(file) ??
        new Set([...readFileSync(file, "utf8").matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!))
      anchors.set(file, known)
      return known
    }
    const dead = globSync(`${folder}/**/*.html`).flatMap((page) => {
      const here = posix.join("/", dirname(page).slice(folder.length), "/")
      return [...readFileSync(page, "utf8").matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href]) => href!)
        .filter((href) => !/^[a-z]+:/.test(href)).filter((href) => {
          const [path, anchor] = href.replaceAll("&amp;", "&").split("#")
          const file = path === "" ? page : fileOf(path!.startsWith("/") ? path! : posix.join(here, path!))
          return file === undefined ||
            (anchor !== undefined && anchor !== "" && !anchorsOf(file).has(decodeURIComponent(anchor)))
        }).map((href) => `${page}: ${href}`)
    })
    assert.deepEqual([...new Set(dead)], [])
  })

  for (
    const path of ["/", "/start", "/concepts", "/tools", "/catalogue/limits", "/troubleshooting", "/reference/core"]
  ) {
    it(`shows ${path} on a phone in the dark, without errors, foreign requests or scrolling sideways`, async () => {
      const { page, problems } = await open(path, { colorScheme: "dark", viewport: { width: 390, height: 844 } })
      assert.deepEqual(problems, [])
      assert.isAtMost(await overflow(page), 0)
      assert.isTrue(await page.evaluate("document.documentElement.classList.contains('dark')"))
      await page.close()
    })
  }

  it("finds pages and public names", async () => {
    const { page } = await open("/start")
    await page.keyboard.press("Control+k")
    // The box is loaded when somebody asks for it.
    await page.locator(".VPLocalSearchBox input").fill("LoopDetector")
    const results = page.locator("#localsearch-list li")
    await results.first().waitFor()
    assert.match((await results.allTextContents()).join("\n"), /LoopDetector\.make/)
    await page.close()
  })

  it("has the texts for language models", () => {
    const list = readFileSync(join(folder, "llms.txt"), "utf8")
    assert.match(list, /^# Belay\n/)
    const pages = [...list.matchAll(/\]\((\/[^)]+)\)/g)].map(([, page]) => page!)
    assert.isAbove(pages.length, 40)
    for (const page of pages) assert.match(readFileSync(join(folder, page), "utf8"), /^# /m)
    assert.isTrue(existsSync(join(folder, "llms-full.txt")))
  })
})
