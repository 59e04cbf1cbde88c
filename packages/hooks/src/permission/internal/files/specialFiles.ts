/** The files of programs whose arguments have their own grammar. */
import { foundBelow } from "../shell/producedText.ts"
import { copiers } from "../syntax/programs.ts"
import type { Word } from "../syntax/shellSyntax.ts"
import { compressedFiles, cpioFiles, sevenZipFiles, tarFiles, unzipFiles, zipFiles } from "./archiveFiles.ts"
import type { AddFiles } from "./fileUse.ts"
import { gitFiles } from "./gitFiles.ts"
import { endOf, fileBelow, wordOf } from "./optionValues.ts"
import { containerFiles, downloadedFiles, psqlFiles, socatFiles, sqliteFiles, storedFiles } from "./remoteFiles.ts"

const workingFolder: Word = wordOf(".")

/** How to find the files of a program that has its own grammar. */
export const specialFiles = (name: string): AddFiles | undefined => {
  if (copiers.has(name) || isMove(name)) return copiedFiles
  return Object.hasOwn(special, name) ? special[name] : undefined
}

const isMove = (name: string): boolean => /^g?mv$/.test(name)

const ddFiles: AddFiles = ({ add, args }) => {
  for (const word of args) {
    const [, key, value] = /^(if|of)=([\s\S]*)$/.exec(word.text) ?? []
    if (value !== undefined) add(endOf(word, value), key === "of" ? "write" : "read")
  }
  return true
}

/** Programs that copy or move: the target is written, and below it a file for each source. */
const copiedFiles: AddFiles = ({ add, addAll, args, operands, recursive, texts }, name) => {
  const moves = isMove(name)
  const target = targetOption(args)
  const isInstallingFolders = name === "install" && texts.some((text) => /^-\w*d/.test(text))
  const given = target === undefined ? operands : operands.filter((word) => word !== target)
  const targets = target !== undefined ? [target] : isInstallingFolders ? given : given.slice(-1)
  const sources = target !== undefined ? given : given.slice(0, -1)
  addAll(name === "ln" || name === "gln" ? sources : operands, "read", recursive || name === "ln")
  // Through another name, a file can be changed.
  const links = name === "ln" || name === "gln"
  addAll(
    moves || links ? [...operands, ...targets] : targets,
    "write",
    moves || texts.some((text) => text.startsWith("--del"))
  )
  for (const one of targets) {
    for (const source of sources) if (source !== one) add(fileBelow(one, source), "write", false, one)
  }
  const log = args.find(({ text }) => text.startsWith("--log-file="))
  if (log !== undefined) add(endOf(log, log.text.slice(log.text.indexOf("=") + 1)), "write")
  return true
}

/** `sftp`: what its input sends and fetches. */
const transferredFiles: AddFiles = (args, name) => {
  for (const { text } of args.inputs) {
    for (
      const [, verb, file = "", to] of text.matchAll(
        /(?:^|\n)\s*-?(re)?(?:put|get)\s+(?:-\w+\s+)*(\S+)(?:[ \t]+(\S+))?/g
      )
    ) {
      args.add(wordOf(file), "read")
      args.add(wordOf(to ?? file), verb === undefined && /put/.test(text) ? "read" : "write")
    }
  }
  return copiedFiles(args, name)
}

/** Files that are sent to a forge. */
const forgeFiles: AddFiles = ({ addAll, operands }) => {
  if (/^(?:gist|release)$/.test(operands[0]?.text ?? "")) addAll(operands.slice(2), "read")
  return true
}

/** The value of `-t` and `--target-directory`. */
const targetOption = (args: ReadonlyArray<Word>): Word | undefined => {
  for (const [index, word] of args.entries()) {
    const { text } = word
    if (/^-[a-zA-Z]*t$|^--t[arge]*t?[-a-z]*$/.test(text)) return args[index + 1]
    const [, value] = /^(?:-[a-zA-Z]*t(?=[./~\w])|--t[-a-z]*=)([\s\S]+)$/.exec(text) ?? []
    if (value !== undefined && (text.startsWith("--") || text.startsWith("-t"))) return endOf(word, value)
  }
  return undefined
}

