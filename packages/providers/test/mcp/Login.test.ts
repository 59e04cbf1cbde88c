/** MCP servers that want a login with OAuth. */
import * as McpOAuth from "@belay/providers/McpOAuth"
import * as McpServers from "@belay/providers/McpServers"
import * as Effect from "effect/Effect"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type OAuthServer, oauthServer } from "../support/oauthServer.ts"

let server: OAuthServer
let folder: string
let path: string
const open: Array<McpServers.McpServers> = []
beforeEach(async () => {
  server = await oauthServer()
  folder = mkdtempSync(join(tmpdir(), "belay-login-"))
  path = join(folder, "tokens.json")
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((mcp) => mcp.close()))
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const redirectUrl = "http://127.0.0.1:8123/callback"

const connect = (options: Partial<McpOAuth.Options> = {}) => {
  const oauth = McpOAuth.make({ store: McpOAuth.file(path), redirectUrl, ...options })
  const mcp = McpServers.make({ web: { url: server.url, oauth } })
  open.push(mcp)
  const call = async () => (await Effect.runPromise(mcp.callTool("web", "who", {}))).content[0]?.["text"]
  return { call, failure: async () => String(await Effect.runPromise(Effect.flip(mcp.callTool("web", "who", {})))) }
}

describe("a server that wants a login", () => {
  it("gets one person to log in once, also for calls at the same time, and later programs use its tokens", async () => {
    let logins = 0
    const onAuthorize = async (url: URL) => {
      logins++
      return server.agree(url)
    }
    const { call } = connect({ onAuthorize })
    assert.deepStrictEqual(await Promise.all([call(), call()]), ["ada", "ada"])
    assert.deepStrictEqual([logins, server.counts.registered, server.counts.exchanged], [1, 1, 1])
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    assert.strictEqual(await connect({ onAuthorize }).call(), "ada")
    assert.strictEqual(logins, 1)
  })

  it("renews a token that has expired, and asks for a new login when that is refused", async () => {
    let logins = 0
    const onAuthorize = async (url: URL) => {
      logins++
      return server.agree(url)
    }
    const { call } = connect({ onAuthorize })
    await call()
    server.expire()
    assert.strictEqual(await call(), "ada")
    assert.deepStrictEqual([logins, server.counts.renewed], [1, 1])
    server.expire(true)
    assert.deepStrictEqual(await Promise.all([call(), call()]), ["ada", "ada"])
    assert.strictEqual(logins, 2)
  })

  it("keeps the tokens of the newest login if an older call gives up its own later", async () => {
    const { provider, recover } = McpOAuth.make({ store: McpOAuth.memory(), redirectUrl })
    const tokens = { access_token: "new", token_type: "bearer" }
    await provider.saveTokens(tokens)
    await provider.invalidateCredentials!("tokens")
    assert.isUndefined(await provider.tokens())
    await recover!()
    assert.deepStrictEqual(await provider.tokens(), tokens)
  })

  it("takes no answer that belongs to another login", async () => {
    const { failure } = connect({
      onAuthorize: async (url) => {
        const back = server.agree(url)
        back.searchParams.set("state", "of-somebody-else")
        return back
      }
    })
    assert.match(await failure(), /cannot log in at "web": the answer belongs to another login: its `state` differs/)
    assert.strictEqual(server.counts.exchanged, 0)
  })

  it("says what is missing if nobody can log in, or the answer is not an address", async () => {
    assert.match(await connect().failure(), /cannot log in at "web": somebody must log in in a browser.*`onAuthorize`/)
    assert.match(await connect({ onAuthorize: async () => "the code" }).failure(), /the whole address/)
  })

  it("does not use a file of tokens that was damaged", async () => {
    writeFileSync(path, "{ not json")
    assert.strictEqual(await connect({ onAuthorize: async (url) => server.agree(url) }).call(), "ada")
    assert.include(readFileSync(path, "utf8"), "access_token")
  })

  it("refuses options with mistakes", () => {
    assert.throws(() => McpOAuth.make({ redirectUrl } as never), /McpOAuth\.store.*required/)
    assert.throws(() => McpOAuth.make({ store: McpOAuth.memory(), redirectUrl, scopes: "a" } as never), /"scope"/)
  })
})
