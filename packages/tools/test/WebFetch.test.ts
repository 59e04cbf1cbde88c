/** The tool for pages of the web, with a real server on loopback. */
import * as WebFetch from "@belay/tools/WebFetch"
import { assert, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll } from "vitest"
import { newFolder, useTool } from "./support/useTool.ts"

const page = `<!doctype html><html><head><title>A &amp; B</title><style>p{}</style><script>alert("no")</script></head>
<body><nav><a href="/next?a=1">Next</a></nav><h1>Head
line</h1><p>One   two<br>three <b>four</b>.</p><ul><li>first</li><li>second <a href="#x">here</a></li></ul>
<pre>  keep
    this</pre><table><tr><td>1</td><td>2</td></tr></table><svg><text>no</text></svg><a href="javascript:alert(1)">bad</a></body></html>`

const answers: { readonly [path: string]: readonly [status: number, type: string, body: string, location?: string] } = {
  "/page": [200, "text/html; charset=utf-8", page],
  "/json": [200, "application/json", "{\"a\":1}"],
  "/binary": [200, "application/pdf", "%PDF"],
  "/missing": [404, "text/plain", "nothing here"],
  "/long": [200, "text/plain", "x".repeat(500)],
  "/inside": [302, "text/plain", "", "http://169.254.169.254/latest/meta-data/"]
}

const server = createServer((request, response) => {
  const [status, type, body, location] = answers[request.url ?? ""] ?? [404, "text/plain", ""]
  response.writeHead(status, { "content-type": type, ...(location === undefined ? {} : { location }) }).end(body)
})
let host = ""
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const get = (path: string, options: WebFetch.Options = {}) =>
  useTool(newFolder(), WebFetch.make({ policy: { allowHttp: true, loopback: [host] }, ...options }), {
    url: `http://${host}${path}`
  })

describe("WebFetch", () => {
  it("returns the readable text of a page", async () => {
    const { isError, text } = await get("/page")
    assert.isFalse(isError, text)
    assert.strictEqual(
      text,
      [
        "# A & B",
        "",
        `Next (http://${host}/next?a=1)`,
        "",
        "# Head line",
        "",
        "One two",
        "three four.",
        "- first",
        "- second here",
        "",
        "  keep",
        "    this",
        "",
        " | 1 | 2",
        "",
        "bad"
      ].join("\n")
    )
  })

  it("returns other texts as they are, and cuts long ones", async () => {
    assert.strictEqual((await get("/json")).text, "{\"a\":1}")
    assert.strictEqual((await get("/long", { maxCharacters: 10 })).text, "xxxxxxxxxx\n[cut after 10 of 500 characters]")
  })

  it("reports a status and a file that is not a text as errors", async () => {
    const missing = await get("/missing")
    assert.isTrue(missing.isError)
    assert.match(missing.text, /status 404: nothing here/)
    assert.match((await get("/binary")).text, /application\/pdf, which is not a text/)
    assert.match((await get("/long", { maxBodyBytes: 100 })).text, /failed/)
  })

  it("refuses the private network, also after a redirect", async () => {
    const options = { policy: { allowHttp: true } }
    for (
      const url of [`http://${host}/page`, "http://localhost/", "http://0x7f.1/", "http://[::1]/", "http://10.0.0.1/"]
    ) {
      const { isError, text } = await useTool(newFolder(), WebFetch.make(options), { url })
      assert.isTrue(isError, url)
      assert.match(text, /refused|not allowed|address|local/i)
    }
    const { isError, text } = await get("/inside")
    assert.isTrue(isError)
    assert.notInclude(text, "meta-data/ was answered")
  })

  it("refuses plain http and other schemes by default", async () => {
    for (const url of ["http://example.com/", "file:///etc/passwd", "ftp://example.com/", "not a url"]) {
      assert.isTrue((await useTool(newFolder(), WebFetch.make(), { url })).isError, url)
    }
  })

  it("reads pages that are built to be slow in linear time", async () => {
    const { pageText } = await import("../src/internal/pageText.ts")
    for (
      const html of [
        `<pre>${" ".repeat(300_000)}x`,
        "<p>".repeat(50_000),
        "<div><title>".repeat(20_000),
        "\n ".repeat(100_000)
      ]
    ) {
      assert.isBelow(pageText(html, "https://a.example/").length, 400_000)
    }
  })
})
