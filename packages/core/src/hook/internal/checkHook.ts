/** Checks hooks of untyped programs, and describes the first mistake. */
import * as Duration from "effect/Duration"
import { ChainError } from "../../data/AgentError.ts"
import { readDuration } from "../../data/internal/durations.ts"
import { show } from "../../data/option/OptionCheck.ts"
import { nearest } from "../../data/text/NamePattern.ts"
import type { AgentHook } from "../AgentHook.ts"
import { names } from "../HookPoint.ts"

const methods: ReadonlySet<string> = new Set([...names, "wrapLlmCall", "wrapToolCall", "concealMessages", "revealText"])

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === "string")
const isChars = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "chars" in value && Number.isFinite(value.chars) &&
  (value.chars as number) >= 0
const isTool = (value: unknown): boolean =>
  typeof value === "string" ||
  (typeof value === "object" && value !== null && "name" in value && typeof value.name === "string")
const isDuration = (value: unknown): boolean => {
  const duration = readDuration(value)
  return duration !== undefined && Duration.toMillis(duration) >= 0
}

const isFlag = ["must be true or false", (value: unknown) => typeof value === "boolean"] as const

/** For each option: a description of valid values, and a test. */
const options: { readonly [option: string]: readonly [expected: string, fits: (value: unknown) => boolean] } = {
  priority: ["must be a finite number", Number.isFinite],
  tier: oneOf("managed", "project", "agent"),
  before: ["must be a list of strings", isTexts],
  after: ["must be a list of strings", isTexts],
  override: isFlag,
  failOpen: isFlag,
  onFailure: oneOf("open", "reject", "abort"),
  onTimeout: oneOf("open", "reject", "abort"),
  timeout: [
    "must be \"none\", milliseconds or a duration such as \"5 seconds\"",
    (value) => value === "none" || isDuration(value)
  ],
  kind: oneOf("policy", "advisory", "observer"),
  mode: oneOf("enforce", "shadow"),
  tools: [
    "must be a tool, a name or a pattern, or a list of them",
    (value) => Array.isArray(value) ? value.every(isTool) : isTool(value)
  ],
  hold: [
    "must be none, untilPass or { chars: number }, with a function `from` if it is not always so much",
    (value) => value === "none" || value === "untilPass" || isChars(value)
  ],
  allowReentry: isFlag,
  confidential: isFlag,
  observes: ["must be a list of points", isTexts],
  reinvoke: oneOf("never", "ifChanged", "reapply"),
  close: ["must be a function", (value) => typeof value === "function"]
}

function oneOf(...words: ReadonlyArray<string>): readonly [string, (value: unknown) => boolean] {
  return [`must be ${words.slice(0, -1).join(", ")} or ${words.at(-1)}`, (value) => words.includes(value as string)]
}

/** Describes the first mistake in a hook, if there is one. */
export const findMistake = (hook: AgentHook<never>): ChainError | undefined => {
  const other = otherThanObject(hook)
  if (other !== undefined) {
    return new ChainError({ hook: show(hook), message: `a hook must be an object, found ${other}` })
  }
  if (typeof hook.name !== "string" || hook.name === "") {
    return new ChainError({
      hook: show(hook.name),
      message: "a hook needs a name: a string that is unique in its chain"
    })
  }
  const refuse = (message: string) => new ChainError({ hook: hook.name, message: `hook "${hook.name}": ${message}` })
  // An untyped hook may have any members.
  const record = hook as unknown as { readonly [key: string]: unknown }
  for (const [option, [expected, fits]] of Object.entries(options)) {
    const value = record[option]
    if (value === undefined || fits(value)) continue
    const found = typeof value === "object" ? "" : `, found ${typeof value === "string" ? value : show(value)}`
    return refuse(`${option} ${expected}${found}`)
  }
  for (const point of hook.observes ?? []) if (!names.includes(point)) return refuse(unknownPoint(point))
  for (const key of members(hook)) {
    const value = record[key]
    if (methods.has(key)) {
      if (value === undefined || typeof value === "function") continue
      return refuse(`${key} must be a function, found ${typeof value}`)
    }
    if (typeof value === "function" && /^(on|pre|post|wrap)[A-Z_]/.test(key)) return refuse(unknownPoint(key))
    const option = misspeltOption(hook, key)
    if (option !== undefined) return refuse(`there is no option "${key}"; did you mean "${option}"?`)
  }
  return undefined
}

/** Describes what is not a hook, and what was probably meant. */
const otherThanObject = (hook: unknown): string | undefined => {
  if (typeof hook === "function") return "a function: call it"
  if (typeof hook !== "object") return typeof hook
  if (hook === null) return "null"
  if (Array.isArray(hook)) return "a list: write ... before it"
  return "then" in hook && typeof hook.then === "function" ? "a promise: await it" : undefined
}

/**
 * Returns the option that a field of a hook was probably meant to be. Hooks may have fields of their own, so only
 * fields of object literals with long enough names count.
 */
const misspeltOption = (hook: object, key: string): string | undefined => {
  if (Object.getPrototypeOf(hook) !== Object.prototype || known.has(key) || key in options) return undefined
  return key === "tool" ? "tools" : key.length < 6 ? undefined : nearest(key, Object.keys(options))
}

/** Fields without a check. */
const known: ReadonlySet<string> = new Set(["name", "identity"])

const unknownPoint = (word: string): string => {
  const meant = nearest(word, methods)
  return `unknown point "${word}"${meant === undefined ? "." : `, did you mean "${meant}"?`} Points are ${
    names.join(", ")
  }`
}

/** Lists the members of the object and its classes, nearest first. */
const members = (hook: object): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let at: object | null = hook; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    found.push(...Object.getOwnPropertyNames(at).filter((key) => key !== "constructor"))
  }
  return found
}
