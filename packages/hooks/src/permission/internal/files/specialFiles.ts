/** The files of programs whose arguments have their own grammar. */
import { copiers } from "../programs.ts"
import type { Word } from "../shellSyntax.ts"
import type { Arguments } from "./fileUse.ts"
import { gitFiles } from "./gitFiles.ts"
import { endOf, wordOf } from "./optionValues.ts"

/** Adds the files of a command. Returns `false` when the operands are files in the usual way. */
type AddFiles = (args: Arguments, name: string) => true

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
    moves || texts.some((text) => /^--del/.test(text))
  )
  for (const one of targets) {
    for (const source of sources) if (source !== one) add(fileBelow(one, source), "write", false, one)
  }
  const log = args.find(({ text }) => /^--log-file=/.test(text))
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
    if (value !== undefined && (text.startsWith("--") || /^-t/.test(text))) return endOf(word, value)
  }
  return undefined
}

/** The file that a source becomes inside of a target folder. */
const fileBelow = (target: Word, source: Word): Word => {
  const last = source.text.replace(/\/+$/, "")
  return {
    text: `${target.text}/${source.text.slice(last.lastIndexOf("/") + 1).replace(/^[\w.@-]+:/, "")}`,
    dynamic: source.dynamic || target.dynamic,
    fuzzy: source.fuzzy || target.fuzzy
  }
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

const formattedFiles: AddFiles = ({ add, operands, texts }) => {
  const writes = texts.some((text) => /^(?:--write|--fix|-w)$/.test(text))
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
      else {add({
          text: `${folder.text}/**/${name.text.replace(/^[*?]/, "@(|.)*")}`,
          dynamic: folder.dynamic,
          fuzzy: true
        }, "write")}
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
  const isGrep = /grep$/.test(name)
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

const tarFiles: AddFiles = ({ add, addAll, args, operands, texts }) => {
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
  })
  const members = operands.filter((word) => !archives.includes(word) && !(bundle !== "" && word.text === bundle))
  if (extracts || lists) addAll(archives, "read")
  else addAll(archives, "write")
  if (extracts) addAll(members, "write", true)
  else if (!lists) addAll(members, "read", true)
  return true
}

const zipFiles: AddFiles = ({ add, addAll, operands, recursive }) => {
  const [archive, ...files] = operands
  if (archive !== undefined) add(archive, "write")
  addAll(files, "read", recursive)
  return true
}

const unzipFiles: AddFiles = ({ add, addAll, args, operands, texts }) => {
  const [archive, ...members] = operands
  if (archive !== undefined) add(archive, "read")
  if (texts.some((text) => /^-\w*[lptvzZ]/.test(text))) return true
  const target = args[texts.findIndex((text) => /^-\w*d$/.test(text)) + 1]
  if (texts.some((text) => /^-\w*d$/.test(text)) && target !== undefined) add(target, "write")
  addAll(members, "write", true)
  return true
}

