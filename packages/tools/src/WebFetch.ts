/**
 * Reads pages of the web.
 *
 * @since 0.1.0
 */
import { defineTool, type Tool } from "@belay/core/defineTool"
import { checkObject, checkOptions, whole } from "@belay/core/OptionCheck"
import * as HttpGuard from "@belay/hooks/HttpGuard"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { pageText } from "./internal/pageText.ts"
import { ToolError } from "./ToolError.ts"

const input = Schema.Struct({
  url: Schema.String.annotate({ description: "The address of the page, with https://" })
})

/** Arguments of the tool. @category models @since 0.1.0 */
export interface Args extends Schema.Schema.Type<typeof input> {}

/**
 * Options of `WebFetch.make`: those of `HttpGuard.make` with other defaults. At most 3 redirects are followed, a
 * request may take 30 seconds, and a body may have 5,000,000 bytes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HttpGuard.Options {
  /** The most characters of the text that the model reads. Default 100,000. */
  readonly maxCharacters?: number
}

/**
 * Makes the tool `WebFetch`: `url`. It sends a GET request and returns the text of the answer; of an HTML page the
 * readable text, with the addresses of links. Addresses in private networks are refused, in every spelling and after
 * every redirect (see `HttpGuard`). A status of 400 and higher, and an answer that is not a text, are errors.
 *
 * It is not marked as read-only, because an address can carry data to a stranger. Throws a `ConfigError` for a wrong
 * option.
 *
 * @example
 * ```ts
 * import * as WebFetch from "@belay/tools/WebFetch"
 *
 * const fetchDocs = WebFetch.make({ policy: { hosts: ["*.example.com"] }, maxCharacters: 20_000 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Tool<"WebFetch", Args, Args> => {
  Result.getOrThrow(checkObject("WebFetch", options, "an object with options"))
  const { maxCharacters = 100_000, ...guardOptions } = options
  Result.getOrThrow(checkOptions("WebFetch", whole("maxCharacters", maxCharacters, 1, 100_000_000)))
  const guard = HttpGuard.make({ maxRedirects: 3, timeoutMs: 30_000, maxBodyBytes: 5_000_000, ...guardOptions })
  const fail = (reason: ToolError["reason"], message: string) =>
    Effect.fail(new ToolError({ tool: "WebFetch", reason, message }))
  return defineTool({
    name: "WebFetch",
    description: "Reads a page or a file of the web as text. It cannot log in, and it cannot reach private networks.",
    input,
    idempotent: true,
    execute: ({ url }) =>
      guard.request(url, { headers: { accept: "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1" } }).pipe(
        Effect.catch(({ _tag, message }) => fail(_tag === "HttpRefused" ? "refused" : "failed", message)),
        Effect.flatMap(({ body, headers, status, url: last }) => {
          const type = (headers["content-type"] ?? "text/plain").toLowerCase()
          if (!isText(type)) return fail("content", `${last} is ${type}, which is not a text`)
          const text = /\bhtml\b/.test(type) ? pageText(body, last) : body
          return status >= 400
            ? fail("failed", `${last} was answered with the status ${status}: ${cap(text, 500)}`)
            : Effect.succeed(cap(text, maxCharacters))
        })
      )
  })
}

const isText = (type: string): boolean =>
  /^text\/|\b(?:json|xml|html|javascript|yaml|toml|x-www-form-urlencoded)\b/.test(type)

const cap = (text: string, limit: number): string =>
  text.length > limit ? `${text.slice(0, limit)}\n[cut after ${limit} of ${text.length} characters]` : text
