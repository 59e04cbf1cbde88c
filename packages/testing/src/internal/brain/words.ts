/** Normalizes words, so that `list_files` and "show the file" match. */

const groups: ReadonlyArray<ReadonlyArray<string>> = [
  ["list", "show", "ls", "enumerate", "browse"],
  ["read", "open", "cat", "view", "load"],
  ["delete", "remove", "erase", "rm", "clean", "purge", "unlink"],
  ["write", "save", "store", "put"],
  ["search", "find", "lookup", "query"],
  ["add", "sum", "plus", "total"],
  ["multiply", "times", "product"],
  ["run", "execute", "bash", "shell", "exec"],
  ["weather", "forecast", "temperature"],
  ["mail", "email", "send"],
  ["time", "clock"],
  ["calculate", "compute", "calculator", "evaluate"],
  ["temporary", "temp", "tmp"],
  ["folder", "directory", "dir"],
  ["summary", "summarise", "summarize"],
  ["refund", "reimburse"],
  ["delegate", "ask", "consult"],
  ["deploy", "release", "ship"]
]

const canonical = new Map(groups.flatMap((group) => group.map((word) => [word, group[0] ?? word] as const)))

const weak = new Set(
  ("get set do make use tool file folder data item value name fetch call text id the a an of to in on for and " +
    "with my " +
    "it is by from")
    .split(
      " "
    )
)

const stem = (word: string): string => {
  const known = canonical.get(word)
  if (known !== undefined) return known
  const bare = word.length > 4 && word.endsWith("ing")
    ? word.slice(0, -3)
    : word.length > 3 && /[^s]s$/.test(word)
    ? word.slice(0, -1)
    : word
  return canonical.get(bare) ?? bare
}

/** Returns the words of a text or an identifier in order. */
export const words = (text: string): ReadonlyArray<string> =>
  (text.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(stem)

/** Returns the weight of a word: 0 for filler, up to 3 for a known verb. */
export const weight = (word: string): number => weak.has(word) ? 1 : canonical.has(word) ? 3 : 2

/** Whether a word has no meaning of its own. */
export const isWeak = (word: string): boolean => weak.has(word)

/** Replaces quoted passages by blanks of the same length, so that their words do not count as instructions. */
export const withoutQuotes = (text: string): string =>
  text.replace(/"[^"]*"|“[^”]*”|`[^`]*`|(?<!\p{L})'[^']*'(?!\p{L})/gu, (quoted) => "\u0001".repeat(quoted.length))

/** Returns the first quoted passage without its quotes. */
export const firstQuote = (text: string): string | undefined => {
  const found = /"([^"]*)"|“([^”]*)”|`([^`]*)`|(?<!\p{L})'([^']*)'(?!\p{L})/u.exec(text)
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? found?.[4]
}

/** Returns at most `limit` characters of a text on one line. */
export const shorten = (text: string, limit: number): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`
}
