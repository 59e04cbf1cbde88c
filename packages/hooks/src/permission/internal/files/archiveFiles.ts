/** The files of programs that pack, unpack and compress. */
import type { Word } from "../syntax/shellSyntax.ts"
import type { AddFiles } from "./fileUse.ts"
import { endOf } from "./optionValues.ts"

export const tarFiles: AddFiles = ({ add, addAll, args, operands, texts }) => {
  const [first = ""] = texts
  const bundle = /^[a-zA-Z]+$/.test(first) ? first : ""
  const letters = bundle +
    texts.filter((text) => /^-[a-zA-Z]/.test(text)).map((text) => /^-([a-zA-Z]+)/.exec(text)![1]!).join("")
  const long = (name: string) =>
    texts.some((text) => text.startsWith("--") && text.length > 4 && `--${name}`.startsWith(text.split("=")[0]!))
  const extracts = letters.includes("x") || long("extract") || long("get")
  const lists = !extracts && (letters.includes("t") || long("list"))
  const archives: Array<Word> = []
  args.forEach((word, index) => {
    const { text } = word
    const isAfter = index === 1 && bundle.includes("f") || /^-[a-zA-Z]*f$|^--fi(?:le)?$/.test(texts[index - 1] ?? "")
    if (isAfter) archives.push(word)
    const [, value] = /^(?:--fi[le]*=|-[a-zA-Z]*f(?=.))([\s\S]+)$/.exec(text) ?? []
    if (value !== undefined) archives.push(endOf(word, value))
    if (/^(?:-[a-zA-Z]*[TX]|--files-from|--exclude-from)$/.test(texts[index - 1] ?? "")) add(word, "read")
    const [, list] = /^--(?:files-from|exclude-from)=(.+)$/.exec(text) ?? []
    if (list !== undefined) add(endOf(word, list), "read")
    const [, folder] = /^--dir[a-z]*=(.+)$/.exec(text) ?? []
    const target = folder !== undefined
      ? endOf(word, folder)
      : /^-[a-zA-Z]*C$|^--dir[a-z]*$/.test(texts[index - 1] ?? "")
      ? word
      : undefined
    if (target !== undefined && extracts) add(target, "write")
    const [, top] = /^--one[a-z-]*=(.+)$/.exec(text) ?? []
    if (top !== undefined && extracts) add(endOf(word, top), "write")
  })
  const members = operands.filter((word) => !archives.includes(word) && !(bundle !== "" && word.text === bundle))
  if (extracts || lists) addAll(archives, "read")
  else addAll(archives, "write")
  if (extracts) addAll(members, "write", true)
  else if (!lists) addAll(members, "read", true)
  return true
}

export const zipFiles: AddFiles = ({ add, addAll, operands, recursive }) => {
  const [archive, ...files] = operands
  if (archive !== undefined) add(archive, "write")
  addAll(files, "read", recursive)
  return true
}

/** 7-Zip: it packs folders with all their files. */
export const sevenZipFiles: AddFiles = ({ add, addAll, operands }) => {
  const [verb, archive, ...files] = operands
  if (archive === undefined) return true
  const packs = /^[adu]$|^rn$/.test(verb!.text)
  add(archive, packs ? "write" : "read")
  if (packs) addAll(files, "read", true)
  else if (/^[ex]$/.test(verb!.text)) addAll(files, "write", true)
  return true
}

export const unzipFiles: AddFiles = ({ add, addAll, args, operands, texts }) => {
  const [archive, ...members] = operands
  if (archive !== undefined) add(archive, "read")
  if (texts.some((text) => /^-\w*[lptvzZ]/.test(text))) return true
  const target = args[texts.findIndex((text) => /^-\w*d$/.test(text)) + 1]
  if (texts.some((text) => /^-\w*d$/.test(text)) && target !== undefined) add(target, "write")
  addAll(members, "write", true)
  return true
}

/** Programs that compress files in place, unless they write to their output. */
export const compressedFiles: AddFiles = ({ add, addAll, args, operands, texts }) => {
  const keeps = texts.some((text) => /^-[a-z]*[clt]|^--(?:stdout|to-stdout|list|test)/.test(text))
  addAll(operands, "read")
  if (!keeps) {
    addAll(operands, "write")
    for (const word of operands) add({ ...word, text: word.text.replace(/\.(?:gz|xz|bz2|zst|lzma|Z)$/, "") }, "write")
  }
  args.forEach((word, index) => {
    if (/^-o$|^--output/.test(texts[index - 1] ?? "")) add(word, "write")
  })
  return true
}

export const cpioFiles: AddFiles = ({ addAll, inputs, operands }) => {
  addAll(operands, "write")
  addAll(inputs, "read")
  return true
}