/** Programs that compress files in place, unless they write to their output. */
const compressedFiles: AddFiles = ({ add, addAll, args, operands, texts }) => {
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

const cpioFiles: AddFiles = ({ addAll, inputs, operands }) => {
  addAll(operands, "write")
  addAll(inputs, "read")
  return true
}

/** Commands of SQL shells that read and write files. */
const sqliteFiles: AddFiles = ({ add, args, inputs }) => {
  const [file] = args.filter(({ text }) => !text.startsWith("-"))
  if (file !== undefined) add(file, "read")
  for (const { text } of [...args, ...inputs]) {
    for (const [, verb, path] of text.matchAll(/(?:^|\n)\s*\.(\w+)\s+(?:main\s+)?['"]?([^\s'"]+)/g)) {
      if (/^(?:out\w*|once|backup|save|log|clone|dump|excel)$/.test(verb!)) add(wordOf(path!), "write")
      if (/^(?:import|read|restore|open|load)$/.test(verb!)) add(wordOf(path!), "read")
    }
    for (const [, path] of text.matchAll(/\b(?:readfile|attach(?:\s+database)?|read_\w+|from)\s*\(?\s*'([^']+)'/gi)) {
      add(wordOf(path!), "read")
    }
    for (const [, path] of text.matchAll(/\b(?:writefile|vacuum\s+into|outfile|to)\s*\(?\s*'([^']+)'/gi)) {
      add(wordOf(path!), "write")
    }
  }
  return true
}

const psqlFiles: AddFiles = ({ add, args, inputs }) => {
  for (const { text } of [...args, ...inputs]) {
    for (const [, path] of text.matchAll(/\b(?:from|infile)\s+'([^']+)'|\\i\s+(\S+)/gi)) {
      if (path !== undefined) add(wordOf(path), "read")
    }
    for (const [, path] of text.matchAll(/\b(?:to|outfile)\s+'([^']+)'/gi)) add(wordOf(path!), "write")
    for (const [, path] of text.matchAll(/\\(?:i|ir|include)\s+(\S+)/g)) add(wordOf(path!), "read")
    for (const [, path] of text.matchAll(/\\(?:o|out|g|w|s)\s+(\S+)/g)) add(wordOf(path!), "write")
  }
  return true
}

/** curl: the files that it sends, as `@file`, and those that it names like the address. */
const downloadedFiles: AddFiles = ({ add, args, operands, texts }, name) => {
  args.forEach((word, index) => {
    const { text } = word
    const flag = texts[index - 1] ?? ""
    if (/^file:/i.test(text)) add({ ...word, text: text.replace(/^file:\/\/(?:localhost)?/i, "") }, "read")
    const isData =
      /^(?:-\w*[dFH]|--data[\w-]*|--dat|--json|--form|--header|--url-query|--variable|--proxy-header)$/.test(flag) ||
      /^--(?:data[\w-]*|json|form|header|variable)=|^-[dFH]./.test(text)
    const [, value] = /(?:^|=|^-[dFH])[^@]*?[@<]([^;,]+)/.exec(text) ?? []
    if (isData && value !== undefined && !/^https?:/.test(text)) {
      add(endOf(word, text.slice(text.indexOf(value))), "read")
    }
    if (isData && value !== undefined) add(wordOf(value), word.dynamic ? "maybe" : "read")
  })
  const isNamed = name.startsWith("wget")
    ? !texts.some((text) => /^-\w*O|^--output-d|^--spider/.test(text))
    : texts.some((text) => /^-\w*[OJ]|^--remote-n/.test(text))
  const folder = args[texts.findIndex((text) => /^(?:--output-dir|-\w*P|--directory-prefix)$/.test(text)) + 1]
  const hasFolder = texts.some((text) => /^(?:--output-dir|-\w*P|--directory-prefix)$/.test(text))
  for (const { dynamic, text } of isNamed ? operands : []) {
    const [, file] = /^(?:\w+:\/\/)?[^/]+\/(?:.*\/)?([^/?#]+)/.exec(text) ?? []
    if (file !== undefined && !dynamic) {
      add(wordOf(hasFolder && folder !== undefined ? `${folder.text}/${file}` : file), "write")
    }
  }
  return true
}

/** Clients of object stores: `cp`, `mv`, `sync` and their relatives copy like `cp`. */
const storedFiles: AddFiles = (args, name) => {
  const { add, addAll, operands, texts } = args
  const at = operands.findIndex(({ text }) =>
    /^(?:cp|mv|sync|copy|copyto|move|moveto|rsync|get|put|mirror|upload|download)$/.test(text)
  )
  if (at < 0) return true
  const [target, ...sources] = operands.slice(at + 1).reverse()
  const isRemote = (text: string) => /^[\w-]+:(?!\\)|^pod|^\w+\//.test(text) && name !== "docker"
  const recursive = texts.some((text) => /^-\w*[rR]$|^--rec/.test(text)) ||
    /^(?:sync|copy|move|mirror|rsync)$/.test(operands[at]!.text)
  addAll(sources, "read", recursive)
  for (const source of sources) {
    if (target !== undefined) add(fileBelow(target, source), "write", false, target)
    if (/^(?:mv|move)/.test(operands[at]!.text) && !isRemote(source.text)) add(source, "write", true)
  }
  if (target !== undefined) add(target, sources.length === 0 ? "read" : "write")
  return true
}

/** Containers: files that are copied or mounted. */
const containerFiles: AddFiles = (args, name) => {
  const { add, operands, texts } = args
  if (operands[0]?.text === "cp" || operands[1]?.text === "cp") {
    const [source, target] = operands.slice(operands.findIndex(({ text }) => text === "cp") + 1)
    if (source !== undefined && !/:/.test(source.text)) add(source, "read", true)
    if (target !== undefined && !/:/.test(target.text)) add(target, "write")
    if (target !== undefined && source !== undefined && !/:/.test(target.text)) {
      add(fileBelow(target, source), "write", false, target)
    }
  }
  args.args.forEach((word, index) => {
    const isMount = /^(?:-\w*v|--volume|--mount)$/.test(texts[index - 1] ?? "") ||
      /^--(?:volume|mount)=/.test(word.text)
    const [, host] = /^(?:--volume=|--mount=)?(?:type=bind,|.*?(?:source|src)=)?([^:,]+)/.exec(word.text) ?? []
    if (isMount && host !== undefined && /[/.~]/.test(host)) {
      const mounted = wordOf(host)
      if (!word.dynamic) {
        add(mounted, "read")
        if (name !== "kubectl") add(mounted, "write")
      }
    }
    const [, secret] = /(?:^|,)(?:src|source|file)=([^,]+)/.exec(word.text) ?? []
    if (secret !== undefined) add(wordOf(secret), "read")
    const [, from] = /^--from-(?:env-)?file=(?:[\w.-]+=)?(.+)$/.exec(word.text) ?? []
    if (from !== undefined) add(wordOf(from), "read")
  })
  return true
}

/** `FILE:` and `OPEN:` addresses. */
const socatFiles: AddFiles = ({ add, args, texts }) => {
  for (const word of args) {
    const [, kind, path] = /^(file|open|create|gopen|rename|pipe|exec|system):([^,]+)/i.exec(word.text) ?? []
    if (path === undefined || /^(?:exec|system)$/i.test(kind!)) continue
    add(endOf(word, word.text.slice(word.text.indexOf(":") + 1)), "read")
    add(wordOf(path), "read")
    if (!texts.includes("-u") || word !== args.find(({ text }) => /:/.test(text))) add(wordOf(path), "write")
  }
  return true
}

const special: { readonly [name: string]: AddFiles } = {
  ack: searchedFiles,
  ag: searchedFiles,
  aws: storedFiles,
  awk: awkFiles,
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
