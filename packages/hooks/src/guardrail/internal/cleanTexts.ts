/**
 * A cache of texts in which nothing was found. It saves time, because the same text is scanned as a result, as history,
 * and again in the next step.
 */

/** The least length of a text that is cached, in characters. */
const minLength = 64

/** How many characters are cached in all. The newest text may be longer, because it is scanned again soon. */
const maxTotal = 2_000_000

/** A class: it holds mutable state. The oldest texts are dropped first. */
export class CleanTexts {
  private readonly texts = new Set<string>()
  private size = 0

  has(text: string): boolean {
    return this.texts.has(text)
  }

  add(text: string): void {
    if (text.length < minLength || this.texts.has(text)) return
    this.texts.add(text)
    this.size += text.length
    for (const oldest of this.texts) {
      if (this.size <= maxTotal || oldest === text) return
      this.texts.delete(oldest)
      this.size -= oldest.length
    }
  }
}
