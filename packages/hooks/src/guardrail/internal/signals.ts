/** What gives an injected instruction away. Every repetition is bounded, so that the time grows with the text alone. */
import { pattern, stripped } from "./invisible.ts"

/** A sign of an injection, from 0 (none) to 1 (certain) how much it weighs. */
export interface Signal {
  readonly name: string
  readonly weight: number
  readonly test: (text: string) => boolean
}

const words = "(?:[\\w'-]{1,20} ){0,4}"

/** `needs` is found in every text in which one of the patterns is, and much faster than they are. */
const signal = (name: string, weight: number, needs: string, ...patterns: ReadonlyArray<string>): Signal => {
  const any = new RegExp(needs, "iu")
  const all = new RegExp(patterns.join("|"), "iu")
  return { name, weight, test: (text) => any.test(text) && all.test(text) }
}

/** Signals that are looked for in the plain form of a text. */
export const signals: ReadonlyArray<Signal> = [
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

/** Signals that are looked for in the text as it is. */
export const raw: ReadonlyArray<Signal> = [
  {
    name: "hidden-text",
    weight: 0.5,
    test: (text) => foreign.test(text) && (secret(text) !== "" || count(text, zeroWidth) >= 5 || count(text, bidi) >= 1)
  },
  {
    name: "encoded",
    weight: 0.7,
    test: (text) => encoded(text).some((inner) => signals.some(({ test }) => test(inner)))
  }
]

/** Every name, for options. */
export const names: ReadonlyArray<string> = [...signals, ...raw].map(({ name }) => name)

/** What hides text is none of ASCII. */
const foreign = /[^\p{ASCII}]/u
const tags = pattern(["tags"])
const zeroWidth = pattern(["zero-width"])
const bidi = /[\u202a-\u202e\u2066-\u2069]/gu
const everything = pattern(["control", "zero-width", "bidi", "tags"])

/** How a text reads: compatible letters, nothing hidden, single spaces, and with what was hidden behind it. */
export const plain = (text: string): string => {
  const made = stripped(text.toWellFormed().normalize("NFKC"), everything).replaceAll(/[^\S\n]+/g, " ")
  const hidden = secret(text)
  return hidden === "" ? made : `${made}\n${hidden}`
}

/** What is written in tag characters beside the flags. */
const secret = (text: string): string => {
  if (!text.includes("\udb40")) return ""
  const found = text.match(tags) ?? []
  const made = found.map((sign) => String.fromCharCode(sign.codePointAt(0)! & 0x7f)).join("").replaceAll(
    /[^\x20-\x7e]/g,
    ""
  )
  return made.length > 6 ? made : ""
}

const count = (text: string, signs: RegExp): number => text.length - stripped(text, signs).length

/** Texts that are written in Base64: at most sixteen, as long as they are texts. */
const encoded = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{20,8192}={0,2}/g)).slice(0, 16)
    .map(([block]) => Buffer.from(block, "base64").toString("latin1"))
    .filter((inner) => /^[\s!-~]{12,}$/.test(inner))
