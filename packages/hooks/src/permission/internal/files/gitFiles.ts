/** The files that a command of git names. */
import type { Word } from "../syntax/shellSyntax.ts"
import type { Arguments } from "./fileUse.ts"
import { endOf, wordOf } from "./optionValues.ts"

const workingFolder: Word = wordOf(".")

/** Options whose value is text. */
const textOptions = new RegExp(
  "^(?:-m|--message|--author|--date|--format|--pretty|--since|--until|--after|--before|--grep|-S|-G|-c|" +
    "-C|--committer|--branch|-b|-B|--depth|--sort|-e|--trailer|--config-env|-u|--set-upstream-to|" +
    "--cleanup|-n|--max-count|-A|-L)$"
)

const outputOptions = /^(?:-o|--output|--output-directory|--output-dir)$/

/** Commands that write the files that they name. */
const writing = /^(?:checkout|restore|clean|rm|mv|apply|am|switch|stash|checkout-index)$/

/** Commands that show or store what is in the files that they name. */
const reading = new RegExp(
  "^(?:show|diff|log|blame|annotate|cat-file|grep|archive|add|hash-object|commit|rm|mv|checkout|" +
    "restore|stash|apply|am|difftool|whatchanged|update-index|show-branch|bundle|config|notes|tag|" +
    "ls-files)$"
)

/** Adds the files of a command of git. */
export const gitFiles = ({ add, args, texts }: Arguments): true => {
  const operands: Array<Word> = []
  let folder: Word | undefined
  let verb: string | undefined
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    const { text } = word
    if (textOptions.test(text)) {
      if (text === "-C") folder = args[at + 1]
      at++
      continue
    }
    const [, name, value] = /^(--?[\w-]+)=([\s\S]+)$/.exec(text) ?? []
    const isOutput = outputOptions.test(name ?? text) &&
      !/^(?:clone|push|fetch|pull|ls-files|checkout|grep)$/.test(verb ?? "")
    if (isOutput) add(value === undefined ? args[++at] ?? workingFolder : endOf(word, value), "write")
    else if (/^(?:-f|--file|-F)$/.test(text) && /^(?:config|commit|tag|notes)$/.test(verb ?? "")) {
      const file = args[++at]
      if (file !== undefined) add(file, verb === "config" && isConfigWrite(texts) ? "write" : "read")
    } else if (
      value !== undefined && /^--(?:file|directory|template|separate-git-dir|pathspec-from-file|blob)$/.test(name!)
    ) {
      const isWritten = name === "--directory" || (name === "--file" && isConfigWrite(texts))
      add(endOf(word, value), isWritten ? "write" : "read")
    } else if (!text.startsWith("-")) {
      if (verb === undefined) verb = text
      else operands.push(word)
    }
  }
  if (verb === undefined) return true
  addOperands(verb, operands, add, texts)
  if (verb === "clean" && !texts.some((text) => /^-[a-zA-Z]*n|^--dry/.test(text))) {
    add(folder ?? workingFolder, "write", true)
  }
  // Without this option, only tracked files are searched.
  if (verb === "grep" && texts.some((text) => /^--(?:untr|no-in)/.test(text))) {
    add(operands[1] ?? folder ?? workingFolder, "read", true)
  }
  return true
}

const isConfigWrite = (texts: ReadonlyArray<string>): boolean =>
  !texts.some((text) => /^(?:-l|--list|--get.*|get|list)$/.test(text))

const addOperands = (
  verb: string,
  operands: ReadonlyArray<Word>,
  add: Arguments["add"],
  texts: ReadonlyArray<string>
): void => {
  const isDryRun = verb === "clean" && texts.some((text) => /^-[a-zA-Z]*n|^--dry/.test(text))
  const isCached = verb === "rm" && texts.includes("--cached")
  for (const [index, word] of operands.entries()) {
    const { dynamic, text } = word
    if (writing.test(verb) && !isDryRun && !isBranch(verb, word)) {
      add(word, "write", (verb === "rm" && !isCached) || verb === "mv")
    }
    if ((verb === "worktree" || verb === "bundle") && index === 1) add(word, "write")
    if ((verb === "clone" && index === 1) || (verb === "init" && index === 0)) add(word, "write")
    if (reading.test(verb) && !(dynamic && /^(?:commit|tag|checkout|stash|notes|ls-files)$/.test(verb))) {
      add(word, "read")
    }
    const [, path] = /^[^:]*:(?!\/\/)(.+)$/.exec(text) ?? []
    if (path !== undefined && /^(?:show|cat-file|diff|archive|log|grep|checkout)$/.test(verb)) {
      add(endOf(word, path), "read")
    }
  }
}

/** A computed name of a branch does not name a file. */
const isBranch = (verb: string, { dynamic, fuzzy }: Word): boolean =>
  dynamic && !fuzzy && /^(?:switch|stash)$/.test(verb)
