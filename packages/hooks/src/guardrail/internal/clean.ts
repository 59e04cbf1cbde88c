/**
 * Texts in which nothing was found. The same text is looked at several times on its way (as a result, as history, at
 * the next step): once is enough.
 */

/** Texts that are worth remembering, in characters; and how many characters are remembered in all. */
const least = 64
const most = 50_000
const total = 2_000_000

/** A class because it is the memory of an engine: the oldest are forgotten. */
export class Clean {
  private readonly texts = new Set<string>()
  private size = 0

  has(text: string): boolean {
    return this.texts.has(text)
  }

  add(text: string): void {
    if (text.length < least || text.length > most) return
    this.texts.add(text)
    this.size += text.length
    for (const oldest of this.texts) {
      if (this.size <= total) return
      this.texts.delete(oldest)
      this.size -= oldest.length
    }
  }
}
