/**
 * Signals of injected instructions. Every repetition in a pattern is bounded, so that the time grows linearly with the
 * text.
 */
import { hiddenPattern, stripHidden } from "./hiddenCharacters.ts"

/** A sign of an injection. Its weight is from 0 (it means nothing) to 1 (it is certain). */
export interface Signal {
  readonly name: string
  readonly weight: number
  readonly test: (text: string) => boolean
}

const words = "(?:[\\w'-]{1,20} ){0,4}"

/** `needs` is a quick test: it matches every text that one of the patterns matches. */
const signal = (name: string, weight: number, needs: string, ...patterns: ReadonlyArray<string>): Signal => {
  const any = new RegExp(needs, "iu")
  const all = new RegExp(patterns.join("|"), "iu")
  return { name, weight, test: (text) => any.test(text) && all.test(text) }
}

/** Signals that are searched for in the normalized form of a text. */
export const textSignals: ReadonlyArray<Signal> = [
  signal(
    "override",
    0.7,
    "ignore|disregard|forget|override|bypass|drop|skip|(?:new|updated|real|actual) |do not ",
    `\\b(?:ignore|disregard|forget|override|bypass|drop|skip) ${words}(?:instruction|prompt|rule|guideline|direction|policy|policies|constraint|(?:previous|prior|above|earlier) (?:message|text|context))s?\\b`,
    "\\b(?:new|updated|real|actual) (?:instructions|task|system prompt|objective) ?(?::|are|is)",
    `\\bdo not (?:follow|obey|listen to) ${words}(?:instructions|rules|prompt|user)\\b`
  ),
  signal(
    "persona",
    0.5,
    "you are |from now on|pretend | mode|jailbr|without ",
    "\\byou are (?:now (?:an?|the|in|called|named|dan|evil|free)\\b|no longer )",
    "\\bfrom now on,? you\\b",
    "\\bpretend (?:to be|that you|you are)\\b",
    "\\b(?:developer|god|jailbreak|dan|unrestricted) mode\\b",
    "\\bjailbr(?:eak|oken)",
    "\\bwithout (?:any )?(?:restrictions|filters|safety|limitations)\\b"
  ),
  signal(
    "role-marker",
    0.5,
    "[<:\\]#]",
    "(?:^|\\n) ?(?:system|assistant|developer|tool) ?(?:message|prompt)? ?:",
    "<\\|? ?/?(?:im_start|im_end|system|endoftext|assistant|start_header_id|eot_id) ?\\|?>",
    "\\[/?(?:inst|sys|system)\\]",
    "<</?sys>>",
    "(?:^|\\n)#{1,6} ?(?:system|instruction|developer)"
  ),
  signal(
    "prompt-request",
    0.7,
    "prompt|instructions|rules|guidelines|above",
    `\\b(?:reveal|show|print|repeat|output|display|leak|tell me|give me|what (?:is|are|was|were)) ${words}(?:system prompt|initial prompt|hidden prompt|secret prompt|(?:your|hidden|initial|original|secret|system) (?:instructions|prompt|rules|guidelines))`,
    "\\brepeat (?:everything|all|the words|the text) above\\b"
  ),
  signal(
    "tool-call",
    0.5,
    "tool|function|invoke",
    "\"(?:tool_calls?|function_call|tool_use|tool_name)\" ?:",
    "</?(?:tool_calls?|function_calls?|invoke|tool_use)\\b",
    `\\b(?:call|invoke|execute|run|use) the ${words}(?:tool|function)\\b`
  ),
  signal(
    "exfiltration",
    0.6,
    "https?:|@",
    `\\b(?:send|post|upload|forward|e-?mail|exfiltrate|leak|transmit|copy) (?:[\\w'-]{1,20} ){0,8}(?:to|at) (?:https?:|[\\w.+-]{1,64}@)`,
    "!\\[[^\\]\\n]{0,100}\\]\\(https?://[^)\\s]{0,300}[?&=]",
    "\\b(?:curl|wget) [^\\n]{0,200}https?:[^\\n]{0,200}(?:\\$\\(|`|--data|-d )"
  ),
  signal(
    "concealment",
    0.6,
    "do not|don't|never|without|secretly|covertly|silently",
    `\\b(?:do not|don't|never|without) ${words}(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|reveal|show|alert)(?:ing)? ${words}(?:user|human|anyone|operator)\\b`,
    "\\b(?:secretly|covertly|silently) "
  )
]

/** Signals that are searched for in the original text. */
export const rawSignals: ReadonlyArray<Signal> = [
  {
    name: "hidden-text",
    weight: 0.5,
    test: (text) =>
      nonAscii.test(text) && (tagText(text) !== "" || countHidden(text, zeroWidth) >= 5 || countHidden(text, bidi) >= 1)
  },
  {
    name: "encoded",
    weight: 0.7,
    test: (text) => decodedBlocks(text).some((inner) => textSignals.some(({ test }) => test(inner)))
  }
]

/** The names of all signals. */
export const signalNames: ReadonlyArray<string> = [...textSignals, ...rawSignals].map(({ name }) => name)

/** All characters that can hide text are outside of ASCII. */
const nonAscii = /[^\p{ASCII}]/u
const tags = hiddenPattern(["tags"])
const zeroWidth = hiddenPattern(["zero-width"])
const bidi = /[\u202a-\u202e\u2066-\u2069]/gu
const allHidden = hiddenPattern(["control", "zero-width", "bidi", "tags"])

/** Matches all texts except visible ASCII in lines, with single spaces. */
const needsNormalizing = /[^!-~\n ]| {2}/

/** Normalizes a text: compatible letters, no invisible characters, single spaces. Hidden text is appended. */
export const normalizeText = (text: string): string => {
  if (!needsNormalizing.test(text)) return text
  const visible = stripHidden(text.toWellFormed().normalize("NFKC"), allHidden).replaceAll(/[^\S\n]+/g, " ")
  const hidden = tagText(text)
  return hidden === "" ? visible : `${visible}\n${hidden}`
}

/** The text that is hidden in tag characters, apart from flags. */
const tagText = (text: string): string => {
  if (!text.includes("\udb40")) return ""
  const found = text.match(tags) ?? []
  const hidden = found.map((tag) => String.fromCharCode(tag.codePointAt(0)! & 0x7f)).join("").replaceAll(
    /[^\x20-\x7e]/g,
    ""
  )
  return hidden.length > 6 ? hidden : ""
}

const countHidden = (text: string, hidden: RegExp): number => text.length - stripHidden(text, hidden).length

/** The first sixteen Base64 blocks that decode to readable text. */
const decodedBlocks = (text: string): ReadonlyArray<string> =>
  text.length < 20 ? [] : Array.from(text.matchAll(/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{20,8192}={0,2}/g)).slice(0, 16)
    .map(([block]) => Buffer.from(block, "base64").toString("latin1"))
    .filter((inner) => /^[\s!-~]{12,}$/.test(inner))
