/** Quotations of the form `$'…'`. */

/** One escape. */
export const escaped = /\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c[\s\S]|[\s\S])/y

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

/** What an escape stands for, without its backslash. */
export const unescaped = (code: string): string => {
  if (/^[xuU]./.test(code)) {
    const point = Number.parseInt(code.slice(1), 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd"
  }
  if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8) & 255)
  return Object.hasOwn(letters, code) ? letters[code]! : code.startsWith("c") ? "" : code
}
