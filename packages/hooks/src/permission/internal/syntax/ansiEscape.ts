/** Escape sequences inside of `$'…'` quotes. */

/** Matches one escape sequence at `lastIndex`; its first group is the sequence without the backslash. */
export const ansiEscape = /\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c[\s\S]|[\s\S])/y

const letters: { readonly [letter: string]: string } = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  v: "\v"
}

/** The text that an escape sequence (without its backslash) stands for. */
export const decodeAnsiEscape = (sequence: string): string => {
  if (/^[xuU]./.test(sequence)) {
    const point = Number.parseInt(sequence.slice(1), 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd"
  }
  if (/^[0-7]/.test(sequence)) return String.fromCharCode(Number.parseInt(sequence, 8) & 255)
  if (Object.hasOwn(letters, sequence)) return letters[sequence]!
  return sequence.startsWith("c") ? "" : sequence
}
