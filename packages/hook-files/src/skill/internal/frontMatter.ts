/** Reads a `SKILL.md`: its front matter and its text. Everything in it is foreign until it is decoded. */
import { defined } from "@belay/core/Fields"
import * as Condition from "@belay/hooks/Condition"
import * as Result from "effect/Result"
import { parse as parseYaml } from "yaml"
import { type Fields, isFields } from "../../internal/fields.ts"
import { withoutHidden } from "./hidden.ts"
import type { Skill } from "./skill.ts"

/** What the text of a `SKILL.md` says. */
export type Said = Pick<
  Skill,
  "name" | "description" | "license" | "compatibility" | "metadata" | "allowedTools" | "forModels" | "body"
>

/** Why a file cannot be used: the field, and what is wrong with it. */
export interface Problem {
  readonly key: string
  readonly reason: string
}

const maxMatter = 65_536
const maxRules = 100
const maxRulesLength = 8_000
const maxDescription = 1_024

/** Decodes the text of a `SKILL.md`. `folder` is the name of its folder, which is the name of a skill without one. */
export const readSkill = (text: string, folder: string): Result.Result<Said, Problem> => {
  const found = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text)
  if (found === null) return wrong("", "expected front matter between two lines of three hyphens, with a description")
  const matter = found[1] ?? ""
  if (matter.length > maxMatter) return wrong("", `its front matter is longer than ${maxMatter} characters`)
  const parsed = Result.try((): unknown => parseYaml(matter, { maxAliasCount: 10, logLevel: "error" }))
  if (Result.isFailure(parsed)) {
    return wrong("", `its front matter is not YAML: ${firstLine(parsed.failure)}; put texts with a colon in quotes`)
  }
  if (!isFields(parsed.success)) return wrong("", "its front matter is not a mapping")
  const matterFields = parsed.success
  return Result.gen(function*() {
    const name = yield* nameOf(own(matterFields, "name") ?? folder)
    const description = yield* textOf(matterFields, "description", true)
    const allowedTools = yield* rulesOf(own(matterFields, "allowed-tools"))
    const license = yield* textOf(matterFields, "license")
    const compatibility = yield* textOf(matterFields, "compatibility")
    const metadata = own(matterFields, "metadata")
    return {
      name,
      description: description!.slice(0, maxDescription),
      ...defined({ license, compatibility, allowedTools }),
      metadata: isFields(metadata) ? textsOf(metadata) : {},
      forModels: own(matterFields, "disable-model-invocation") !== true,
      body: text.slice(found[0].length)
    }
  })
}

const wrong = (key: string, reason: string): Result.Result<never, Problem> => Result.fail({ key, reason })

const own = (fields: Fields, key: string): unknown => {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined
  return value === null ? undefined : value
}

const nameOf = (name: unknown): Result.Result<string, Problem> =>
  typeof name === "string" && name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)
    ? Result.succeed(name)
    : wrong("name", "expected 1 to 64 lower-case letters, digits and single hyphens, such as pdf-forms")

const textOf = (fields: Fields, key: string, isRequired = false): Result.Result<string | undefined, Problem> => {
  const value = own(fields, key)
  if (value === undefined) {
    return isRequired
      ? wrong(key, "is missing: say what the skill does and when to use it")
      : Result.succeed(undefined)
  }
  if (typeof value !== "string") return wrong(key, "expected a text")
  const line = withoutHidden(value).replaceAll(/\s+/g, " ").trim()
  return line === "" && isRequired ?
    wrong(key, "is empty: say what the skill does and when to use it") :
    Result.succeed(
      line
    )
}

const textsOf = (fields: Fields): { readonly [key: string]: string } =>
  Object.fromEntries(
    Object.entries(fields).slice(0, 50).flatMap(([key, value]) =>
      typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? [[key, String(value).slice(0, 1_000)]]
        : []
    )
  )

/**
 * Reads `allowed-tools`: a list, or one text with rules between spaces or commas. A rule that cannot be read makes the
 * skill unusable, because what it may do is then not known.
 */
const rulesOf = (value: unknown): Result.Result<ReadonlyArray<string> | undefined, Problem> => {
  if (value === undefined) return Result.succeed(undefined)
  const isList = Array.isArray(value) && value.every((one) => typeof one === "string")
  if (typeof value !== "string" && !isList) return wrong("allowed-tools", "expected a text or a list of texts")
  const rules = typeof value === "string" ? splitRules(value) : value as ReadonlyArray<string>
  if (rules.length > maxRules) return wrong("allowed-tools", `has more than ${maxRules} rules`)
  if (rules.join(" ").length > maxRulesLength) {
    return wrong("allowed-tools", `has more than ${maxRulesLength} characters`)
  }
  if (rules.some((rule) => /^\s*!/.test(rule))) return wrong("allowed-tools", "a rule cannot exclude anything")
  const checked = Condition.parseAll(rules, "allowed-tools")
  return Result.isFailure(checked)
    ? wrong("allowed-tools", checked.failure.message.replace(/^allowed-tools(?=\[)/, "rule "))
    : Result.succeed(rules.map((rule) => rule.trim()))
}

/** Splits at spaces and commas that are not inside parentheses. */
const splitRules = (text: string): ReadonlyArray<string> => {
  const rules: Array<string> = []
  let rule = ""
  let depth = 0
  for (const character of text) {
    if (character === "(") depth++
    if (character === ")") depth--
    if (depth <= 0 && /[\s,]/.test(character)) {
      if (rule !== "") rules.push(rule)
      rule = ""
    } else rule += character
  }
  return rule === "" ? rules : [...rules, rule]
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0]!.replace(/:$/, "")
