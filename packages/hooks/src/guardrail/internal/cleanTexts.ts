/**
 * A cache of texts in which nothing was found. It saves time, because the same text is scanned as a result, as history,
 * and again in the next step.
 */

/** Lengths of the texts that are cached together, in characters. Of the longer texts, only the last one is cached. */
const minLength = 64
const maxLength = 50_000

/** How many characters are cached in all. */
const maxTotal = 2_000_000

/** A class: it holds mutable state. The oldest texts are dropped first. */
export class CleanTexts {
  private readonly texts = new Set<string>()
  private size = 0
  private long: string | undefined = undefined
  /** The last text that has no sign of a value. The result of a tool is scanned several times in a row. */
  private last: string | undefined = undefined

  /** Whether the pattern, which is always the same, matches nothing in the text. */
  isWithout(quick: RegExp, text: string): boolean {
    if (text === this.last) return true
    if (quick.test(text)) return false
    if (text.length >= minLength) this.last = text
    return true
  }

  has(text: string): boolean {
    return text.length > maxLength ? text === this.long : this.texts.has(text)
  }

  add(text: string): void {
    if (text.length > maxLength) this.long = text
    if (text.length < minLength || text.length > maxLength || this.texts.has(text)) return
    this.texts.add(text)
    this.size += text.length
    for (const oldest of this.texts) {
      if (this.size <= maxTotal) return
      this.texts.delete(oldest)
      this.size -= oldest.length
    }
  }
}
