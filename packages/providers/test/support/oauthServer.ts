/** An MCP server over HTTP that wants a login, together with its authorization server. Written by hand. */
import { createHash, randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

export interface OAuthServer {
  readonly url: string
  /** How many clients have registered, codes were exchanged and tokens were renewed. */
  readonly counts: { registered: number; exchanged: number; renewed: number }
  /** What a browser does at the address: the person agrees, and is redirected. */
  readonly agree: (address: URL) => URL
  /** Forgets the access tokens, as if they had expired. With `all`, the refresh tokens too. */
  readonly expire: (all?: boolean) => void
  readonly close: () => Promise<void>
}

export const oauthServer = async (): Promise<OAuthServer> => {
  const access = new Set<string>()
  const refresh = new Set<string>()
  const codes = new Map<string, string>()
  const counts = { registered: 0, exchanged: 0, renewed: 0 }
  let origin = ""
  const tokens = () => {
    const [access_token, refresh_token] = [randomUUID(), randomUUID()]
    access.add(access_token)
    refresh.add(refresh_token)
    return { access_token, refresh_token, token_type: "Bearer", expires_in: 3600 }
  }
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    let text = ""
    for await (const bytes of incoming) text += String(bytes)
    const send = (status: number, body: object, headers = {}) => {
      outgoing.writeHead(status, { "content-type": "application/json", ...headers })
      outgoing.end(JSON.stringify(body))
    }
    const { pathname } = new URL(incoming.url ?? "/", origin)
    if (pathname.startsWith("/.well-known/oauth-protected-resource")) {
      return send(200, { resource: `${origin}/mcp`, authorization_servers: [origin] })
    }
    if (pathname.startsWith("/.well-known/oauth-authorization-server")) {
      return send(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"]
      })
    }
    if (pathname === "/register") {
      counts.registered++
      return send(201, { ...JSON.parse(text), client_id: `client-${counts.registered}` })
    }
    if (pathname === "/token") {
      const form = new URLSearchParams(text)
      if (form.get("grant_type") === "refresh_token") {
        if (!refresh.delete(form.get("refresh_token") ?? "")) return send(400, { error: "invalid_grant" })
        counts.renewed++
        return send(200, tokens())
      }
      const challenge = codes.get(form.get("code") ?? "")
      const proof = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url")
      if (challenge === undefined || challenge !== proof) return send(400, { error: "invalid_grant" })
      counts.exchanged++
      return send(200, tokens())
    }
    if (pathname !== "/mcp") return send(404, {})
    if (!access.has(incoming.headers.authorization?.replace("Bearer ", "") ?? "")) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
      return send(401, {}, { "www-authenticate": `Bearer resource_metadata="${metadata}"` })
    }
    if (incoming.method !== "POST") return void outgoing.writeHead(405).end()
    const { id, method, params } = JSON.parse(text)
    if (id === undefined) return void outgoing.writeHead(202).end()
    const tools = [{ name: "who", inputSchema: { type: "object" } }]
    const result = method === "initialize"
      ? {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "o", version: "1" }
      }
      : method === "tools/list"
      ? { tools }
      : { content: [{ type: "text", text: "ada" }] }
    send(200, { jsonrpc: "2.0", id, result })
  }
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  return {
    url: `${origin}/mcp`,
    counts,
    agree: (address) => {
      const code = randomUUID()
      codes.set(code, address.searchParams.get("code_challenge") ?? "")
      const back = new URL(address.searchParams.get("redirect_uri") ?? "")
      back.search = String(new URLSearchParams({ code, state: address.searchParams.get("state") ?? "" }))
      return back
    },
    expire: (all = false) => {
      access.clear()
      if (all) refresh.clear()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
