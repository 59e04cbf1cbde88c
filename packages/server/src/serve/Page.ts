/**
 * A small chat for the browser, for the handler of the UI message stream. It is one file without anything from
 * elsewhere: a chat with tool calls, decisions of hooks and approvals, which survives a reload and a restart of the
 * server.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import { program } from "./internal/page/program.ts"
import { escape, pageResponse } from "./internal/page/shell.ts"

/** Options of `Page`. @category models @since 0.1.0 */
export interface Options {
  /** The path of the UI message stream. Default `/api/chat`. */
  readonly api?: string
  /** The title. Default `Agent`. */
  readonly title?: string
}

/**
 * Returns the page. It has no secrets, so anybody may load it: a person enters the token, or opens the page with
 * `#token=...` at the end of its address. It is then sent as a bearer token.
 *
 * @example
 * ```ts
 * import * as Page from "@belay/server/Page"
 *
 * export const handler = async (request: Request) =>
 *   new URL(request.url).pathname === "/" ? Page.response() : new Response("not found", { status: 404 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const response = checked(
  "Page.response",
  ["options"],
  ({ api = "/api/chat", title = "Agent" }: Options = {}): Response =>
    pageResponse({ api, title, program, body: bodyOf(title) })
)

const bodyOf = (title: string): string =>
  `<div id="page">
<header><h1>${escape(title)}</h1><button id="new" type="button">New chat</button></header>
<main>
<p id="empty">Write a message to begin.</p>
<div id="messages" role="log" aria-live="polite" aria-label="Messages"></div>
</main>
<footer>
<form id="login" hidden>
<input id="token" type="password" aria-label="Token" placeholder="Token of this server" autocomplete="off">
<button>Sign in</button></form>
<p id="status" role="status"></p>
<form id="composer"><textarea id="text" rows="1" aria-label="Message" placeholder="Message"></textarea>
<button id="send">Send</button>
<button id="stop" type="button" hidden>Stop</button></form>
</footer>
</div>`
