/** Converts an HTML page to the text that a person would read. */
import * as Result from "effect/Result"
import { Parser } from "htmlparser2"

const hidden = new Set(["script", "style", "noscript", "template", "svg", "iframe", "object", "head"])
const blocks = new Set(
  `address article aside blockquote dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr
   li main nav ol p pre section table tbody tfoot thead title tr ul`.split(/\s+/)
)

/** The text, with headings as `#`, list items as `-` and links as `text (address)`. */
export const pageText = (html: string, url: string): string => {
  const page = new PageText(url)
  const parser = new Parser({
    onopentag: (name, attributes) => page.open(name, attributes),
    ontext: (text) => page.text(text),
    onclosetag: (name) => page.close(name)
  })
  parser.end(html)
  return page.result()
}

/** A class: what is open changes with every tag. */
class PageText {
  private readonly url: string
  private readonly parts: Array<string> = []
  private title = ""
  private isTitle = false
  private hiddenDepth = 0
  private preDepth = 0
  private readonly links: Array<string | undefined> = []

  constructor(url: string) {
    this.url = url
  }

  open(name: string, attributes: { readonly [name: string]: string }): void {
    if (name === "title" && this.title === "") this.isTitle = true
    if (hidden.has(name)) this.hiddenDepth++
    if (this.hiddenDepth > 0) return
    if (name === "pre") this.preDepth++
    if (name === "a") this.links.push(addressOf(attributes["href"], this.url))
    if (name === "br") this.parts.push("\n")
    if (name === "td" || name === "th") this.parts.push(" | ")
    if (blocks.has(name)) this.parts.push("\n\n")
    if (name === "li") this.parts.push("- ")
    if (/^h[1-6]$/.test(name)) this.parts.push(`${"#".repeat(Number(name[1]))} `)
    if (name === "img" && attributes["alt"]) this.parts.push(` ${attributes["alt"]} `)
  }

  text(text: string): void {
    if (this.isTitle && this.title.length < 1_000) this.title += text
    else if (this.hiddenDepth === 0) this.parts.push(this.preDepth > 0 ? text : text.replaceAll(/\s+/g, " "))
  }

  close(name: string): void {
    if (name === "title") this.isTitle = false
    if (hidden.has(name)) {
      this.hiddenDepth--
      return
    }
    if (this.hiddenDepth > 0) return
    if (name === "pre") this.preDepth--
    const link = name === "a" ? this.links.pop() : undefined
    if (link !== undefined) this.parts.push(` (${link})`)
    if (blocks.has(name)) this.parts.push("\n\n")
  }

  result(): string {
    const lines: Array<string> = []
    for (const part of this.parts.join("").split("\n")) {
      const line = part.trimEnd()
      const isAfterBlank = lines.at(-1) === ""
      if (isAfterBlank && line === "") continue
      // Items of a list follow each other without an empty line.
      if (isAfterBlank && line.trimStart().startsWith("- ")) lines.pop()
      lines.push(line)
    }
    const text = lines.join("\n").trim()
    const title = this.title.replaceAll(/\s+/g, " ").trim()
    return title === "" || text.includes(`# ${title}`) ? text : `# ${title}\n\n${text}`
  }
}

const addressOf = (href: string | undefined, base: string): string | undefined => {
  if (href === undefined || href.startsWith("#")) return undefined
  const address = Result.getOrUndefined(Result.try(() => new URL(href, base)))
  return address !== undefined && /^https?:$/.test(address.protocol) ? address.href : undefined
}
