/** What a command prints, when its arguments say so: the output of `$(…)`, or what a pipe gives to `xargs`. */
import { posix } from "node:path"
import type { Word } from "../syntax/shellSyntax.ts"

/** `text`: exactly this. `glob`: paths that this glob matches. `plain`: a word that is neither an option nor a path. */
export type Produced =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "globs"; readonly globs: ReadonlyArray<string> }
  | { readonly type: "plain" }

const plain: Produced = { type: "plain" }
const text = (value: string): Produced => ({ type: "text", text: value })
const globs = (values: ReadonlyArray<string>): Produced => ({ type: "globs", globs: values })

/** Programs whose output is a name, a number or a date. */
const plainPrograms =
  /^(?:whoami|hostname|uname|nproc|id|wc|seq|uuidgen|arch|tput|lsof|pgrep|pidof|sha\d+sum|md5sum|getconf|ver)$/

/** Any name, also one that begins with a dot. */
export const anyName = "@(|.)*"

/** What a command prints; `undefined` when that is not known. `words` are expanded. */
export const producedBy = (words: ReadonlyArray<Word>): Produced | undefined => {
  const [first, ...args] = words
  if (first === undefined || first.dynamic || first.fuzzy) return undefined
  const name = first.text.slice(first.text.lastIndexOf("/") + 1)
  if (name === "pwd") return text(".")
  if (name === "mktemp") {
    return args.every(({ text: one }) => /^-\w$|^[\w.-]+$/.test(one))
      ? text("/tmp/tmp.file")
      : undefined
  }
  if (plainPrograms.test(name)) return plain
  if (name === "date") {
    return args.every(({ text: one }) => /^[+-]?[\w%:@= -][\w%:@=. -]*$/.test(one))
      ? plain
      : undefined
  }
  if (name === "git") return producedByGit(args)
  if (name === "find" || name === "gfind") return producedByFind(args)
  if (args.some(({ dynamic }) => dynamic)) return undefined
  if (setsUpShell(name, args.map((word) => word.text))) return text(":")
  const texts = args.map((word) => word.text)
  const operands = args.filter((word) => !word.text.startsWith("-"))
  const isLiteral = args.every(({ fuzzy }) => !fuzzy)
  if (name === "echo" && isLiteral && texts.every((one) => !one.includes("\\"))) {
    return text((texts[0] === "-n" ? texts.slice(1) : texts).join(" "))
  }
  if (name === "printf" && isLiteral) return producedByPrintf(texts)
  if ((name === "basename" || name === "dirname") && isLiteral && texts.length === 1) {
    return text(name === "basename" ? posix.basename(texts[0]!) : posix.dirname(texts[0]!))
  }
  if ((name === "realpath" || name === "readlink" || name === "which") && operands.length === 1) {
    return wordText(operands[0]!)
  }
  if (name === "command" && texts[0] === "-v" && texts.length === 2) return text(texts[1]!)
  if (name === "ls") return producedByLs(operands, texts)
  if (/^[ef]?grep$/.test(name)) return producedByGrep(operands, texts)
  if (name === "rg" || name === "fd" || name === "fdfind" || name === "ag") {
    if (texts.some((one) => /^-\w*[uH.]|^--(?:hid|unr|no-i)/.test(one))) return globs([`**/${anyName}`])
    const extension = texts[texts.findIndex((one) => /^(?:-e|--extension)$/.test(one)) + 1]
    if (name.startsWith("fd") && extension !== undefined && texts.some((one) => /^(?:-e|--extension)$/.test(one))) {
      return globs([`**/*.${extension}`])
    }
    return name.startsWith("fd") || texts.some((one) => /^-\w*l|^--files/.test(one)) ? globs(["**/*"]) : undefined
  }
  if (name === "node" && texts.some((one) => /^-(?:p|v)$/.test(one))) return plain
  return undefined
}

/** Lines that print settings for a shell. */
const shellSettings = new RegExp(
  String.raw`^(?:ssh-agent(?: -[sc])?|dircolors(?: -b)?|brew shellenv|direnv (?:hook|export) \w+|(?:py|rb|nod|j|` +
    String.raw`go|pl|ph)env (?:virtualenv-)?init\b[\w -]*|fnm env[\w -]*|(?:starship|zoxide|atuin|fzf|mcfly|` +
    String.raw`thefuck|oh-my-posh) (?:init|hook|--\w+) ?\w*|mise (?:activate|env)[\w -]*|opam env|` +
    String.raw`conda shell\.\w+ (?:hook|activate)[\w -]*|minikube docker-env|keychain --eval[\w -]*|` +
    String.raw`[\w-]+ completion (?:-s )?\w+)$`
)

/** Programs that print settings for the shell which runs them. */
const setsUpShell = (name: string, args: ReadonlyArray<string>): boolean => {
  const line = [name, ...args].join(" ")
  return shellSettings.test(line)
}

const wordText = (word: Word): Produced => word.fuzzy ? globs([word.text]) : text(word.text)

