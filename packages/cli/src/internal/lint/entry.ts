/** Rules about one entry: its keys, matcher, timeout and requests. */
import { nearest } from "@belay/core/NamePattern"
import type { Item } from "../world.ts"
import { type Rule, type Said, said } from "./finding.ts"
import { matchers } from "./matchers.ts"

/** Whether an entry is a guard. */
export const isGuard = ({ event }: Item): boolean =>
  event?.occasion === "tool-call" || event?.occasion === "prompt" || event?.occasion === "permission"

const refusesByTwo = (item: Item): boolean =>
  item.event?.may !== undefined && /refused|denied|denies|denial/.test(item.event.two)

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

const once: Rule = ({ entry, raw, source }) =>
  // Some dialects have this field.
  raw["once"] === true && source.dialect === "claude" && (entry as { readonly once?: boolean }).once !== true
    ? [
      said(
        "hint",
        "once-ignored",
        "it says once, outside of a skill",
        "Claude Code reads once in the front matter of skills only, so the entry runs each time",
        "Remove it, or move the entry to the skill."
      )
    ]
    : []

const times: Rule = (item) => {
  const { event, isAsync, raw, source, timeout } = item
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

export const rules: ReadonlyArray<Rule> = [unknownKeys, ...matchers, conditions, once, times, requests, prompts]
