/**
 * Finds the end of a streamed text that may become a key or a token when the text continues. It is what
 * `credentials.ts` could still match: whole prefixes, their beginnings, and values that have not ended.
 */

/** Returns where a text may still become a value, or its length. */
export const openSecretIn = (text: string): number => {
  const start = Math.min(startOf(tokens, text), startOf(names, text))
  // Whether a token begins here depends on the character in front of it.
  return start > 0 && start < text.length && /[\w-]/.test(text[start - 1]!) ? start - 1 : start
}

const startOf = (pattern: RegExp, text: string): number => {
  const found = text.search(pattern)
  return found < 0 ? text.length : found
}

/** A pattern for a text that ends with a beginning of a literal. After the whole literal, `rest` continues it. */
const begun = (literal: string, rest = ""): string =>
  [...literal].reduceRight((after, character) => `${escape(character)}(?:$|${after})`, `${rest}$`)

const escape = (character: string): string => character.replace(/[$.*+?()[\]{}|^\\/-]/, "\\$&")

const oneOf = (patterns: ReadonlyArray<string>): string => `(?:${patterns.join("|")})`

/** Tokens that begin where no letter or digit stands in front of them. */
const prefixed: ReadonlyArray<readonly [prefixes: ReadonlyArray<string>, rest: string]> = [
  [["sk-"], "[\\w-]*"],
  [["AKIA", "ASIA", "ABIA", "ACCA"], "[A-Z2-7]{0,16}"],
  [["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]*"],
  [["github_pat_"], "\\w*"],
  [["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glagent-"], "[\\w-]*"],
  [["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], "[A-Za-z0-9-]*"],
  [["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"], "[A-Za-z0-9]*"],
  [["AIza", "GOCSPX-", "ya29."], "[\\w-]*"],
  [["eyJ"], "[\\w.-]*"]
]

const tokens = new RegExp(oneOf([
  `(?<![A-Za-z0-9])${oneOf(prefixed.flatMap(([prefixes, rest]) => prefixes.map((prefix) => begun(prefix, rest))))}`,
  begun("hooks.slack.com/services/", "[A-Za-z0-9/]*"),
  begun("-----BEGIN ", "[A-Z0-9 ]{0,64}(?:-{1,4}|-----(?:[^-]|-(?!----))*-{0,5}(?:END[A-Z0-9 ]{0,60}-{0,5})?)?")
]))

/** Names in front of a secret, in every spelling. */
const secretNames = [
  ..."api access private".split(" ").flatMap((word) => ["", "_", "-"].map((joint) => `${word}${joint}key`)),
  ...["", "_", "-"].map((joint) => `client${joint}secret`),
  ..."secret token password passwd passwor pwd authorization bearer".split(" ")
]

const databases = "postgres postgresql mysql mariadb mongodb mongodb+srv redis rediss amqp amqps mssql clickhouse"

const names = new RegExp(
  oneOf([
    ...secretNames.map((name) =>
      begun(name, `["']?\\s{0,3}(?:[:=]\\s{0,3}(?:(?:bearer|basic) )?["']?[^\\s"'\`<>[\\](),;&]*)?`)
    ),
    begun("bearer", " [^\\s\"'`<>[\\](),;&]*"),
    ...databases.split(" ").map((scheme) => begun(`${scheme}://`, "[^\\s:/@]{0,64}(?::[^\\s/]*)?"))
  ]),
  "i"
)
