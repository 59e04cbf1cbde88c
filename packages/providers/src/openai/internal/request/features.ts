/** Fields of a chat completion that only some vendors have, or that each of them calls differently. */
import { digest, type JsonObject } from "@belay/core/Json"
import type { HostedTool, LlmParameters, LlmRequest } from "@belay/core/LlmCall"
import * as Result from "effect/Result"
import type { Compat } from "./compat.ts"
import type { Conflict } from "./extra.ts"
import { isObject, type Loose, parse } from "./guards.ts"

/** Renders logprobs, outputs, labels and the cache. */
export const featureFields = (request: LlmRequest, compat: Compat, stream: boolean): Loose => {
  const { audio, logprobs, metadata, outputs, promptCache } = request.parameters
  const hasSound = outputs?.includes("audio") === true
  return {
    ...(logprobs === undefined ? {} : { logprobs: true, ...(logprobs > 0 ? { top_logprobs: logprobs } : {}) }),
    ...(outputs === undefined ? {} : { modalities: outputs }),
    ...(hasSound ? { audio: { voice: audio?.voice ?? "alloy", format: audioFormatOf(request, stream) } } : {}),
    ...(metadata === undefined || !compat.metadata ? {} : { metadata }),
    ...cacheKey(request, promptCache, compat)
  }
}

/** The format of an answer in sound. */
export const audioFormatOf = ({ parameters }: LlmRequest, isStream: boolean): string =>
  parameters.audio?.format ?? (isStream ? "pcm16" : "wav")

/** Requests with the same instructions and tools go to the same machines of the vendor, where the cache is. */
export const cacheKey = (request: LlmRequest, wish: LlmParameters["promptCache"], compat: Compat): Loose => {
  if (wish === undefined || wish === false || compat.promptCache !== "key") return {}
  const key = digest([request.instructions ?? "", request.tools.map(({ name }) => name)])
  return { prompt_cache_key: key, ...(wish === "1h" ? { prompt_cache_retention: "24h" } : {}) }
}

/** Marks the end of what can be cached: the instructions, and the last two messages of the user or a tool. */
export const markForCache = (messages: ReadonlyArray<string>, wish: true | "1h"): ReadonlyArray<string> => {
  const control = { type: "ephemeral", ...(wish === "1h" ? { ttl: "1h" } : {}) }
  const marked = [...messages]
  let left = 2
  for (let at = marked.length - 1; at >= 0; at--) {
    const first = marked[at]!
    const isInstruction = /^\{"role":"(?:system|developer)"/.test(first)
    if (!isInstruction && (left === 0 || !/^\{"role":"(?:user|tool)"/.test(first))) continue
    if (!isInstruction) left--
    marked[at] = markText(first, control)
  }
  return marked
}

/** The text of a tool result with files is two messages, which cannot be parsed as one. They are left as they are. */
const markText = (text: string, control: JsonObject): string => {
  const message = parse(text)
  if (!isObject(message)) return text
  const parts: ReadonlyArray<unknown> = typeof message.content === "string"
    ? [{ type: "text", text: message.content }]
    : Array.isArray(message.content)
    ? message.content
    : []
  const last = parts.at(-1)
  if (!isObject(last) || last.text === "") return text
  return JSON.stringify({ ...message, content: [...parts.slice(0, -1), { ...last, cache_control: control }] })
}

/** Renders hosted tools for a chat completion: fields, and entries for the list of tools. */
export const hostedFields = (
  tools: ReadonlyArray<HostedTool>,
  compat: Compat
): Result.Result<{ readonly fields: Loose; readonly tools: ReadonlyArray<JsonObject> }, Conflict> => {
  let fields: Loose = {}
  const entries: Array<JsonObject> = []
  for (const tool of tools) {
    const found = tool.type === "web-search"
      ? webSearch(tool.domains, compat)
      : tool.type === "code-interpreter" && compat.webSearch === "groq"
      ? { tool: { type: "code_interpreter" } }
      : undefined
    if (found === undefined) {
      const message = `this endpoint has no hosted tool ${tool.type} for chat completions; ` +
        "use `api: \"responses\"` if it has that API, or a tool of your own"
      return Result.fail({ param: "hostedTools", message })
    }
    fields = { ...fields, ...found.fields }
    if (found.tool !== undefined) entries.push(found.tool)
  }
  return Result.succeed({ fields, tools: entries })
}

interface Rendered {
  readonly fields?: Loose
  readonly tool?: JsonObject
}

const webSearch = (domains: ReadonlyArray<string> | undefined, { webSearch }: Compat): Rendered | undefined => {
  switch (webSearch) {
    case "options":
      return {
        fields: { web_search_options: domains === undefined ? {} : { filters: { allowed_domains: domains } } }
      }
    case "openrouter":
      return { fields: { plugins: [{ id: "web", ...(domains === undefined ? {} : { include_domains: domains }) }] } }
    case "xai":
      return {
        fields: {
          search_parameters: {
            mode: "on",
            return_citations: true,
            ...(domains === undefined ? {} : { sources: [{ type: "web", allowed_websites: domains }] })
          }
        }
      }
    case "alibaba":
      return { fields: { enable_search: true } }
    case "zai":
      return { tool: { type: "web_search", web_search: { enable: true, search_result: true } } }
    case "groq":
      return { tool: { type: "browser_search" } }
    case "always":
      return { fields: domains === undefined ? {} : { search_domain_filter: domains } }
    case "none":
      return undefined
  }
}
