/** Takes HTML out of texts, in one pass. Nothing that is left reads as a tag that was not let through. */

/** Elements whose content is not text, or not for people. */
const silent: ReadonlySet<string> = new Set(
  "script style iframe object embed noscript template svg math textarea title select xmp plaintext noembed noframes applet audio video canvas head"
    .split(" ")
)

/** Formatting that may stay, without attributes. */
const basic: ReadonlySet<string> = new Set(
  "b i em strong u s del sub sup code pre p br hr ul ol li blockquote h1 h2 h3 h4 h5 h6 table thead tbody tr td th"
    .split(" ")
)

/** The text of HTML; with `keep` also basic formatting. */
export const sanitized = (text: string, keep: boolean): string => {
  if (!text.includes("<")) return text
  const made: Array<string> = []
  let words = ""
  // What is taken out may leave a `<` in front of what makes a tag of it.
  const flush = () => {
    made.push(words.replaceAll(/<(?=[a-z/!?])/gi, "< "))
    words = ""
  }
  let at = 0
  while (at < text.length) {
    const open = text.indexOf("<", at)
    if (open < 0) break
    words += text.slice(at, open)
    at = open
    if (text.startsWith("<!--", at)) at = after(text, "-->", at + 4)
    else if (/[!?]/.test(text[at + 1] ?? "")) at = after(text, ">", at + 2)
    else {
      tag.lastIndex = at
      const [whole, slash = "", given = ""] = tag.exec(text) ?? []
      if (whole === undefined) {
        words += "<"
        at++
        continue
      }
      const name = given.toLowerCase()
      at = endOfTag(text, at + whole.length)
      if (slash === "" && silent.has(name)) at = endOfElement(text, name, at)
      else if (keep && basic.has(name)) {
        flush()
        made.push(`<${slash}${name}>`)
      }
    }
  }
  words += text.slice(at)
  flush()
  return made.join("")
}

const tag = /<(\/?)([a-z][a-z0-9:-]{0,40})/iy

const after = (text: string, mark: string, from: number): number => {
  const found = text.indexOf(mark, from)
  return found < 0 ? text.length : found + mark.length
}

/** A `>` in quotes ends no tag; a tag that does not end takes the rest with it. */
const endOfTag = (text: string, from: number): number => {
  let quote = ""
  for (let at = from; at < text.length; at++) {
    const sign = text[at]!
    if (quote !== "") quote = sign === quote ? "" : quote
    else if (sign === ">") return at + 1
    else if ((sign === "\"" || sign === "'") && text[at - 1] === "=") quote = sign
  }
  return text.length
}

const endOfElement = (text: string, name: string, from: number): number => {
  const search = new RegExp(`</${name}(?![a-z0-9-])`, "gi")
  search.lastIndex = from
  const found = search.exec(text)
  return found === null ? text.length : endOfTag(text, found.index + found[0].length)
}
