/** Recognises a context overflow by its text, because vendors have no common code for it. */

/** The sizes that a vendor reports, in tokens. */
export interface Overflow {
  readonly requested?: number
  readonly limit?: number
}

const wordings: ReadonlyArray<RegExp> = [
  new RegExp(
    "context[ _-]?(?:length|window)[ _-]?(?:exceed|is too|was exceed)|ContextWindowExceeded|" +
      String.raw`model_context_window_exceeded|exceed_context_size|exceed(?:s|ed|ing)?\b[^.\n]{0,60}\bcontext\b|` +
      String.raw`context (?:window|length|size|limit)s?\b[^.\n]{0,30}\bexceed`,
    "i"
  ),
  new RegExp(
    "maximum (?:context|model|prompt|input) length|(?:longer|greater|larger) than the (?:model's |" +
      String.raw`maximum )?(?:maximum )?(?:model|context) length|too large for model with \d+ maximum context|` +
      "maximum number of tokens allowed|max_tokens must be at least 1, got -|maximum allowed input length|" +
      String.raw`configured context size|\(prompt and prediction\) cannot exceed`,
    "i"
  ),
  new RegExp(
    String.raw`(?:prompt|input|inputs|messages?)\b[^.\n]{0,60}\b(?:is |are )?too long|total length of all messages|` +
      "prompt exceeds max length|too_many_prompt_tokens|request_too_large|range of input length should be",
    "i"
  ),
  new RegExp(
    "reduce the length of (?:the )?(?:your )?(?:messages|prompt|input)|" +
      "`?inputs`? tokens \\+ `?max_new_tokens`?|increasing context size|decrease the (?:input|prompt) length",
    "i"
  ),
  /exceeded model token limit|exceeds the limit of \d|token count[^.\n]{0,40}exceeds|input token count/i
]

const veto = new RegExp(
  String.raw`per[ -]minute|per[ -]day|\bTPM\b|\bRPM\b|rate[ _-]?limit|throttl|please wait|` +
    "string_above_max_length|string too long",
  "i"
)

/** Returns the sizes if a text says that a request is too long, and nothing otherwise. */
export const readOverflow = (text: string, status?: number): Overflow | undefined => {
  if (status === 429 || veto.test(text) || !wordings.some((wording) => wording.test(text))) return undefined
  return numbers(text)
}

/** Texts with both numbers. `first` says which number comes first. */
const both: ReadonlyArray<readonly [RegExp, "requested" | "limit"]> = [
  [/(\d[\d,_]*) tokens > (\d[\d,_]*)/, "requested"],
  [/token count \(?(\d[\d,_]*)\)? exceeds\D+(\d[\d,_]*)/i, "requested"],
  [/current length is (\d[\d,_]*) while limit is (\d[\d,_]*)/i, "requested"],
  [/too long: (\d[\d,_]*)\D+(\d[\d,_]*)/i, "requested"],
  [/\((\d[\d,_]*) tokens?\)\D*(?:context|maximum)\D*(\d[\d,_]*)/i, "requested"],
  [/token count of (\d[\d,_]*) exceeds the limit of (\d[\d,_]*)/i, "requested"],
  [/contains (\d[\d,_]*) tokens.*too large for model with (\d[\d,_]*)/i, "requested"],
  [/input length (\d[\d,_]*) exceeds the maximum allowed input length of (\d[\d,_]*)/i, "requested"],
  [/prompt has (\d[\d,_]*) tokens\D+context size is (\d[\d,_]*)/i, "requested"],
  [/\(prompt and prediction\) cannot exceed (\d[\d,_]*)\D+(\d[\d,_]*)/i, "limit"],
  [/maximum (?:context|prompt) length (?:is |of )?(\d[\d,_]*)(?=\D)\D+(\d[\d,_]*)/i, "limit"]
]

/** Texts with one number. */
const single: ReadonlyArray<readonly [RegExp, "requested" | "limit"]> = [
  [/range of input length should be \[\d+, ?(\d[\d,_]*)\]/i, "limit"],
  [
    new RegExp(
      "(?:limit of|limit is|token limit:|maximum (?:context|prompt|model) length (?:is|of)|must be <=|" +
        String.raw`n_ctx"?\s*:?) ?(\d[\d,_]*)`,
      "i"
    ),
    "limit"
  ],
  [/n_prompt_tokens"?\s*:\s*(\d[\d,_]*)/i, "requested"],
  [/(?:requested|resulted in|contains?|has|given) (?:about )?(\d[\d,_]*) (?:input )?tokens/i, "requested"]
]

const numbers = (text: string): Overflow => {
  const sum = /(\d+) \+ (\d+) > (\d+)/.exec(text)
  if (sum !== null) return { requested: Number(sum[1]) + Number(sum[2]), limit: Number(sum[3]) }
  for (const [wording, first] of both) {
    const found = wording.exec(text)
    const one = count(found?.[1])
    const other = count(found?.[2])
    if (one !== undefined && other !== undefined) {
      return first === "requested"
        ? { requested: one, limit: other }
        : { limit: one, requested: other }
    }
  }
  const overflow: { requested?: number; limit?: number } = {}
  for (const [wording, name] of single) {
    const value = count(wording.exec(text)?.[1])
    if (value !== undefined) overflow[name] ??= value
  }
  return overflow
}

const count = (digits: string | undefined): number | undefined => {
  const value = digits === undefined ? Number.NaN : Number(digits.replaceAll(/[,_]/g, ""))
  return Number.isSafeInteger(value) ? value : undefined
}
