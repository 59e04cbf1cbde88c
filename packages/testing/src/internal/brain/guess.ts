/** Guesses the text of a property from its name, its format and the words around. */
import type { JsonObject } from "@belay/core/Json"
import type { Evidence } from "./evidence.ts"
import { firstQuote, isWeak, shorten, words } from "./words.ts"

const address = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\p{L}/u
const url = /https?:\/\/[^\s"'<>)]+/u
const date = /\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?/u
const fileName = new RegExp(
  String.raw`(?:[\p{L}\p{N}_.~-]*\/)*[\p{L}\p{N}_~-][\p{L}\p{N}_.~-]*\.\p{L}[\p{L}\p{N}]{0,4}(?![\p{L}\p{N}@])|` +
    String.raw`(?:[\p{L}\p{N}_.~-]*\/)+[\p{L}\p{N}_.~-]*`,
  "gu"
)
const sum = /[\d(][\d\s+*/().^-]*[+*/^-][\d\s+*/().^-]*[\d)]/u
const reference = /#\d+|\b[A-Z]{1,8}-?\d[\dA-Z-]*\b/u

/** Returns the guess, or nothing if there is no evidence. */
export const guess = (name: string, schema: JsonObject, evidence: Evidence, required: boolean): string | undefined => {
  const { clause, task } = evidence
  const is = (...names: ReadonlyArray<string>) => names.some((one) => name.toLowerCase().includes(one))
  const format = schema.format
  if (format === "email" || is("mail", "recipient") || name === "to") {
    return address.exec(clause)?.[0] ?? address.exec(task)?.[0] ?? (required ? after(clause, /\bto\s+/iu) : undefined)
  }
  if (format === "uri" || is("url", "uri", "link")) return url.exec(clause)?.[0] ?? url.exec(task)?.[0]
  if (format === "date" || format === "date-time" || is("date")) {
    return date.exec(clause)?.[0] ?? date.exec(task)?.[0] ??
      (required && format !== undefined ? "2026-01-01" : undefined)
  }
  if (is("expression", "formula")) return sum.exec(clause)?.[0]?.trim() ?? firstQuote(clause)
  if (is("path", "file", "folder", "dir", "pattern", "glob")) return place(name, schema, evidence, required)
  if (!required) {
    return firstQuote(clause) !== undefined && is("query", "search", "reason", "title", "subject")
      ? firstQuote(clause)
      : undefined
  }
  if (is("subject", "title")) return firstQuote(clause) ?? heading(clause)
  if (is("body", "text", "content", "message", "summary", "html", "answer", "result")) return content(evidence)
  if (name === "id" || /(?:Id|_id|ID)$/.test(name)) {
    return reference.exec(clause)?.[0] ?? firstQuote(clause) ?? reference.exec(task)?.[0] ?? lastNoun(clause)
  }
  if (is("name")) return firstQuote(clause) ?? properName(clause) ?? lastNoun(clause)
  return firstQuote(clause) ??
    (is("city", "location", "place", "country", "region", "town") ? properName(clause) : undefined) ??
    after(clause, /\b(?:for|about|in|of|on|to|with|at)\s+(?:the\s+)?/iu) ?? remainder(clause)
}

const place = (name: string, schema: JsonObject, evidence: Evidence, required: boolean): string | undefined => {
  const { clause } = evidence
  const named = firstQuote(clause) ??
    clause.match(fileName)?.find((found) => !address.test(found) || found.includes("/"))
  if (named !== undefined) return named
  const seen = evidence.results.flatMap((result) => result.match(fileName) ?? []).filter((found) =>
    !found.includes("//")
  )
  const said = words(clause).filter((word) => !isWeak(word))
  const isFolder = /folder|dir/iu.test(name) ||
    (/\b(?:folder|directory)\b/iu.test(clause) && !/\bfiles?\b/iu.test(clause))
  const matching = seen.filter((found) => said.some((word) => words(found).includes(word)))
  const wantsNew = /\b(?:newest|latest|last|recent)\b/iu.test(clause)
  const wantsOld = /\b(?:oldest|earliest)\b/iu.test(clause)
  const rest = seen.filter((found) => !words(found).includes("temporary"))
  const pool = [...new Set(matching.length > 0 ? matching : wantsNew || wantsOld ? rest : [])].sort()
  const chosen = wantsNew ? pool.at(-1) : pool[0]
  if (chosen !== undefined && !isFolder) return within(name, chosen, evidence)
  if (!required) return undefined
  return /([\p{L}\p{N}_-]+)\s+(?:folder|directory)\b/iu.exec(clause)?.[1] ??
    (said.includes("temporary") ? "tmp" : schema.default === undefined ? lastNoun(clause) ?? "." : undefined)
}

const within = (name: string, file: string, evidence: Evidence): string => {
  if (file.includes("/") || !/path/iu.test(name)) return file
  const folder = evidence.used
    .flatMap((args) => typeof args === "object" && args !== null ? Object.entries(args) : [])
    .find(([key, used]) => /path|folder|dir/iu.test(key) && typeof used === "string" && !/\.\p{L}+$/u.test(used))?.[1]
  return typeof folder === "string" && folder !== "." && folder !== "" ? `${folder.replace(/\/+$/, "")}/${file}` : file
}

const content = (evidence: Evidence): string => {
  const wordiest = evidence.results.reduce((a, b) => wordCount(b) > wordCount(a) ? b : a, "")
  return firstQuote(evidence.clause) ??
    (wordiest === "" ? remainder(evidence.clause) : `Summary: ${shorten(wordiest, 240)}`)
}

const wordCount = (text: string): number => text.trim() === "" ? 0 : text.trim().split(/\s+/u).length

const after = (text: string, marker: RegExp): string | undefined => {
  const found = marker.exec(text)
  const rest = found === null ? "" : text.slice(found.index + found[0].length).replace(/[\s.?!,;]+$/u, "")
  return rest === "" ? undefined : rest
}

const remainder = (clause: string): string => {
  const rest = sentence(clause).replace(/^\S+\s+(?:me\s+)?(?:the\s+|an?\s+)?/iu, "")
  return rest === "" ? sentence(clause) : rest
}

const heading = (clause: string): string => {
  const text = shorten(remainder(clause).replace(/\s*\bto\s+\S+@\S+/iu, ""), 60)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const sentence = (text: string): string => text.replace(/\s+/gu, " ").replace(/[\s.?!,;]+$/u, "").trim()

const properName = (clause: string): string | undefined =>
  /(?<=\s)\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*)*/u.exec(clause)?.[0]

const lastNoun = (clause: string): string | undefined =>
  (sentence(clause).match(/[\p{L}\p{N}_-]+/gu) ?? []).filter((word) => !words(word).every(isWeak)).at(-1)
