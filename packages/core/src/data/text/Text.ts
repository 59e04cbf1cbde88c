/**
 * Shortens texts.
 *
 * @since 0.1.0
 */

/**
 * Cuts the middle out of a text that is longer than `max` characters, and puts a note there that tells how much is
 * missing. The result is never longer than `max`, and no character is cut in half.
 *
 * @category operations
 * @since 0.1.0
 */
export const cutMiddle = (text: string, max: number): string => {
  if (text.length <= max) return text
  const note = `\n[cut: ${text.length - max} characters or more]\n`
  const room = Math.max(0, max - note.length)
  if (room < 16) return whole(text.slice(0, max))
  const head = Math.ceil(room * 0.75)
  return `${whole(text.slice(0, head))}${note}${
    text.slice(text.length - (room - head)).replace(/^[\udc00-\udfff]/, "")
  }`
}

/** Removes half a character at the end. */
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, "")
