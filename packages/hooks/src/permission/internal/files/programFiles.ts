/** Which files a command reads and writes, from its redirections and its arguments. */
import type { Command, Word } from "../shell/decompose.ts"
import { inert, interpreters, shells, speakers, writers } from "../syntax/programs.ts"
import { type FileOptions, fileOptionsOf, usualOptions } from "./fileTable.ts"
import type { Arguments, FileAccess } from "./fileUse.ts"
import { valueFiles, wordOf } from "./optionValues.ts"
import { specialFiles } from "./specialFiles.ts"

const device = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+|zero|full|u?random)$/

/** Returns the files of a command. */
export const filesOf = (command: Command): ReadonlyArray<FileAccess> => {
  const { more, words } = command
  // `xargs -I{}` runs the command once for each word.
  if (more?.type === "text" && /\S\s+\S/.test(more.text) && words.some(({ text }) => text.includes("{}"))) {
    return more.text.split(/\s+/).flatMap((text) => filesOf({ ...command, more: { ...more, text } }))
  }
  const files: Array<FileAccess> = []
  const add: Arguments["add"] = (word, how, recursive = false, ifFolder) => {
    if (!device.test(word.text)) files.push({ word, how, recursive, ...(ifFolder === undefined ? {} : { ifFolder }) })
  }
  for (const { op, target } of command.redirects) {
    if (op !== "<") add(target, "write")
    if (op === "<" || op === "<>") add(target, "read")
  }
  const { effects, standard, wraps } = command
  for (const text of effects?.reads ?? []) add(wordOf(text), "read")
  for (const text of effects?.writes ?? []) add(wordOf(text), "write")
  // A program in another folder may do something else than the one of the system with the same name.
  const name = standard || writers.has(command.name) ? command.name : "./"
  if (command.name === "" || speakers.has(name)) return files
  const args = argumentsWithInput(command)
  const addAll: Arguments["addAll"] = (all, how, recursive) => all.forEach((word) => add(word, how, recursive))
  const texts = args.map(({ text }) => text)
  const options = fileOptionsOf(name)
  const { operands, reads, writes } = valueFiles(args, options ?? usualOptions, name)
  const known = options !== undefined || inert.has(name) || writers.has(name)
  if (known && name !== "git") {
    addAll(reads, "read")
    addAll(writes, "write")
  }
  const parsed: Arguments = {
    args,
    texts,
    operands,
    wraps,
    recursive: isRecursive(texts),
    inputs: command.inputs ?? [],
    add,
    addAll
  }
  if (shells.has(name) || interpreters.has(name.replace(/[\d.]+$/, "")) || name === "source" || name === ".") {
    addInterpreterFiles(parsed, command, name)
  } else if (
    specialFiles(name)?.(parsed, name) === undefined && (!wraps || options !== undefined || effects !== undefined)
  ) {
    if (options?.operands !== undefined) addOperands(parsed, options.operands)
    else if (writers.has(name)) addWritten(parsed, name)
    else if (inert.has(name)) addAll(operands, "read", parsed.recursive)
    else if (command.via !== "guess") {
      addAll(reads, "read")
      addAll(writes, "maybe")
      addAll(operands, "maybe")
    }
  }
  return files
}

/** The arguments of a command, with those that `xargs` or `find` add. */
const argumentsWithInput = ({ more, words }: Command): ReadonlyArray<Word> => {
  const args = words.slice(1)
  if (more === undefined || more.type === "plain") return args
  const added = more.type === "text"
    ? more.text.split(/\s+/).filter((text) => text !== "").map(wordOf)
    : more.globs.map((text): Word => ({ text, dynamic: false, fuzzy: true }))
  const hasPlace = args.some(({ text }) => text.includes("{}"))
  if (!hasPlace) return [...args, ...added]
  return args.flatMap((word) =>
    word.text.includes("{}")
      ? added.map((one) => ({ ...one, text: word.text.replaceAll("{}", one.text), fuzzy: one.fuzzy || word.fuzzy }))
      : [word]
  )
}

const addInterpreterFiles = ({ add, addAll, operands, texts }: Arguments, { effects }: Command, name: string): void => {
  // The operands of code in an argument are the files that it reads, or changes in place.
  if (effects !== undefined && /^(?:perl|ruby)/.test(name)) {
    const files = operands.filter(({ text }, index) => index > 0 || !/[\s/;$]/.test(text))
    addAll(files, "read")
    if (effects.inPlace === true) addAll(files, "write")
    return
  }
  if (effects === undefined) addAll(operands, "read")
  if (name.startsWith("python") && texts.includes("-m")) addModuleFiles(add, operands, texts)
  if (texts.some((text) => /^-[a-zA-Z]*i/.test(text)) && /^(?:perl|ruby)/.test(name)) addAll(operands, "write")
  for (const text of texts) {
    const [, value] = /^--env-file(?:-if-exists)?=(.+)$/.exec(text) ?? []
    if (value !== undefined) add(wordOf(value), "read")
  }
}

/** Modules of Python that write: `json.tool in out`, `zipfile -e archive folder`. */
const addModuleFiles = (
  add: Arguments["add"],
  [module, first, second]: ReadonlyArray<Word>,
  texts: ReadonlyArray<string>
): void => {
  const written = module?.text === "json.tool" || texts.some((text) => /^-e|^--ext/.test(text)) ? second : first
  if (/^(?:json\.tool|zipfile|tarfile|venv)$/.test(module?.text ?? "") && written !== undefined) add(written, "write")
}

const addOperands = (
  { add, addAll, operands, recursive }: Arguments,
  kind: NonNullable<FileOptions["operands"]>
): void => {
  if (kind === "read") addAll(operands, "read", recursive)
  else if (kind === "names") {
    // A glob of names reads no file.
    addAll(operands.filter(({ dynamic, fuzzy }) => !fuzzy && !dynamic), "read")
  } else if (kind === "write") {
    addAll(operands, "write")
    addAll(operands, "read", recursive)
  } else if (kind !== "none") {
    const at = kind === "last" ? operands.length - 1 : 0
    for (const [index, word] of operands.entries()) {
      const isWritten = kind === "rest" ? index > 0 : index === at
      if (isWritten) add(word, "write")
      if (!isWritten || kind === "rest") add(word, "read", recursive)
    }
  }
}

const addWritten = ({ addAll, operands, recursive, texts }: Arguments, name: string): void => {
  // The first operand is a mode or an owner, unless that stands in an option.
  const isOption = name === "chmod" ? /^-\w*[rwxXst]|^--r/ : /^--r/
  const hasFirst = /^(?:chmod|chown|chgrp)$/.test(name) && !texts.some((text) => isOption.test(text) && text !== "-R")
  const files = hasFirst && operands.length > 1 ? operands.slice(1) : operands
  addAll(files, "write", /^(?:g?rm|srm|chmod|chown|chgrp|chattr|setfacl|trash)$/.test(name))
  if (!/^(?:g?rm|rmdir|unlink|touch|g?tee|mkdir|chmod|chown)$/.test(name)) addAll(operands, "read", recursive)
}

const isRecursive = (texts: ReadonlyArray<string>): boolean =>
  texts.some((text) => /^-[a-zA-Z]*[rRa]|^--r(?:e|ec|ecu[a-z]*)?$|^--arch[a-z]*$|^--deref[a-z]*-rec[a-z]*$/.test(text))