const editedFiles: AddFiles = ({ addAll, args, operands, texts }) => {
  const hasScriptOption = texts.some((text) => /^-[a-zA-Z]*e|^--e/.test(text))
  const files = operands.filter(({ text }, index) =>
    text !== "" && (hasScriptOption || index > (operands[0]?.text === "" ? 1 : 0))
  )
  const values = args.filter((_, index) => /^-[a-zA-Z]*[ef]$/.test(texts[index - 1] ?? ""))
  const changed = files.filter((word) => !values.includes(word))
  addAll(changed, "read")
  if (texts.some((text) => /^-[a-zA-Z]*[iI]|^--i/.test(text))) addAll(changed, "write")
  return true
}

const awkFiles: AddFiles = ({ addAll, args, texts }) => {
  let at = 0
  while (at < args.length && /^-./.test(texts[at]!)) {
    at += /^-[Fvi]$|^--(?:assign|field-separator|include)$/.test(texts[at]!) ? 2 : 1
  }
  const files = args.slice(at + 1).filter(({ text }) => !/^\w+=/.test(text))
  addAll(files, "read")
  if (texts.includes("inplace")) addAll(files, "write")
  return true
}

const formattedFiles: AddFiles = ({ add, operands, texts }, name) => {
  const writes = /^(?:black|isort|rustfmt|autoflake|pyupgrade)$/.test(name)
    ? !texts.some((text) => /^--(?:check|diff)/.test(text))
    : texts.some((text) => /^(?:--write|--fix\S*|-w|-i|-[aA]|--auto-?correct\S*|--apply\S*|format|fmt)$/.test(text))
  // The whole working folder is not a file that somebody means.
  for (const word of operands) add(word, writes ? "write" : "read", writes && !/^\.?\/?$/.test(word.text))
  return true
}

const changedInPlace: AddFiles = ({ addAll, operands, texts }) => {
  addAll(operands, "read")
  if (texts.some((text) => /^(?:-i|--in-?place)$/.test(text))) addAll(operands, "write")
  return true
}

