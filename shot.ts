import { existsSync, readFileSync, statSync } from "node:fs"
import { createServer } from "node:http"
import { extname, join } from "node:path"
import { openBrowser } from "./test/support/browser.ts"
const types: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".txt": "text/plain",
  ".woff2": "font/woff2",
  ".json": "application/json"
}
const server = createServer((q, r) => {
  let p = join("site/dist", decodeURIComponent(new URL(q.url!, "http://a").pathname))
  if (existsSync(p) && statSync(p).isDirectory()) p += "/index.html"
  if (!existsSync(p) && existsSync(p + ".html")) p += ".html"
  if (!existsSync(p)) return void r.writeHead(404).end()
  r.writeHead(200, { "content-type": types[extname(p)] ?? "application/octet-stream" }).end(readFileSync(p))
})
await new Promise<void>((ok) => server.listen(0, "127.0.0.1", ok))
const url = `http://127.0.0.1:${(server.address() as any).port}`
const b = await openBrowser()
const shots = process.argv.slice(2)
for (const s of shots) {
  const [path, mode = "light", size = "desk"] = s.split(",")
  const page = await b.newPage({
    colorScheme: mode as "dark",
    viewport: size === "phone" ? { width: 390, height: 844 } : { width: 1280, height: 900 }
  })
  const errors: string[] = []
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()))
  page.on("pageerror", (e) => errors.push(String(e)))
  await page.goto(url + path)
  await page.waitForTimeout(800)
  if (size === "search") {
    await page.keyboard.press("Control+k")
    await page.waitForTimeout(500)
    await page.keyboard.type("approval")
    await page.waitForTimeout(1500)
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  await page.screenshot({ path: `/tmp/shot-${path!.replaceAll("/", "_")}-${mode}-${size}.png` })
  console.log(s, "errors", errors, "overflow", wide)
  await page.close()
}
await b.close()
server.close()
