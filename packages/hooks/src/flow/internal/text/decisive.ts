/** Finds what decides something inside of a text. */
import { compact, tokensOf, unmarked } from "./words.ts"

/** The links, addresses and account numbers in a text. */
export const decisiveIn = (text: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const marked of tokensOf(text)) {
    const token = unmarked(marked)
    const isAscii = /^[\x20-\x7e]*$/.test(token)
    // Most words have none of these characters. Patterns for letters of all scripts take long to compile.
    if (isAscii && !/[.:/\\@%\d]/.test(token)) continue
    // As a program reads it that makes links: compatible letters are the same, and invisible ones are not there.
    const read = isAscii ? token : token.normalize("NFKC").replace(/\p{Cf}/gu, "").replace(/[。｡]/g, ".")
    const start = /[.:/\\]/.test(read) ? linkStart(read) : -1
    if (start >= 0) found.add(read === token ? token.slice(start) : token)
    else if (/@|%40/.test(read) && /[^@\s]@[^@\s]+\.\p{L}{2,}/u.test(read.replaceAll("%40", "@"))) found.add(token)
    else if (mayBeAccount.test(read) && /^\p{Lu}{2}\d{2}[\p{Lu}\d]{8,30}$/u.test(read)) found.add(token)
    else if (/^(?:0x[\da-f]{40}|bc1[a-z\d]{25,60})[.:!?]?$/i.test(read)) found.add(token)
    else if (/^\d{1,3}(?:\.\d{1,3}){3}(?::\d|\/(?!\d{1,2}[.:!?]?$))/.test(read)) found.add(token)
    else if (read.includes(".") && isDomain(read)) found.add(token)
    else if (otherSchemes.test(read)) found.add(token)
  }
  if (mayBeAccount.test(text)) {
    for (const [group] of text.matchAll(/\b\p{Lu}{2}\d{2}(?: ?[\p{Lu}\d]{2,4}){3,8}\b/gu)) {
      if (compact(group) !== undefined) found.add(group)
    }
    // In another spelling, the check digits tell an account from other codes.
    for (const [group] of text.matchAll(/\b[a-z]{2}\d{2}(?:[ .-]?[a-z\d]{1,4}){3,9}\b/gi)) {
      const iban = ibanIn(group)
      if (iban !== undefined) found.add(iban)
    }
  }
  return [...found].map((one) => one.replace(/^(?:mailto|tel):/i, "").replace(/[.,;:!?*~]+$/, ""))
}

const mayBeAccount = /[^\s\d]{2}\d{2}/

/** Whether a value is a link, or a host. */
export const isLink = (value: string): boolean => linkStart(value) >= 0 || isDomain(value)

const isDomain = (read: string): boolean =>
  hosts.test(read) || (/^(?:[\p{L}\d-]+\.)+\p{L}{2,24}\/\S/u.test(read) && !fileEnding.test(read))

/** Names under which most hosts are. Programs make a link of such a name alone. */
const hosts = new RegExp(
  "^(?:[\\p{L}\\d-]+\\.)+(?:com|org|net|io|app|dev|xyz|info|biz|co|me|ai|link|site|online|shop|top|click|example|" +
    "page|live|store|tech|cloud|space|website|fun|icu|vip|quest|buzz|cyou|sbs|ru|cn|de|uk|fr|nl|ch|pl|se|dk|eu|" +
    "ca|au|jp|" +
    "kr|br|ly|gl|tk|ml|ga|gg|tv|ws|su|pw|kz|ua|cz|gr|pt|ie|nz|za)(?:[/:?#]\\S*)?[.:!?]?$",
  "iu"
)

/** `src/node.js/x` is a path. */
const fileEnding = new RegExp(
  String.raw`^[^/]*\.(?:[cm]?[jt]sx?|md|py|rs|go|rb|java|json|ya?ml|html?|css|txt|csv|xml|sh|cpp|cs|php|swift|kt|` +
    String.raw`lock|toml|ini|log|sql|vue|git|d|zip|gz|tar|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg)\/`,
  "i"
)

/** Links of programs for money, messages and calls. */
const otherSchemes =
  /(?<![\w+.-])(?:sms|smsto|bitcoin|ethereum|lightning|magnet|callto|facetime|skype|sip|vbscript):[^\s/]/i

/** Where a link begins, also with too few or wrong slashes. */
const beginsLink = new RegExp(
  String.raw`(?:https?|ftp|wss?):[\\/]*[^\s\\/]|(?<![\w+.-])[a-z][\w+.-]{0,30}:\/\/|(?<![\p{L}\p{N}:/\\])(?:\/\/|` +
    String.raw`\\\\)[\p{L}\p{N}-]+\.[\p{L}\p{N}]|^www\.|(?<=[=:])www\.|mailto:|\btel:|\bjavascript:|\bdata:\w+\/`,
  "iu"
)

/** Where a link begins in a token. Programs that show a text also follow links with too few or wrong slashes. */
const linkStart = (read: string): number =>
  read.search(
    beginsLink
  )

/** The account number at the beginning of some groups of letters and digits. */
const ibanIn = (groups: string): string | undefined => {
  for (let end = groups.length; end >= 15; end--) {
    const part = groups.slice(0, end)
    const letters = part.replace(/[ .-]/g, "").toUpperCase()
    if (letters.length < 15) return undefined
    if (letters.length > 34 || /[a-z\d]/i.test(groups[end] ?? " ")) continue
    const digits = (letters.slice(4) + letters.slice(0, 4)).replace(/[A-Z]/g, (one) => String(one.charCodeAt(0) - 55))
    if (BigInt(digits) % 97n === 1n) return part.trim()
  }
  return undefined
}