const foundFiles: AddFiles = ({ add, addAll, args, texts }) => {
  const firstTest = texts.findIndex((text) => /^[-(!]/.test(text))
  const given = args.slice(0, firstTest < 0 ? undefined : firstTest)
  const folders = given.length > 0 ? given : [workingFolder]
  addAll(given.filter(({ dynamic, fuzzy }) => !dynamic && !fuzzy), "read")
  const names = texts.flatMap((text, index) => /^-i?name$/.test(text) ? [args[index + 1]] : [])
  if (texts.includes("-delete")) {
    const name = names.length === 1 ? names[0] : undefined
    for (const folder of folders) {
      if (name === undefined || name.dynamic) add(folder, "write", true)
      else {
        add({ text: foundBelow(folder.text, name.text), dynamic: folder.dynamic, fuzzy: true }, "write")
      }
    }
  }
  texts.forEach((text, index) => {
    if (/^-f(?:print0?|ls|printf)$/.test(text) && args[index + 1] !== undefined) add(args[index + 1]!, "write")
    if (/^-(?:files0-from|newer\w*|samefile)$/.test(text) && args[index + 1] !== undefined) {
      add(args[index + 1]!, "read")
    }
  })
  return true
}

/** `grep` and its relatives: without a file, a recursive search reads the working folder. */
const searchedFiles: AddFiles = ({ add, addAll, operands, texts }, name) => {
  const isGrep = name.endsWith("grep")
  const recursive = isGrep
    ? texts.some((text, index) =>
      /^-[a-zA-Z]*[rR]|^--r|^--deref|^--dir[a-z]*=rec|^-[a-z]*drec/.test(text) ||
      (/^-\w*d$|^--dir/.test(texts[index - 1] ?? "") && text.startsWith("rec"))
    )
    : texts.some((text) => /^-[a-zA-Z]*[u.]|^--(?:hid|unr|all|no-ig)/.test(text))
  const hasPattern = texts.some((text) => /^-[a-zA-Z]*[ef]$|^-[ef].|^--(?:regexp|file)(?:=|$)|^--files$/.test(text))
  const patterns = hasPattern ? 0 : 1
  const files = operands.slice(patterns)
  addAll(files, "read", recursive)
  // A pattern that is computed may be a file when it is empty; that reads nothing more.
  const listsNames = texts.includes("--files") || texts.includes("--type-list")
  if (files.length === 0 && recursive && !listsNames) add(workingFolder, "read", true)
  // The files in a folder are searched, but not the hidden ones.
  if (!isGrep && !listsNames) {
    for (const { dynamic, text } of files.length === 0 ? [workingFolder] : files) {
      if (!recursive && !dynamic) add({ text: `${text}/**/*`, dynamic: false, fuzzy: true }, "read")
    }
  }
  return true
}

/** The folders of generated code: `--go_out=gen`, `--go_out=paths=source_relative:gen`. */
const generatedFiles: AddFiles = ({ add, addAll, args, operands }) => {
  addAll(operands, "read")
  for (const word of args) {
    const [, folder] = /^--[\w-]+_out=(?:[^:]*:)?(.+)$/.exec(word.text) ?? []
    if (folder !== undefined) add(endOf(word, folder), "write")
  }
  return true
}

const special: { readonly [name: string]: AddFiles } = {
  "7z": sevenZipFiles,
  "7za": sevenZipFiles,
  "7zr": sevenZipFiles,
  "7zz": sevenZipFiles,
  ack: searchedFiles,
  ag: searchedFiles,
  aws: storedFiles,
  awk: awkFiles,
  autoflake: formattedFiles,
  biome: formattedFiles,
  black: formattedFiles,
  bunzip2: compressedFiles,
  bzip2: compressedFiles,
  cpio: cpioFiles,
  curl: downloadedFiles,
  dd: ddFiles,
  docker: containerFiles,
  duckdb: sqliteFiles,
  egrep: searchedFiles,
  eslint: formattedFiles,
  fgrep: searchedFiles,
  fd: foundFiles,
  fdfind: foundFiles,
  find: foundFiles,
  gawk: awkFiles,
  gcloud: storedFiles,
  "clang-format": formattedFiles,
  gofmt: formattedFiles,
  isort: formattedFiles,
  oxlint: formattedFiles,
  pyupgrade: formattedFiles,
  rubocop: formattedFiles,
  ruff: formattedFiles,
  rustfmt: formattedFiles,
  shfmt: formattedFiles,
  gfind: foundFiles,
  git: gitFiles,
  grep: searchedFiles,
  ggrep: searchedFiles,
  gsed: editedFiles,
  gsutil: storedFiles,
  gunzip: compressedFiles,
  gzip: compressedFiles,
  kubectl: containerFiles,
  mariadb: psqlFiles,
  mawk: awkFiles,
  mc: storedFiles,
  mysql: psqlFiles,
  nawk: awkFiles,
  nerdctl: containerFiles,
  oc: containerFiles,
  podman: containerFiles,
  prettier: formattedFiles,
  protoc: generatedFiles,
  psql: psqlFiles,
  rclone: storedFiles,
  rg: searchedFiles,
  s3cmd: storedFiles,
  s5cmd: storedFiles,
  sed: editedFiles,
  gh: forgeFiles,
  sftp: transferredFiles,
  socat: socatFiles,
  sqlite3: sqliteFiles,
  tar: tarFiles,
  gtar: tarFiles,
  bsdtar: tarFiles,
  unxz: compressedFiles,
  unzip: unzipFiles,
  wget: downloadedFiles,
  wget2: downloadedFiles,
  xz: compressedFiles,
  yq: changedInPlace,
  zip: zipFiles,
  zstd: compressedFiles
}
