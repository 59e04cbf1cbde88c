/**
 * A cache of texts in which nothing was found. It saves time, because the same text is scanned as a result, as history,
 * and again in the next step.
 */

/** Lengths of the texts that are cached, in characters. */
const minLength = 64
const maxLength = 50_000

/** How many characters are cached in all. */
const maxTotal = 2_000_000

/** A class: it holds mutable state. The oldest texts are dropped first. */
export class CleanTexts {
  private readonly texts = new Set<string>()
  private size = 0

  has(text: string): boolean {
    return this.texts.has(text)
  }

  add(text: string): void {
    if (text.length < minLength || text.length > maxLength) return
    this.texts.add(text)
    this.size += text.length
    for (const oldest of this.texts) {
      if (this.size <= maxTotal) return
      this.texts.delete(oldest)
      this.size -= oldest.length
    }
  }
}
