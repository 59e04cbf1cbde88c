/** Rules about matchers: those that match more, or less, than they seem to. */
import * as Gemini from "@belay/hook-files/Gemini"
import * as Result from "effect/Result"
import { type Rule, type Said, said } from "./finding.ts"

const toolNames = [
  "Bash",
  "BashOutput",
  "KillShell",
  "Read",
  "Write",
  "Edit",
  "MultiEdit",
  "NotebookEdit",
  "NotebookRead",
  "Glob",
  "Grep",
  "LS",
  "WebFetch",
  "WebSearch",
  "Task",
  "Agent",
  "TodoWrite",
  "Skill",
  "SlashCommand",
  "ExitPlanMode",
  "AskUserQuestion"
]

const ofGemini: Rule = ({ event, matcher = "", source }) => {
  if (source.dialect !== "gemini" || event?.matcher !== "tool_name") return []
  const pattern = patternOf(matcher)
  const named = Object.keys(Gemini.builtInTools).filter((name) => new RegExp(`(?<!\\w)${name}(?!\\w)`).test(matcher))
  if (
    pattern === undefined || named.length === 0 || Object.values(Gemini.builtInTools).some((name) => pattern.test(name))
  ) return []
  return [
    said(
      "error",
      "matcher-nothing",
      `no tool of Gemini CLI is called ${named.join(" or ")}`,
      "matchers are compared with its own names, so the entry never runs",
      `Write ${JSON.stringify([...new Set(named.map((name) => Gemini.builtInTools[name]!))].join("|"))}.`
    )
  ]
}

/** Names that tools have in other systems, but not in Cursor. */
const notOfCursor = /(?<!\w)(?:Bash|Edit|MultiEdit|NotebookEdit|StrReplace|Agent)(?!\w)/g

const ofCursor: Rule = ({ event, matcher = "", source }) => {
  if (source.dialect !== "cursor" || event?.matcher !== "tool_name") return []
  const pattern = patternOf(matcher)
  const named = [...new Set(matcher.match(notOfCursor))]
  const own = ["Shell", "Read", "Write", "Grep", "Glob", "Delete", "Task", "WebFetch", "WebSearch", "MCP:x"]
  if (pattern === undefined || named.length === 0 || own.some((name) => pattern.test(name))) return []
  const words: { readonly [name: string]: string } = { Bash: "Shell", Agent: "Task" }
  return [
    said(
      "error",
      "matcher-nothing",
      `no tool of Cursor is called ${named.join(" or ")}`,
      "matchers are compared with its own names, so the entry never runs",
      `Write ${JSON.stringify([...new Set(named.map((name) => words[name] ?? "Write"))].join("|"))}.`
    )
  ]
}

const ofClaude: Rule = (item) => {
  const { event, matcher, source } = item
  if (event === undefined || (source.dialect !== "claude" && source.dialect !== "codex")) return []
  const isAll = matcher === undefined || matcher.trim() === "" || matcher === "*"
  if (event.matcher === undefined) {
    return isAll
      ? []
      : [
        said(
          "hint",
          "matcher-ignored",
          `${event.name} has no matcher`,
          "the entry always runs, whatever its matcher",
          "Remove the matcher."
        )
      ]
  }
  if (isAll) {
    return event.occasion === "tool-call"
      ? [
        said(
          "hint",
          "matcher-everything",
          "it runs before every call of every tool",
          "each call waits for it, and it also gets tools that it does not know",
          "Name the tools: \"Bash\", \"Edit|Write\"."
        )
      ]
      : []
  }
  if (event.values !== undefined && /^[\w\- ,|]+$/.test(matcher)) {
    const strange = matcher.split(/[|,]/).map((one) => one.trim()).filter((one) => !event.values!.includes(one))
    return strange.map((one) =>
      said(
        "warning",
        "matcher-nothing",
        `${event.matcher} is never ${JSON.stringify(one)}`,
        "the entry does not run for it",
        `Values are ${event.values!.join(", ")}.`
      )
    )
  }
  return event.matcher === "tool_name" ? [...exactNames(matcher), ...loosePatterns(matcher)] : []
}

/** Names that no tool has in scripts. */
const exactNames = (matcher: string): ReadonlyArray<Said> => {
  if (!/^[\w\- ,|]+$/.test(matcher)) return []
  return matcher.split(/[|,]/).map((name) => name.trim()).filter((name) => name !== "").flatMap((name) => {
    if (/^mcp__[^_]+(?:_[^_]+)*$/.test(name)) {
      return [
        said(
          "warning",
          "matcher-nothing",
          `${JSON.stringify(name)} is the name of a server, not of a tool`,
          "names must match completely, so no tool of the server is guarded",
          `Write "${name}__.*".`
        )
      ]
    }
    const other = toolNames.find((tool) => tool !== name && tool.toLowerCase() === name.toLowerCase())
    return other === undefined
      ? []
      : [
        said(
          "error",
          "matcher-nothing",
          `no tool is called ${JSON.stringify(name)}`,
          "letter case matters, so the entry never runs",
          `Write ${JSON.stringify(other)}.`
        )
      ]
  })
}

/** Patterns that match more than they seem to, because they are searched for anywhere in the name. */
const loosePatterns = (matcher: string): ReadonlyArray<Said> => {
  if (
    /^[\w\- ,|]+$/.test(matcher) || matcher.length > 200 || /\(\?[=!<]|\\\d/.test(matcher) ||
    /\([^)]*[+*][^)]*\)[+*{]/.test(matcher)
  ) {
    return []
  }
  const [loose, strict] = [patternOf(matcher), patternOf(`^(?:${matcher})$`)]
  if (loose === undefined || strict === undefined) return []
  const more = toolNames.filter((name) => loose.test(name) && !strict.test(name))
  const none = !toolNames.some((name) => loose.test(name)) && !matcher.includes("mcp")
  if (more.length === 0 || none) return []
  return [
    said(
      "warning",
      "matcher-loose",
      `${JSON.stringify(matcher)} also matches ${more.join(", ")}`,
      "a pattern is searched for anywhere in the name",
      `Anchor it: "^(?:${matcher})$".`
    )
  ]
}

const patternOf = (text: string): RegExp | undefined => Result.getOrUndefined(Result.try(() => new RegExp(text)))

export const matchers: ReadonlyArray<Rule> = [ofClaude, ofGemini, ofCursor]