const producedByPrintf = ([format = "", ...values]: ReadonlyArray<string>): Produced | undefined => {
  if (/^(?:%s ?|%s\\n|%s\\0)$/.test(format) && values.every((one) => !one.includes("\\"))) {
    return text(values.join(format === "%s" ? "" : " "))
  }
  return /[%\\]/.test(format) ? undefined : text(format)
}

const producedByGit = (args: ReadonlyArray<Word>): Produced | undefined => {
  const texts = args.map((word) => word.text)
  if (texts[0] === "grep" && texts.some((one) => /^-\w*l|^--files-with|^--name-only/.test(one))) {
    return texts.some((one) => /^--(?:untr|no-in)/.test(one)) ? undefined : globs(["**/*"])
  }
  if (texts.includes("ls-files")) {
    const others = texts.some((one) => /^-\w*[oi]|^--(?:others|ignored)/.test(one))
    return globs([`**/${others ? anyName : "*"}`])
  }
  if (texts[0] === "rev-parse" && texts.some((one) => /^--(?:show|git|abs)/.test(one))) {
    return texts.includes("--show-toplevel") ? text(".") : undefined
  }
  if (/^(?:diff|status|show)$/.test(texts[0] ?? "")) {
    return texts.some((one) => one.startsWith("--name-only")) ? globs(["**/*"]) : undefined
  }
  return /^(?:rev-parse|describe|branch|symbolic-ref|merge-base|rev-list)$/.test(texts[0] ?? "") ? plain : undefined
}

/** The files that `find` prints: below its folders, with the name that it looks for. */
const producedByFind = (all: ReadonlyArray<Word>): Produced | undefined => {
  if (all.some((one) => /^-(?:printf|fprint|exec|ok|files0)/.test(one.text))) return undefined
  const firstTest = all.findIndex((one) => /^[-(!]/.test(one.text))
  const folders = all.slice(0, firstTest < 0 ? undefined : firstTest)
  if (folders.some(({ dynamic }) => dynamic)) return undefined
  const args = withoutPruned(all)
  const texts = args.map((word) => word.text)
  const hasAlternatives = texts.some((one) => /^(?:-o|-or|,)$/.test(one))
  const names = texts.flatMap((one, index) =>
    /^-i?name$/.test(one) && !/^(?:!|-not)$/.test(texts[index - 1] ?? "") && args[index + 1]?.dynamic === false
      ? [texts[index + 1]!]
      : []
  )
  const given = texts.filter((one) => /^-i?name$/.test(one)).length
  const name = names.length === 1 && given >= 1 && !hasAlternatives ? names[0]! : undefined
  const alternatives = hasAlternatives && names.length === given && names.length > 1 &&
      !texts.some((one) => /^-(?:i?path|i?regex|type|not)$|^!$/.test(one))
    ? names
    : [name ?? anyName]
  const places = folders.length === 0 ? ["."] : folders.map((word) => word.text.replace(/\/+$/, "") || "/")
  return globs([
    ...places.flatMap((place) => alternatives.map((one) => foundBelow(place, one))),
    // `find` also prints the files that a pattern of the shell gives to it.
    ...folders.flatMap(({ fuzzy, text: one }) => fuzzy ? [one] : [])
  ])
}

/** Removes `-name a -prune -o`, where only what follows is printed. */
const withoutPruned = (args: ReadonlyArray<Word>): ReadonlyArray<Word> => {
  const texts = args.map((word) => word.text)
  const end = texts.lastIndexOf("-prune")
  const pruned = texts.slice(0, end)
  const isClosed = pruned.filter((one) => one === "(").length === pruned.filter((one) => one === ")").length
  return end > 0 && isClosed && /^-or?$/.test(texts[end + 1] ?? "") &&
      !pruned.some((one) => /^-(?:print|ls)/.test(one)) &&
      texts.slice(end).some((one) => /^-print0?$/.test(one))
    ? args.slice(end + 2)
    : args
}

/** The paths of a name below a folder. `find` also searches folders whose names begin with a dot. */
export const foundBelow = (folder: string, name: string): string =>
  /^[*?]/.test(name)
    ? `${folder}/**/${name.replace(/^[*?]/, anyName)}`
    : `${folder}/{**,**/${anyName}/**}/${name}`

const producedByLs = (operands: ReadonlyArray<Word>, texts: ReadonlyArray<string>): Produced => {
  const name = texts.some((one) => /^-\w*[aAf]|^--(?:al|almo)/.test(one)) ? anyName : "*"
  if (operands.length === 0) return globs([name])
  return globs(operands.flatMap(({ fuzzy, text: one }) => fuzzy ? [one] : [one, `${one}/${name}`, name]))
}

const producedByGrep = (operands: ReadonlyArray<Word>, texts: ReadonlyArray<string>): Produced | undefined => {
  if (!texts.some((one) => /^-\w*[lL]|^--files-with/.test(one))) return undefined
  const files = operands.slice(1).map(({ text: one }) => one)
  const isRecursive = texts.some((one) => /^-\w*[rR]|^--(?:dere|rec)/.test(one))
  if (!isRecursive) return files.length === 0 ? undefined : globs(files)
  return globs((files.length === 0 ? ["."] : files).map((one) => `${one.replace(/\/+$/, "")}/**/${anyName}`))
}
