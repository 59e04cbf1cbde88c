/**
 * HTTP requests and responses of hooks, as plain data. Bodies are text.
 *
 * @since 0.1.0
 */

/** An HTTP request of a hook. @category models @since 0.1.0 */
export interface HttpRequest {
  readonly url: string
  /** Default `GET`. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The body, sent as UTF-8. */
  readonly body?: string
}

/** The response of a server, with any status. @category models @since 0.1.0 */
export interface HttpResponse {
  readonly status: number
  /** Header names are in lower case. If a header occurs more than once, its values are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text: decompressed, and decoded as UTF-8. */
  readonly body: string
  /** The URL of the response, after redirects. */
  readonly url: string
}
