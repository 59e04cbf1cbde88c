/** Rules about one entry: its keys, matcher, timeout and requests. */
import { nearest } from "@belay/core/NamePattern"
import * as Gemini from "@belay/hook-files/Gemini"
import * as Result from "effect/Result"
import type { Item } from "../world.ts"
import { type Said, said } from "./finding.ts"

/** Whether an entry is a guard. */
export const isGuard = ({ event }: Item): boolean =>
  event?.occasion === "tool-call" || event?.occasion === "prompt" || event?.occasion === "permission"

const refusesByTwo = (item: Item): boolean =>
  item.event?.may !== undefined && /refused|denied|denies|denial/.test(item.event.two)

type Rule = (item: Item) => ReadonlyArray<Said>

const unknownKeys: Rule = ({ event, group, raw, source }) => {
  const system = source.system.guide
  if (system.keys.length === 0 || event === undefined) return []
  const strange = (of: object, known: ReadonlyArray<string>) => Object.keys(of).filter((key) => !known.includes(key))
  const all = [
    ...strange(raw, system.keys).map((key) => [key, system.keys] as const),
    ...strange(group, system.groupKeys).map((key) => [key, system.groupKeys] as const)
  ]
  return all.map(([key, known]) => {
    const near = nearest(key, known) ?? (known.includes(key.replace(/s$/, "")) ? key.replace(/s$/, "") : undefined)
    const other = known === system.groupKeys && system.keys.includes(key)
      ? "It belongs to the entry, one level deeper."
      : system.groupKeys.includes(key)
      ? "It belongs to the group, one level higher."
      : undefined
    return said(
      near === undefined && other === undefined ? "warning" : "error",
      "unknown-key",
      `${JSON.stringify(key)} is not a key of ${system.name}`,
      "its value is ignored",
      other ?? (near === undefined ? "Remove it." : `Did you mean ${JSON.stringify(near)}?`)
    )
  })
}

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

