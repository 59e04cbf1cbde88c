/** Which files a command reads and writes, from its redirections and its arguments. */
import type { Command, Word } from "./decompose.ts"
import { copiers, inert, interpreters, shells, speakers, writers } from "./programs.ts"

/** A word that names a file. */
export interface FileAccess {
  readonly word: Word
  /** `maybe`: the program is not known, so the word may be a file that is read or written. */
  readonly how: "read" | "write" | "maybe"
  /** Whether the files below the folder are read or written too. */
  readonly recursive: boolean
}

/** The arguments of a command, sorted, and the list to which its files are added. */
interface Arguments {
  readonly args: ReadonlyArray<Word>
  readonly texts: ReadonlyArray<string>
  /** The words that are not options. */
  readonly operands: ReadonlyArray<Word>
  /** The values inside of options, and after `@`: `--file=x`, `-C/x`, `@x`. */
  readonly values: ReadonlyArray<Word>
  readonly wraps: boolean
  readonly add: (word: Word, how: FileAccess["how"], recursive?: boolean) => void
  readonly addAll: (words: ReadonlyArray<Word>, how: FileAccess["how"], recursive?: boolean) => void
}

const device = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+|zero|u?random)$/

const workingFolder: Word = { text: ".", dynamic: false, fuzzy: false }

/** Returns the files of a command. */
export const filesOf = (command: Command): ReadonlyArray<FileAccess> => {
  const files: Array<FileAccess> = []
  const add: Arguments["add"] = (word, how, recursive = false) => {
    if (!device.test(word.text)) files.push({ word, how, recursive })
  }
  for (const { op, target } of command.redirects) {
    if (op !== "<") add(target, "write")
    if (op === "<" || op === "<>") add(target, "read")
  }
  const { standard, words, wraps } = command
  // A program in another folder may do something else than the one of the system with the same name.
  const name = standard || writers.has(command.name) ? command.name : "./"
  if (command.name === "" || speakers.has(name)) return files
  const args = words.slice(1)
  const operands = args.filter(({ text }) => !text.startsWith("-"))
  if (wraps && !isFind(name)) {
    if (shells.has(name) || interpreters.has(name) || name === "source" || name === ".") {
      for (const word of operands) add(word, "read")
    }
    return files
  }
  const addAll: Arguments["addAll"] = (all, how, recursive) => all.forEach((word) => add(word, how, recursive))
  const texts = args.map(({ text }) => text)
  const parsed: Arguments = { args, texts, operands, values: valuesOf(args), wraps, add, addAll }
  const addFiles = programFiles(name)
  if (addFiles !== undefined) addFiles(parsed, name)
  else if (command.via === "plain") {
    addAll(parsed.values, "read")
    addAll(operands, "maybe")
  }
  return files
}

type AddFiles = (args: Arguments, name: string) => void

/** How to find the files of a program; `undefined` for a program that is not known. */
const programFiles = (name: string): AddFiles | undefined => {
  if (name === "dd") return ddFiles
  if (copiers.has(name) || isMove(name)) return copiedFiles
  if (/^g?sed$|^perl$/.test(name)) return editedFiles
  if (name === "prettier" || name === "eslint") return formattedFiles
  if (name === "find" || name === "gfind" || name === "fd" || name === "fdfind") return foundFiles
  if (name === "git") return gitFiles
  if (name === "curl" || name === "wget") return downloadFiles
  if (writers.has(name)) return writtenFiles
  return inert.has(name) ? readFiles : undefined
}

const isFind = (name: string): boolean => /^g?find$|^fd(?:find)?$/.test(name)

const isMove = (name: string): boolean => /^g?mv$/.test(name)

const ddFiles: AddFiles = ({ add, args }) => {
  for (const word of args) {
    const [, key, value] = /^(if|of)=([\s\S]*)$/.exec(word.text) ?? []
    if (value !== undefined) add({ ...word, text: value }, key === "of" ? "write" : "read")
  }
}

/** Programs that copy or move: the target is written, and below it a file for each source. */
const copiedFiles: AddFiles = ({ add, addAll, operands, texts, values }, name) => {
  const moves = isMove(name)
  const hasTargetFlag = texts.some((text) => /^-[a-zA-Z]*t|^--target/.test(text))
  const everything = [...operands, ...values]
  const targets = hasTargetFlag ? everything : operands.slice(-1)
  const sources = hasTargetFlag ? operands : operands.slice(0, -1)
  addAll(operands, "read", isRecursive(texts))
  addAll(moves ? everything : targets, "write", moves || texts.includes("--delete"))
  for (const target of targets) {
    for (const source of sources) {
      if (source !== target) add(fileBelow(target, source), "write")
    }
  }
}

