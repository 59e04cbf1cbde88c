/** The names of tools in the instructions, as detailed as a number of tokens allows. */

interface Named {
  readonly name: string
  readonly description: string
}

/** Names have shorter tokens than words of English, which have about four letters. */
const lettersOfToken = 3.5

/** Estimates the tokens of a text, on the safe side. */
export const tokensOf = (text: string): number => Math.ceil(text.length / lettersOfToken)

/**
 * Lists the tools: all in the same form, the most detailed one that fits. The forms are a name and a sentence, a name
 * and a few words, names only, and groups of names with the same beginning. The text depends on nothing but the tools,
 * so that the beginning of every request stays the same.
 */
export const namesOf = (tools: ReadonlyArray<Named>, maxTokens: number): string => {
  const sorted = tools.toSorted((a, b) => a.name < b.name ? -1 : 1)
  const forms = [
    () => sorted.map((tool) => `- ${tool.name}: ${oneLine(tool, 120)}`).join("\n"),
    () => sorted.map((tool) => `- ${tool.name}: ${oneLine(tool, 50)}`).join("\n"),
    () => sorted.map(({ name }) => name).join(", "),
    () =>
      groupsOf(sorted).map(([start, rest]) => rest.length === 1 ? start + rest[0] : `${start}{${rest.join(",")}}`).join(
        "\n"
      )
  ]
  for (const form of forms) {
    const text = form()
    if (tokensOf(text) <= maxTokens) return text
  }
  const groups = groupsOf(sorted).toSorted(([, one], [, other]) => other.length - one.length)
  for (const shown of [8, 4, 2, 0]) {
    const text = groups.map((group) => lineOf(group, shown)).join("\n")
    if (tokensOf(text) <= maxTokens) return text
  }
  return firstOf(groups, maxTokens)
}

type Group = readonly [start: string, rest: ReadonlyArray<string>]

const lineOf = ([start, rest]: Group, shown: number): string => {
  if (rest.length === 1) return `${start}${rest[0]}`
  const names = rest.slice(0, shown).join(", ")
  return `${start}* (${rest.length} tools${
    shown === 0 ? "" : rest.length > shown ? `, such as ${names}` : `: ${names}`
  })`
}

/** The groups that fit, largest first. */
const firstOf = (groups: ReadonlyArray<Group>, maxTokens: number): string => {
  const lines = groups.map((group) => lineOf(group, 0))
  let tokens = 10
  let count = 0
  while (count < lines.length && tokens + tokensOf(`${lines[count]}\n`) <= maxTokens) {
    tokens += tokensOf(`${lines[count++]}\n`)
  }
  const left = groups.slice(count).reduce((sum, [, rest]) => sum + rest.length, 0)
  return [...lines.slice(0, count), `and ${left} more`].join("\n")
}

/** Groups names by their beginning: `mcp__server__`, or up to the first `_`, `.` or `-`. */
const groupsOf = (tools: ReadonlyArray<Named>): ReadonlyArray<Group> => {
  const groups = Map.groupBy(tools, ({ name }) => /^(?:mcp__.+?__|[^_.-]+[_.-]+(?=.))/.exec(name)?.[0] ?? "")
  return [...groups].flatMap(([start, own]): ReadonlyArray<Group> =>
    start === "" ? own.map(({ name }) => [name, [""]]) : [[start, own.map(({ name }) => name.slice(start.length))]]
  )
}

/** The first sentence of a description, without characters that a person does not see. */
const oneLine = ({ description }: Named, length: number): string => {
  const line = description.replaceAll(/[\p{C}\s]+/gu, " ").trim()
  const sentence = /^.+?[.!?](?= |$)/u.exec(line)?.[0] ?? line
  return sentence.length <= length ? sentence : `${sentence.slice(0, length - 1).toWellFormed().trimEnd()}…`
}