const matchers: Rule = (item) => {
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

const conditions: Rule = ({ event, matcher, rule, source }) => {
  if (rule === undefined || event === undefined || source.dialect !== "claude") return []
  const tool = /^\s*([\w-]+)/.exec(rule)?.[1]
  if (tool === undefined || matcher === undefined || !/^[\w\- ,|]+$/.test(matcher) || matcher.trim() === "") return []
  const groups = [["Edit", "MultiEdit", "Write", "NotebookEdit"], ["Read", "Grep", "Glob"]]
  const names = matcher.split(/[|,]/).map((name) => name.trim())
  const fits = names.some((name) => name === tool || groups.some((group) => group[0] === tool && group.includes(name)))
  return fits || /^[a-z]/.test(tool)
    ? []
    : [
      said(
        "error",
        "never-runs",
        `its if is about ${tool}, its matcher about ${names.join(", ")}`,
        "no call matches both, so the entry never runs",
        `Give both the same tool.`
      )
    ]
}

const times: Rule = (item) => {
  const { entry, event, isAsync, raw, source, timeout } = item
  const own = [raw["timeout"], raw["timeoutSec"], raw["timeoutMs"]].find((value) => typeof value === "number")
  if (event === undefined) return []
  const found: Array<Said> = []
  if (isAsync && refusesByTwo(item)) {
    found.push(
      said(
        "warning",
        "guard-async",
        "this guard runs in the background",
        "an async entry decides nothing, so the call runs",
        "Remove \"async\"."
      )
    )
  }
  if (own !== undefined && timeout < 2 && isGuard(item)) {
    found.push(
      said(
        "warning",
        "guard-timeout",
        `this guard has ${timeout} s`,
        "an entry that times out decides nothing, so the call runs",
        "Give it 5 seconds or more."
      )
    )
  }
  if (source.dialect !== "gemini" && own !== undefined && timeout >= 1_000) {
    found.push(
      said(
        "warning",
        "timeout-unit",
        `its timeout is ${timeout} seconds`,
        "timeouts are in seconds here",
        `Did you mean ${Math.max(1, Math.round(timeout / 1_000))}?`
      )
    )
  }
  if (source.dialect === "gemini" && typeof raw["timeout"] === "number" && raw["timeout"] < 1_000) {
    found.push(
      said(
        "warning",
        "timeout-unit",
        `its timeout is ${raw["timeout"]} milliseconds`,
        "timeouts are in milliseconds here",
        `Did you mean ${raw["timeout"] * 1_000}?`
      )
    )
  }
  if (entry.work.type === "command" && isGuard(item) && /\|\|\s*(?:true|:|exit\s+0)\s*$/.test(entry.work.command)) {
    found.push(
      said(
        "warning",
        "guard-open",
        "it always exits with 0",
        "`|| true` lets every call pass, even if the guard blocks",
        "Remove it, or keep code 2: `guard.sh || exit $?`."
      )
    )
  }
  return found
}

const requests: Rule = ({ entry: { work }, source }) => {
  if (work.type !== "http") return []
  const found: Array<Said> = []
  const url = URL.parse(work.url)
  const isLocal = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url === null) {
    return [
      said(
        "error",
        "url",
        `${JSON.stringify(work.url)} is not a URL`,
        "nothing is ever sent",
        "Write the full URL with https://."
      )
    ]
  }
  if (isLocal && source.ofProject) {
    found.push(
      said(
        "error",
        "url-local",
        "it sends to this machine, from a file of the project",
        "only files of the user can do that, so nothing is sent",
        "Move the entry to the settings in your home folder."
      )
    )
  } else if (url.protocol === "http:" && !isLocal) {
    found.push(
      said(
        "error",
        "url-plain",
        "it uses plain http",
        "others could read the request, so nothing is sent",
        "Use https."
      )
    )
  }
  const allowed = work.allowedEnvVars ?? []
  const named = Object.values(work.headers ?? {}).flatMap((value) =>
    [...value.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => name!)
  )
  for (const name of new Set(named)) {
    if (!allowed.includes(name)) {
      found.push(
        said(
          "warning",
          "header-empty",
          `a header uses $${name}, which is not in allowedEnvVars`,
          "it is empty in the request",
          `Add "allowedEnvVars": ["${name}"].`
        )
      )
    }
  }
  return found
}

const prompts: Rule = ({ entry: { work }, event }) => {
  if (work.type !== "prompt" && work.type !== "agent") return []
  const found: Array<Said> = []
  const words = work.prompt.replaceAll("$ARGUMENTS", "").trim().split(/\s+/).filter((word) => word !== "")
  const loose = words.length < 30
    ? /\b(?:appropriate|reasonable|good|bad|ok|okay|safe|fine|proper|properly|correct|correctly)\b/i.exec(work.prompt)
      ?.[0]
    : undefined
  if (words.length < 8 || loose !== undefined) {
    const what = words.length < 8
      ? `${words.length} words say what to decide`
      : `${JSON.stringify(loose)} can mean anything`
    const why = "the model must guess what to block, and its answers differ"
    found.push(
      said("hint", "prompt-vague", what, why, "Say what to block, what to allow, and what to do when in doubt.")
    )
  }
  if (!work.prompt.includes("$ARGUMENTS")) {
    found.push(
      said(
        "hint",
        "prompt-event",
        "it has no placeholder for the event",
        "the event is added at the end",
        "Write $ARGUMENTS where the event belongs."
      )
    )
  }
  if (event?.occasion === "permission" || event?.occasion === "denied") {
    found.push(
      said(
        "warning",
        "never-decides",
        `the answer of a model is ignored at ${event.name}`,
        "only commands and servers decide permissions",
        "Move it to PreToolUse."
      )
    )
  }
  return found
}

export const rules: ReadonlyArray<Rule> = [unknownKeys, matchers, ofGemini, conditions, times, requests, prompts]