/** The file that a source becomes inside of a target folder. */
const fileBelow = (target: Word, source: Word): Word => ({
  text: `${target.text}/${source.text.slice(source.text.replace(/\/+$/, "").lastIndexOf("/") + 1)}`,
  dynamic: source.dynamic || target.dynamic,
  fuzzy: source.fuzzy || target.fuzzy
})

const editedFiles: AddFiles = ({ addAll, operands, texts }) => {
  addAll(operands, texts.some((text) => /^-[a-zA-Z]*i|^--in-place/.test(text)) ? "write" : "read")
  addAll(operands, "read")
}

const formattedFiles: AddFiles = ({ addAll, operands, texts }) =>
  addAll(operands, texts.some((text) => /^(?:--write|--fix|-w)$/.test(text)) ? "write" : "read")

const foundFiles: AddFiles = ({ addAll, args, operands, texts, wraps }) => {
  const firstTest = texts.findIndex((text) => /^[-(!]/.test(text))
  const given = args.slice(0, firstTest < 0 ? undefined : firstTest)
  const folders = given.length > 0 ? given : [workingFolder]
  addAll(folders, "read", true)
  if (wraps || texts.some((text) => /^-(?:delete|fprint|fls|fprintf)/.test(text))) {
    addAll([...folders, ...operands], "write", true)
  }
}

const gitFiles: AddFiles = ({ add, addAll, operands, texts, values }) => {
  addAll([...operands, ...values], "read")
  if (texts.some((text) => /^(?:checkout|restore|clean|rm|mv|apply|am|switch|stash)$/.test(text))) {
    addAll([...operands, ...values], "write", texts.includes("rm") || texts.includes("mv"))
  }
  if (texts.includes("clean")) add(workingFolder, "write", true)
}

const outputFlag =
  /^(?:-[a-zA-Z]*[oOPDc]|--output|--output-document|--output-dir|--directory-prefix|--dump-header|--cookie-jar)$/

const inputFlag = /^(?:-T|--upload-file|-K|--config|-E|--cert|--key|-i|--input-file|--post-file)$/

/** curl and wget: the files that they write their answers to, and those that they send. */
const downloadFiles: AddFiles = ({ add, args, texts }) =>
  args.forEach((word, index) => {
    const { text } = word
    const flag = texts[index - 1] ?? ""
    if (outputFlag.test(flag)) add(word, "write")
    const [, attached] = /^-[oOPDc](\S+)$/.exec(text) ?? []
    if (attached !== undefined) add({ ...word, text: attached }, "write")
    if (/^--(?:output|directory|dump|cookie)[\w-]*=/.test(text)) {
      add({ ...word, text: text.slice(text.indexOf("=") + 1) }, "write")
    } else if (!text.includes("://")) {
      const at = text.lastIndexOf("@")
      if (at >= 0) add({ ...word, text: text.slice(at + 1) }, "read")
      if (inputFlag.test(flag)) add(word, "read")
    } else if (/^file:/i.test(text)) add(word, "read")
  })

const writtenFiles: AddFiles = ({ addAll, operands, texts, values }, name) => {
  addAll([...operands, ...values], "write", /^(?:g?rm|srm|chmod|chown|chgrp|chattr|setfacl|trash)$/.test(name))
  if (!/^(?:g?rm|rmdir|unlink|touch|g?tee|mkdir|chmod|chown)$/.test(name)) {
    addAll([...operands, ...values], "read", isRecursive(texts) || name === "tar")
  }
}

const readFiles: AddFiles = ({ add, addAll, args, operands, texts, values }, name) => {
  addAll([...operands, ...values], "read", isRecursive(texts))
  args.forEach((word, index) => {
    const isOutput = /^(?:-o|--output|--outfile|--out)$/.test(texts[index - 1] ?? "")
    if (isOutput && !/grep$|^rg$|^ag$/.test(name)) add(word, "write")
    const [, value] = /^--out\w*=([\s\S]*)$/.exec(word.text) ?? []
    if (value !== undefined) add({ ...word, text: value }, "write")
  })
  if (name === "yq" && texts.some((text) => /^(?:-i|--inplace|--in-place)$/.test(text))) addAll(operands, "write")
}

const isRecursive = (texts: ReadonlyArray<string>): boolean =>
  texts.some((text) => /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive|dereference-recursive)$/.test(text))

const valuesOf = (args: ReadonlyArray<Word>): ReadonlyArray<Word> =>
  args.flatMap((word) => {
    const [, value] = /^(?:--?[\w-]+=|-[a-zA-Z](?=[./~])|@)([\s\S]+)$/.exec(word.text) ?? []
    return value === undefined ? [] : [{ ...word, text: value }]
  })
