/**
 * Detectors of keys and tokens: by the prefixes that vendors use, and by names such as `password` before a value that
 * looks random.
 */
import { type Detector, type Ending, patternDetector } from "./detector.ts"

/** Every kind. Where findings overlap, the kind that is first in the list wins. */
export const kinds = [
  "private-key",
  "database-password",
  "anthropic-key",
  "openai-key",
  "aws-key",
  "github-token",
  "gitlab-token",
  "slack-token",
  "stripe-key",
  "google-key",
  "jwt",
  "secret"
] as const

/** Five dashes begin a private key. Fewer belong to a token. */
const dashes: Ending = { begun: /^-{1,4}$/ }

/** Returns the detectors by kind. A `secret` needs at least this entropy, in bits for one character. */
export const detectors = (entropy: number): { readonly [K in typeof kinds[number]]: Detector } => {
  const prefixed = (kind: string, needs: string | RegExp, pattern: RegExp) =>
    patternDetector(kind, pattern, { reach: 64, needs, more: /(?:\w|-(?!-{0,3}$|----))+/y, ending: dashes })
  return {
    "private-key": patternDetector(
      "private-key",
      new RegExp(
        String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Z][A-Za-z-]{2,20}: [^\r\n]{0,100}|` +
          String.raw`[A-Za-z0-9+/=\s]|\\[nr])*(?:-----END [A-Z0-9 ]{0,60}-----)?`,
        "g"
      ),
      {
        reach: 96,
        needs: "PRIVATE KEY",
        more: /(?:[A-Za-z0-9+/=\r\n]|\\[nr])*(?:-----END [A-Z0-9 ]{0,60}-----)?/y,
        ending: {
          whole: /-----END [A-Z0-9 ]{0,60}-----$/,
          begun: /^(?:\\|-{1,5}|-----EN?|-----END(?: [A-Z0-9 ]{0,60}-{0,4})?)$/
        }
      }
    ),
    "database-password": patternDetector(
      "database-password",
      new RegExp(
        String.raw`(?<=(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|` +
          String.raw`clickhouse):\/\/[^\s:/@]{0,64}:)[^\s/]{1,128}(?=@)`,
        "gi"
      ),
      { reach: 216, needs: "://" }
    ),
    "anthropic-key": prefixed("anthropic-key", "sk-ant-", /(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{20,}/g),
    "openai-key": prefixed("openai-key", "sk-", /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}/g),
    "aws-key": prefixed(
      "aws-key",
      /A(?:KIA|SIA|BIA|CCA)/,
      /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/g
    ),
    "github-token": prefixed(
      "github-token",
      /gh[pousr]_|github_pat_/,
      /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})/g
    ),
    "gitlab-token": prefixed("gitlab-token", "gl", /(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt|cbt|agent)-[\w-]{20,}/g),
    "slack-token": patternDetector(
      "slack-token",
      new RegExp(
        "(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|" +
          String.raw`(?<=hooks\.slack\.com\/services\/)[A-Z0-9]{8,}\/[A-Z0-9]{8,}\/[A-Za-z0-9]{16,})`,
        "g"
      ),
      { reach: 96, needs: /xox|xapp-|hooks\.slack\.com/, more: /(?:[A-Za-z0-9]|-(?!-{0,3}$|----))+/y, ending: dashes }
    ),
    "stripe-key": prefixed(
      "stripe-key",
      /[sr]k_|whsec_/,
      /(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}/g
    ),
    "google-key": prefixed(
      "google-key",
      /AIza|GOCSPX-|ya29\./,
      /(?<![A-Za-z0-9])(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})/g
    ),
    // A token is recognized by the first characters of its encoded JSON, so that a stream need not wait for the first
    // dot.
    jwt: patternDetector("jwt", /(?<![\w-])eyJ[\w-]{14,}(?:\.[\w-]+){0,2}/g, {
      reach: 32,
      needs: "eyJ",
      more: /(?:[\w.]|-(?!-{0,3}$|----))+/y,
      ending: dashes
    }),
    secret: patternDetector(
      "secret",
      new RegExp(
        "(?<=(?:api[_-]?key|secret|token|passw(?:or)?d|passwd|pwd|access[_-]?key|private[_-]?key|" +
          String.raw`client[_-]?secret|authorization)["']?\s{0,3}[:=]\s{0,3}(?:bearer |basic )?["']?|` +
          "\\bbearer )[^\\s\"'`<>[\\](),;&]{8,128}",
        "gi"
      ),
      {
        reach: 176,
        needs: /key|secret|token|pass|pwd|authorization|bearer/i,
        grows: true,
        accept: (value) => isMixed(value) && entropyOf(value) >= entropy ? value.length : 0,
        more: /(?:[^\s"'`<>[\](),;&-]|-(?!-{0,3}$|----))+/y,
        ending: dashes
      }
    )
  }
}

/** Whether a text is more than a word or an address: it is long, or has two kinds of characters. */
const isMixed = (text: string): boolean =>
  !/^https?:/i.test(text) &&
  (text.length >= 16 || [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9._/-]/].filter((kind) => kind.test(text)).length > 1)

/** The Shannon entropy of a text, in bits for one character. */
const entropyOf = (text: string): number => {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let sum = 0
  for (const count of counts.values()) sum -= count / text.length * Math.log2(count / text.length)
  return sum
}
