/** Detectors of personal data. Values with check digits are verified. */
import { isIPv4, isIPv6 } from "node:net"
import { type Detector, patternDetector, type Range } from "./detector.ts"

/** Every kind. Where findings overlap, the kind that is first in the list wins. */
export const kinds = [
  "url-credentials",
  "email",
  "iban",
  "ssn",
  "card",
  "mac",
  "ip",
  "phone",
  "url",
  "wallet",
  "passport",
  "birth-date"
] as const

/** The kinds that are searched for by default: those with few false findings. */
export const defaultKinds = ["url-credentials", "email", "iban", "card", "ssn", "mac", "ip", "phone"] as const

/** Returns the detectors by kind. */
export const detectors = (): { readonly [K in typeof kinds[number]]: Detector } => ({
  "url-credentials": patternDetector(
    "url-credentials",
    /(?<=[a-z][a-z0-9+.-]{0,20}:\/\/)(?:[^\s/@:<[]{0,64}:[^\s/]{1,128}|[^\s/@:<[]{16,128})(?=@)/giu,
    { reach: 200, needs: "://" }
  ),
  email: patternDetector(
    "email",
    new RegExp(
      String.raw`[\p{L}\p{N}_][\p{L}\p{N}._%+'-]{0,63}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}` +
        String.raw`[\p{L}\p{N}])?\.){1,8}\p{L}[\p{L}\p{N}-]{0,61}[\p{L}\p{N}]`,
      "giu"
    ),
    { reach: 132, needs: "@", more: /[\p{L}\p{N}.-]+/uy }
  ),
  iban: patternDetector("iban", /(?<![\p{L}\p{N}])[a-z]{2}\d{2}(?:[ \u00a0]?[a-z0-9]){11,30}/giu, {
    reach: 68,
    accept: iban
  }),
  card: { kind: "card", find: cards, reach: 40 },
  ssn: patternDetector("ssn", /(?<!\d)(?<!\d-)(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?!-?\d)/gu, {
    reach: 12
  }),
  mac: patternDetector(
    "mac",
    new RegExp(
      "(?<![0-9a-f]|[0-9a-f][:-])(?:(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|" +
        String.raw`(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})(?![.:-]?[0-9a-f])`,
      "giu"
    ),
    { reach: 20 }
  ),
  ip: {
    kind: "ip",
    reach: 48,
    find: (text) => [...v4.find(text), ...v6.find(text)]
  },
  phone: patternDetector(
    "phone",
    new RegExp(
      String.raw`(?:(?<![\p{N}+])(?=\(?\+)|(?<![\p{L}\p{N}+]|` +
        String.raw`\p{N}[./:-]))(?:\(?\+\d{1,3}\)?[ .\u00a0-]{0,2}(?:\(\d{1,5}\)[ .\u00a0/-]{0,2})?|` +
        String.raw`1[ .-]?\(\d{3}\)[ .-]?|` +
        String.raw`\(\d{1,5}\)[ .\u00a0/-]{0,2})?\d(?:[ .\u00a0/-]{0,2}\d){5,16}(?![\p{L}\p{N}])`,
      "gu"
    ),
    { reach: 72, accept: phone }
  ),
  url: patternDetector("url", /https?:\/\/[^\s<>"']{1,2048}/giu, { reach: 12, needs: "://", more: /[^\s<>"']+/uy }),
  wallet: patternDetector(
    "wallet",
    /(?<!\w)(?:0x[0-9a-f]{40}|bc1[a-z0-9]{25,59}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?!\w)/giu,
    {
      reach: 64
    }
  ),
  passport: patternDetector(
    "passport",
    /(?<=passport(?: (?:no|nr|number)\.?)?[ :#is]{1,6})[a-z]{0,2}\d{6,9}(?!\w)/giu,
    {
      reach: 48
    }
  ),
  "birth-date": patternDetector(
    "birth-date",
    new RegExp(
      String.raw`(?<=(?:born(?: on)?|birthday|date of birth|dob)[ :is-]{1,6})(?:\d{4}-\d{2}-\d{2}|` +
        String.raw`\d{1,2}[./ -]\d{1,2}[./ -]\d{2,4})(?!\d)`,
      "giu"
    ),
    { reach: 48 }
  )
})

const v4 = patternDetector("ip", /(?<![\d.]|\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)/gu, {
  reach: 16,
  needs: ".",
  accept: (text) => isIPv4(text) ? text.length : 0
})

const v6 = patternDetector("ip", /(?<![\p{L}\p{N}:.])[0-9a-f:.]{3,45}(?![\p{L}\p{N}:])/giu, {
  reach: 48,
  needs: ":",
  accept: (text) => {
    const trimmed = text.replace(/[.]{1,45}$/, "")
    return isIPv6(trimmed) && /[0-9a-f]/i.test(trimmed) ? trimmed.length : 0
  }
})

/** Sequences of digits that may be grouped by a space or a dash. */
const digitSequences = /\d(?:[ \u00a0\u2010\u2011-]?\d){12,}/g

/**
 * Payment cards: 13 to 19 digits that begin and end where a group does, of a known issuer, with the right check digit.
 */
function cards(text: string): ReadonlyArray<Range> {
  const found: Array<Range> = []
  for (const { 0: run, index } of text.matchAll(digitSequences)) {
    const at: Array<number> = []
    for (let i = 0; i < run.length; i++) if (isDigit(run, i)) at.push(i)
    for (let first = 0; first + 13 <= at.length; first++) {
      if (first > 0 ? at[first]! - at[first - 1]! === 1 : text[index - 1] === "+") continue
      // Digits stand together, or in groups of which the first has at least four.
      if (at[first + 3]! - at[first]! > 3) continue
      for (let count = Math.min(19, at.length - first); count >= 13; count--) {
        const last = at[first + count - 1]!
        if (isDigit(run, last + 1)) continue
        const digits = at.slice(first, first + count).map((i) => run[i]!).join("")
        if (!hasIssuer(digits) || !isLuhn(digits)) continue
        found.push({ start: index + at[first]!, end: index + last + 1 })
        first += count - 1
        break
      }
    }
  }
  return found
}

const isDigit = (text: string, index: number): boolean => text.charCodeAt(index) >= 48 && text.charCodeAt(index) <= 57

/** Whether an issuer has numbers with these first digits and this length. */
const hasIssuer = (digits: string): boolean =>
  new RegExp(
    String.raw`^(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|2720\d{12}|3[47]\d{13}|` +
      String.raw`3(?:0[0-5]|[689]\d)\d{11,16}|35\d{14,17}|6\d{12,18}|5[06-9]\d{11,17})$`
  )
    .test(digits)

/** The check digit of ISO/IEC 7812 is right. */
const isLuhn = (digits: string): boolean => {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48
    const doubled = i % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** Lengths of IBANs by country (ISO 13616 registry). */
const ibanLengths = new Map(
  ("AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 " +
    "EG29 ES24 FI18 FK18 " +
    "FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 " +
    "LI21 LT20 " +
    "LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 " +
    "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 " +
    "TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30").split(" ").map((entry) => [entry.slice(0, 2), Number(entry.slice(2))])
)

/**
 * The length of the IBAN at the beginning of a candidate: of the right length for its country, with right check digits.
 */
function iban(candidate: string): number {
  const length = ibanLengths.get(candidate.slice(0, 2).toUpperCase())
  if (length === undefined) return 0
  let characters = ""
  let end = 0
  for (; end < candidate.length && characters.length < length; end++) {
    if (/[a-z0-9]/i.test(candidate[end]!)) characters += candidate[end]!.toUpperCase()
  }
  if (characters.length < length || /[a-z0-9]/i.test(candidate[end] ?? "")) return 0
  let rest = 0
  for (const character of characters.slice(4) + characters.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1 ? end : 0
}

/**
 * The length of the telephone number at the beginning of a candidate: E.164 with `+` or `00`, a grouped national number
 * that begins with 0, or a North American number in its usual form. Groups that do not belong to the number are
 * dropped.
 */
function phone(candidate: string): number {
  let text = candidate
  while (text.length > 6) {
    if (isPhone(text)) return text.length
    const group = /[ ().\u00a0/-]{1,2}\d{1,17}$/.exec(text)
    if (group === null) return 0
    text = text.slice(0, group.index)
  }
  return 0
}

const isPhone = (text: string): boolean => {
  const { length } = text.replaceAll(/\D/g, "")
  if (/^\(?\+/.test(text)) return length >= 8 && length <= 15
  if (/^00[1-9]/.test(text)) return length >= 10 && length <= 17
  if (!/^\(?0[1-9]/.test(text)) return /^(?:1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[.-])\d{3}[ .-]\d{4}$/.test(text)
  return length >= 9 && length <= 12 && /\d[^\d]+\d/.test(text) && !date.test(text)
}

/** A date at the beginning, which is not a telephone number: three groups, but not five groups of two digits. */
const date = /^\d{1,2}[./ -]\d{1,2}[./ -](?:\d{4}(?!\d)|\d{2}(?!\d)(?![./ -]\d{2}[./ -]\d{2}$))/
