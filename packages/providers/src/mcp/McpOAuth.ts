/**
 * Logs in at MCP servers with OAuth: registers the client, lets a person log in, keeps and renews the tokens.
 *
 * @since 0.2.0
 */
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import type { OAuthClientProvider } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isSameText, type McpOAuth, readAddress } from "./internal/login.ts"
import { messageOf } from "./internal/lost.ts"

export type { McpOAuth } from "./internal/login.ts"

/** Keeps the tokens of one server as a text. They are secrets. @category models @since 0.2.0 */
export interface TokenStore {
  /** Returns what was saved last, or nothing. */
  readonly load: () => Promise<string | undefined>
  readonly save: (text: string) => Promise<void>
}

/** Options of `McpOAuth.make`. @category models @since 0.2.0 */
export interface Options {
  /** Where the tokens are kept. Each server needs a store of its own. */
  readonly store: TokenStore
  /** The address to which the browser is redirected after the login, such as `http://127.0.0.1:8123/callback`. */
  readonly redirectUrl: string
  /**
   * Lets a person log in at `url`, and returns the whole address to which the browser was redirected. Default: nobody
   * can log in, and a server without stored tokens is an error.
   */
  readonly onAuthorize?: (url: URL, options: { readonly signal: AbortSignal }) => Promise<string | URL>
  /** What the program is called at the server. Default `belay`. */
  readonly clientName?: string
  /** The id of a client that was registered before. Default: the client registers itself. */
  readonly clientId?: string
  /** The secret of that client, if it has one. */
  readonly clientSecret?: string
  /** The rights to ask for, separated by blanks. Default: what the server asks for. */
  readonly scope?: string
}

const optionKinds: OptionKinds<Options> = {
  store: "object",
  redirectUrl: "text",
  onAuthorize: "function",
  clientName: "text",
  clientId: "text",
  clientSecret: "text",
  scope: "text"
}

/** The parts of a login. Other libraries write them, so only their places are checked. */
const Saved = Schema.Struct({
  client: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  tokens: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  discovery: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})
type Saved = typeof Saved.Type

/**
 * Makes the option `oauth` of an MCP server. It uses the OAuth client of `@modelcontextprotocol/client`: discovery,
 * registration, PKCE, and renewal of tokens. When a server asks for a login, `onAuthorize` gets the address for the
 * browser; the answer must have the same `state`, or the login fails.
 *
 * @example
 * ```ts
 * import * as McpOAuth from "@belay/providers/McpOAuth"
 * import * as McpServers from "@belay/providers/McpServers"
 *
 * const mcp = (login: (url: URL) => Promise<string>) =>
 *   McpServers.make({
 *     tickets: {
 *       url: "https://mcp.example.com",
 *       oauth: McpOAuth.make({
 *         store: McpOAuth.file("tickets-tokens.json"),
 *         redirectUrl: "http://127.0.0.1:8123/callback",
 *         onAuthorize: login
 *       })
 *     }
 *   })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (options: Options): McpOAuth => {
  Result.getOrThrow(checkKinds("McpOAuth", options, optionKinds, ["store", "redirectUrl"]))
  const { clientId, clientName = "belay", clientSecret, onAuthorize, redirectUrl, scope, store } = options
  // Several requests may be refused at the same time, and each then begins a login.
  let asked: URL | undefined
  let current: URL | undefined
  let newest: Saved["tokens"]
  const verifiers = new Map<string | null, string>()
  const read = async (): Promise<Saved> => {
    const text = await store.load()
    if (text === undefined) return {}
    const saved = Schema.decodeUnknownResult(Schema.fromJsonString(Saved))(text)
    // A store that was damaged costs a login.
    return Result.isSuccess(saved) ? saved.success : {}
  }
  // A change that begins before another one has ended would undo it.
  let last: Promise<void> = Promise.resolve()
  const write = (change: (saved: Saved) => Saved): Promise<void> => {
    const own = last.then(async () => store.save(JSON.stringify(change(await read()))))
    last = own.catch(() => undefined)
    return own
  }
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_post",
      ...(scope === undefined ? {} : { scope })
    },
    state: () => process.getBuiltinModule("node:crypto").randomBytes(24).toString("base64url"),
    clientInformation: async () => {
      if (clientId === undefined) return (await read()).client as never
      return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
    },
    // What the client of the protocol saves is JSON, and it checks what it reads.
    saveClientInformation: (client) => write((saved) => ({ ...saved, client: { ...client } })),
    tokens: async () => (await read()).tokens as never,
    saveTokens: (tokens) => {
      newest = { ...tokens }
      return write((saved) => ({ ...saved, tokens: { ...tokens } }))
    },
    redirectToAuthorization: (url) => {
      asked = url
    },
    saveCodeVerifier: (verifier) => {
      const challenge = process.getBuiltinModule("node:crypto").createHash("sha256").update(verifier)
      verifiers.set(challenge.digest("base64url"), verifier)
    },
    codeVerifier: () => verifiers.get(current?.searchParams.get("code_challenge") ?? null) ?? "",
    saveDiscoveryState: (discovery) => write((saved) => ({ ...saved, discovery: { ...discovery } })),
    discoveryState: async () => (await read()).discovery as never,
    invalidateCredentials: (what) =>
      write(({ client, discovery, tokens }) => ({
        ...(client === undefined || what === "all" || what === "client" ? {} : { client }),
        ...(tokens === undefined || what === "all" || what === "tokens" ? {} : { tokens }),
        ...(discovery === undefined || what === "all" || what === "discovery" ? {} : { discovery })
      }))
  }
  const logIn = (authorize: NonNullable<Options["onAuthorize"]>) =>
    Effect.gen(function*() {
      const url = current = asked
      asked = undefined
      const state = url?.searchParams.get("state") ?? ""
      if (url === undefined || state === "") return yield* Effect.fail("the server has not said where to log in")
      const said = yield* Effect.tryPromise({ try: (signal) => authorize(url, { signal }), catch: messageOf })
      const address = yield* Effect.fromResult(readAddress(said))
      return isSameText(address.searchParams.get("state") ?? "", state)
        ? address
        : yield* Effect.fail("the answer belongs to another login: its `state` differs, so log in again")
    })
  return {
    provider,
    isAsked: () => asked !== undefined,
    recover: () => {
      asked = undefined
      return write((saved) => newest === undefined ? saved : { tokens: newest, ...saved })
    },
    ...(onAuthorize === undefined ? {} : { logIn: logIn(onAuthorize) })
  }
}

/** Keeps tokens in memory. They are lost when the process ends. @category constructors @since 0.2.0 */
export const memory = (): TokenStore => {
  let text: string | undefined
  return {
    load: async () => text,
    save: async (next) => {
      text = next
    }
  }
}

/**
 * Keeps tokens in a file that only its owner may read (mode 600). The file is replaced as a whole; its folder must
 * exist.
 *
 * @category constructors
 * @since 0.2.0
 */
export const file = (path: string): TokenStore => {
  const fs = () => process.getBuiltinModule("node:fs/promises")
  return {
    load: () =>
      fs().readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined
        return Promise.reject(new Error(`McpOAuth.file: ${path} cannot be read: ${error.message}`))
      }),
    save: async (text) => {
      const next = `${path}.${process.getBuiltinModule("node:crypto").randomUUID()}.tmp`
      await fs().writeFile(next, text, { mode: 0o600 })
      await fs().rename(next, path)
    }
  }
}
