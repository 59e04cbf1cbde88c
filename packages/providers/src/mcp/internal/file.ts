/** Reads files that list MCP servers. */
import { defined } from "@belay/core/Fields"
import * as Result from "effect/Result"
import type { Endpoint, Program } from "./connect.ts"

export const readFile = (text: string, file: string): {
  readonly servers: { readonly [name: string]: Program | Endpoint }
  readonly warnings: ReadonlyArray<string>
} => {
  const warnings: Array<string> = []
  const parsed = text.length > maxText ? undefined : Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
  const all = isRecord(parsed) ? parsed["mcpServers"] : undefined
  if (!isRecord(all)) {
    warnings.push(`${file}: mcpServers: expected a JSON object of servers in at most ${maxText} characters`)
  }
  const servers = Object.entries(isRecord(all) ? all : {}).flatMap(([name, entry]) => {
    if (isRecord(entry) && entry["disabled"] === true) return []
    const why = name === "__proto__" ? "expected a name for the server" : whyNo(entry)
    if (why === undefined) return [[name, serverOf(entry as Record<string, unknown>)] as const]
    warnings.push(`${file}: mcpServers.${name.slice(0, 80)}: ${why}`)
    return []
  })
  return { servers: Object.fromEntries(servers), warnings }
}

/** Says why a value is not a server. */
export const whyNo = (entry: unknown): string | undefined => {
  if (!isRecord(entry)) return "expected an object"
  const { args, command, cwd, env, headers, type, url } = entry
  if (command === undefined && url === undefined) return "expected a command or a url"
  if (command !== undefined && url !== undefined) return "expected either a command or a url, not both"
  if (command !== undefined) {
    if (type !== undefined && type !== "stdio") return "the type of a command is stdio"
    if (typeof command !== "string" || command === "") return "command: expected a string"
    if (args !== undefined && !isTexts(args)) return "args: expected an array of strings"
    if (env !== undefined && !(isRecord(env) && isTexts(Object.values(env)))) {
      return "env: expected an object of strings"
    }
    return cwd === undefined || typeof cwd === "string" ? undefined : "cwd: expected a string"
  }
  if (type !== undefined && type !== "http" && type !== "streamable-http") {
    return `type: ${(JSON.stringify(type) ?? "").slice(0, 40)} is not supported: expected http`
  }
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    return "url: expected an http or https URL"
  }
  return headers === undefined || (isRecord(headers) && isTexts(Object.values(headers)))
    ? undefined
    : "headers: expected an object of strings"
}

const maxText = 1_048_576

/** Copies the checked fields of a server, and no others. */
const serverOf = ({ args, command, cwd, env, headers, url }: Record<string, unknown>): Program | Endpoint =>
  (command === undefined
    ? { url, ...(headers === undefined ? {} : { headers }) }
    : {
      command,
      ...defined({ args, env, cwd })
      // `check` has made sure that it is one of these.
    }) as Program | Endpoint

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isTexts = (values: unknown): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === "string")
