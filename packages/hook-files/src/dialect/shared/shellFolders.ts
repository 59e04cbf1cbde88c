/**
 * Puts a folder where a line of shell names its variable, so that a folder with blanks is one word whether or not the
 * author quoted it.
 */

/** What a shell reads as it is, quoted or not. */
const plain = /^[\w./-]+$/

/**
 * Fills in `$NAME`. Where the folder needs quotes the variable stays, in quotes: no text of a path becomes a part of
 * the line.
 */
export const placed = (line: string, names: ReadonlyArray<string>, folder: string): string => {
  const variable = new RegExp(`^\\$(${names.join("|")})(?!\\w)`)
  let quote = ""
  let result = ""
  for (let at = 0; at < line.length;) {
    const [found, name] = line[at] === "$" ? variable.exec(line.slice(at)) ?? [] : []
    if (found !== undefined) {
      result += plain.test(folder)
        ? folder
        : quote === "\""
        ? found
        : quote === "'"
        ? `'"\${${name}}"'`
        : `"\${${name}}"`
      at += found.length
      continue
    }
    const char = line[at]!
    if (char === "\\" && quote !== "'") {
      result += line.slice(at, at + 2)
      at += 2
      continue
    }
    if (char === quote) quote = ""
    else if (quote === "" && (char === "\"" || char === "'")) quote = char
    result += char
    at++
  }
  return result
}
