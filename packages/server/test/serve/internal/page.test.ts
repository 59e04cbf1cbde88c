/** The page as it is sent. `Browser.test.ts` uses it. */
import * as Page from "@belay/server/Page"
import { assert, describe, it } from "vitest"

describe("the page", () => {
  it("is sent with exactly these headers", () => {
    const { headers, status } = Page.response()
    assert.strictEqual(status, 200)
    assert.deepEqual(Object.fromEntries(headers), {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " +
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache"
    })
  })

  it("has its title and its path, neither of which can end the script", async () => {
    const own = await Page.response().text()
    assert.include(own, "<title>Agent</title>")
    assert.include(own, "<h1>Agent</h1>")
    assert.include(own, "program(window, \"/api/chat\")")
    const other = await Page.response({ title: "<a & \"b\" & <c>", api: "</script><script>" }).text()
    const title = "&lt;a &amp; &quot;b&quot; &amp; &lt;c&gt;"
    assert.include(other, `<title>${title}</title>`)
    assert.include(other, `<h1>${title}</h1>`)
    assert.include(other, "program(window, \"\\u003c/script>\\u003cscript>\")")
    assert.lengthOf(other.match(/<\/script>/g)!, 1)
  })
})
