/**
 * Inserts the path of a folder into a shell command in place of its variable. A path with spaces stays one argument,
 * even if the author of the command did not quote the variable.
 */

/** Matches paths that a shell reads in the same way with and without quotes. */
const plain = /^[\w./-]+$/

/**
 * Replaces `$NAME` by the path of the folder. If the path needs quotes, the variable stays and is quoted instead, so
 * that no part of the path is read as shell code.
 */
export const insertFolder = (line: string, names: ReadonlyArray<string>, folder: string): string => {
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
