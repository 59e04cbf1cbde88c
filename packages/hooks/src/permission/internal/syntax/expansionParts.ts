/** Reads the inside of expansions. */

/** `((` and what arithmetic may contain. */
const arithmeticCharacters = /\(\((?:[\w\s+\-*/%()<>=&|!~^?:,#]|\$(?=[A-Za-z_{])|[{}]){0,512}\)\)/y

/**
 * Where `((…))` ends that begins at a position, if it is arithmetic: nothing in it is quoted or substituted, and its
 * parentheses close together. An array index may run commands, so there must be none.
 */
export const arithmeticEnd = (text: string, at: number): number | undefined => {
  arithmeticCharacters.lastIndex = at
  const found = arithmeticCharacters.exec(text)
  if (found === null) return undefined
  let depth = 0
  for (const [index, c] of [...found[0]].entries()) {
    if (c === "(") depth++
    else if (c === ")") depth--
    if (index > 0 && depth < 2) return depth === 1 && found[0][index + 1] === ")" ? at + index + 2 : undefined
  }
  return undefined
}

/** Text that bash runs when it computes a number: an index of an array with a substitution. */
const computedIndex = /\w\[[^\]\s]*(?:\$\(|`)/

/** Whether a value in a script may run commands when bash computes with it. */
export const mayRunInArithmetic = (text: string): boolean =>
  computedIndex.test(text) && /\(\(|-(?:eq|ne|lt|gt|le|ge)\b|\blet\b|-\w*i\b/.test(text)

/** The name of a parameter, and the text that stands for it when it is not set: `NAME:-text`. */
export const parameterParts = (
  text: string
): { readonly name: string; readonly fallback?: string; readonly trim?: string } => {
  const [, trimmed, trim] = /^([A-Za-z_]\w*)((?:%%?|##?)[\w.-]+|%\/\*|##\*\/)$/.exec(text) ?? []
  if (trimmed !== undefined) return { name: trimmed, trim: trim! }
  const [, name, fallback] = /^([A-Za-z_]\w*|[0-9@*])(?::?[-=]([\w./ -]*))?$/.exec(text) ?? []
  if (/\[[@*]\]/.test(text)) return { name: "@" }
  if (name === undefined) return { name: /^#[\w@*[\]]*$/.test(text) ? "#" : "" }
  return fallback === undefined ? { name } : { name, fallback }
}
