/** What comes through a pipe. */
import type { Simple, Word } from "../syntax/shellSyntax.ts"
import type { Command } from "./command.ts"
import { producedBy } from "./producedText.ts"
import type { Variables } from "./variables.ts"

/** What another program adds to the arguments of a command. */
export type GivenArguments = Pick<Command, "filesFrom" | "inputOf" | "more">

/** The words of the command that pipes into another one, if it is known. */
export const pipedWords = (pipe: Simple["pipe"], variables: Variables): ReadonlyArray<Word> | undefined =>
  pipe === undefined || pipe === "unknown" ? undefined : variables.expand(pipe.words)[0] ?? []

/** What `echo` or `printf` pipes into a command. */
export const pipedText = (pipe: Simple["pipe"], variables: Variables): ReadonlyArray<Word> => {
  const produced = producedBy(pipedWords(pipe, variables) ?? [])
  return produced?.type === "text" ? [{ text: produced.text, dynamic: false, fuzzy: false }] : []
}

/** The arguments that `xargs` and its relatives get from their input. */
export const givenArguments = (name: string, pipe: Simple["pipe"], variables: Variables): GivenArguments => {
  const more = producedBy(producerOf(pipe, variables) ?? [])
  const source = sourceOf(pipe)
  return {
    filesFrom: name,
    ...(more === undefined ? {} : { more }),
    ...(source === undefined ? {} : { inputOf: [source] })
  }
}

/** The command that makes the words in a pipe. Commands that only leave some of them out are skipped. */
const producerOf = (pipe: Simple["pipe"], variables: Variables): ReadonlyArray<Word> | undefined => {
  for (let at = pipe; at !== undefined && at !== "unknown"; at = at.pipe) {
    const words = pipedWords(at, variables) ?? []
    const isFilter = at.pipe !== undefined && /^(?:sort|uniq|head|tail|[ef]?grep|shuf)$/.test(words[0]?.text ?? "")
    if (!isFilter) return words
  }
  return undefined
}

/** The words of the command at the start of a pipe, if the commands after it select nothing. */
const sourceOf = (pipe: Simple["pipe"]): ReadonlyArray<string> | undefined => {
  for (let at = pipe; at !== undefined && at !== "unknown"; at = at.pipe) {
    const texts = at.words.map(({ text }) => text)
    if (at.pipe === undefined) return texts
    const selects = !/^(?:awk|cut|tr|sed|sort|uniq|cat)$/.test(texts[0] ?? "") ||
      texts.some((text) => /\/\w|==|~/.test(text))
    if (selects) return undefined
  }
  return undefined
}
