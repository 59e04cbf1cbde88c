/**
 * HTTP as hooks see it: plain data, texts only.
 *
 * @since 0.1.0
 */

/** What a hook asks a server. @category models @since 0.1.0 */
export interface HttpRequest {
  readonly url: string
  /** Default `GET`. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as UTF-8. */
  readonly body?: string
}

/** The answer of a server, with any status. @category models @since 0.1.0 */
export interface HttpResponse {
  readonly status: number
  /** Names in lower case; the values of a header that came more than once are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  /** Decoded: without its content encoding, as UTF-8. */
  readonly body: string
  /** Where it came from, after redirects. */
  readonly url: string
}
