/** Removes HTML from texts in one pass. The result contains only the tags that are kept. */

/** Elements whose content is removed with them, because people do not see it. */
const hiddenElements: ReadonlySet<string> = new Set(
  ("script style iframe object embed noscript template svg math textarea title select xmp plaintext noembed noframes " +
    "applet audio video canvas head").split(" ")
)

/** Formatting elements that can be kept, without attributes. */
const basicElements: ReadonlySet<string> = new Set(
  "b i em strong u s del sub sup code pre p br hr ul ol li blockquote h1 h2 h3 h4 h5 h6 table thead tbody tr td th"
    .split(" ")
)

/** Returns the text of HTML; with `keepBasic` also basic formatting. */
export const sanitizeHtml = (text: string, keepBasic: boolean): string => {
  if (!text.includes("<")) return text
  const output: Array<string> = []
  let pending = ""
  // After a removal, a `<` and the text behind it could form a tag, so a space separates them.
  const flush = () => {
    output.push(pending.replaceAll(/<(?=[a-z/!?])/gi, "< "))
    pending = ""
  }
  let at = 0
  while (at < text.length) {
    const open = text.indexOf("<", at)
    if (open < 0) break
    pending += text.slice(at, open)
    at = open
    if (text.startsWith("<!--", at)) at = after(text, "-->", at + 4)
    else if (/[!?]/.test(text[at + 1] ?? "")) at = after(text, ">", at + 2)
    else {
      tag.lastIndex = at
      const [match, slash = "", tagName = ""] = tag.exec(text) ?? []
      if (match === undefined) {
        pending += "<"
        at++
        continue
      }
      const name = tagName.toLowerCase()
      at = endOfTag(text, at + match.length)
      if (slash === "" && hiddenElements.has(name)) at = endOfElement(text, name, at)
      else if (keepBasic && basicElements.has(name)) {
        flush()
        output.push(`<${slash}${name}>`)
      }
    }
  }
  pending += text.slice(at)
  flush()
  return output.join("")
}

const tag = /<(\/?)([a-z][a-z0-9:-]{0,40})/iy

const after = (text: string, mark: string, from: number): number => {
  const found = text.indexOf(mark, from)
  return found < 0 ? text.length : found + mark.length
}

/** The end of a tag. A `>` in quotes does not end it; a tag without an end extends to the end of the text. */
const endOfTag = (text: string, from: number): number => {
  let quote = ""
  for (let at = from; at < text.length; at++) {
    const character = text[at]!
    if (quote !== "") quote = character === quote ? "" : quote
    else if (character === ">") return at + 1
    else if ((character === "\"" || character === "'") && text[at - 1] === "=") quote = character
  }
  return text.length
}

const endOfElement = (text: string, name: string, from: number): number => {
  const search = new RegExp(`</${name}(?![a-z0-9-])`, "gi")
  search.lastIndex = from
  const found = search.exec(text)
  return found === null ? text.length : endOfTag(text, found.index + found[0].length)
}
