/** What a foreign agent wants to do, as the call of a tool with the name and the arguments that hooks know. */
import type { RequestPermissionRequest, ToolCallUpdate, ToolKind } from "@agentclientprotocol/sdk"
import type { Json, JsonObject } from "@belay/core/Json"
import { whyNot } from "@belay/core/Json"

/** The tools of a foreign agent by the kinds of the protocol. The names are those of Claude Code. */
export const toolNames: { readonly [K in ToolKind]: string } = {
  read: "Read",
  edit: "Edit",
  delete: "Delete",
  move: "Move",
  search: "Grep",
  execute: "Bash",
  think: "Think",
  fetch: "WebFetch",
  switch_mode: "SwitchMode",
  other: "Other"
}

/** A call for hooks. */
export interface Action {
  readonly name: string
  readonly args: JsonObject
}

/** Reads a request for permission. All of it is a claim of the agent. */
export const actionOf = ({ toolCall }: RequestPermissionRequest, known: ToolCallUpdate | undefined): Action => {
  const { content, kind = "other", locations, rawInput, title } = merged(known, toolCall)
  const name = toolNames[kind ?? "other"] ?? toolNames.other
  const given = isObject(rawInput) && whyNot(rawInput) === undefined ? rawInput as JsonObject : {}
  const diff = content?.find((one) => one.type === "diff")
  const path = textIn(given, "file_path", "path", "abs_path", "filePath") ?? diff?.path ?? locations?.[0]?.path
  const shown: JsonObject = { ...given, ...(title === undefined || title === null ? {} : { title }) }
  switch (name) {
    case "Bash":
      return { name, args: { ...shown, command: commandOf(given) ?? title ?? "" } }
    case "Read":
    case "Edit":
    case "Delete":
    case "Move": {
      const change = diff === undefined ? {} : { old_string: diff.oldText ?? "", new_string: diff.newText }
      return { name, args: { ...change, ...shown, ...(path === undefined ? {} : { file_path: path }) } }
    }
    default:
      return { name, args: shown }
  }
}

/** The protocol sends only what has changed since the call was shown. */
const merged = (known: ToolCallUpdate | undefined, now: ToolCallUpdate): ToolCallUpdate => {
  const given = Object.entries(now).filter(([, value]) => value !== undefined && value !== null)
  // The entries are those of the second value.
  return { ...known, ...Object.fromEntries(given) } as ToolCallUpdate
}

/** The command as one line. A list of words is quoted. What cannot be read is shown as it is. */
const commandOf = (given: JsonObject): string | undefined => {
  const { args, cmd, command = cmd } = given
  const words = [...listOf(command), ...listOf(args)]
  if (words.length === 0) return Object.keys(given).length === 0 ? undefined : JSON.stringify(given)
  return typeof command === "string" && words.length === 1 ? command : lineOf(words)
}

const listOf = (value: Json | undefined): ReadonlyArray<string> =>
  typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === "string") : []

/** Quotes words for a POSIX shell. */
export const lineOf = (words: ReadonlyArray<string>): string =>
  words.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`).join(" ")

const textIn = (given: JsonObject, ...keys: ReadonlyArray<string>): string | undefined => {
  const value = keys.map((key) => given[key]).find((one) => typeof one === "string" && one !== "")
  return typeof value === "string" ? value : undefined
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
