/** Which files the commands of a line read and write, and where they stand when they do. */
import { copiers, inert, interpreters, shells, speakers, writers } from "./names.ts"
import { memoOf, type PathGlob, type Place, spellings } from "./paths.ts"
import type { Command, Decomposed, Word } from "./shell.ts"

/** A word that names a file. */
interface Touch {
  readonly word: Word
  /** `maybe`: by a program that nobody knows. */
  readonly how: "read" | "write" | "maybe"
  /** What is below it is touched too. */
  readonly deep: boolean
}

/** What a rule finds out about a call. */
export type Verdict = "match" | "no-match" | "unknown"

const maxFolders = 16

/** Most words that are looked up; more of them cannot be told in time. */
const maxLooks = 1_024

/**
 * Whether a line reads or writes a file that a glob matches. `sure` leaves out what programs that nobody knows are
 * told.
 */
export const touches = (
  line: Decomposed,
  how: "read" | "write",
  glob: PathGlob,
  place: Place,
  sure = false
): Verdict => {
  const [folders, lost] = foldersOf(line, place)
  let verdict: Verdict = line.unknown === undefined ? "no-match" : "unknown"
  const fed = line.commands.some(({ name, wraps }) => wraps && /^g?(?:xargs|find)$|^(?:parallel|fd|fdfind)$/.test(name))
  let looked = 0
  for (const command of line.commands) {
    if (fed && command.via === "wrapped" && (how === "write" ? writers.has(command.name) : inert.has(command.name))) {
      verdict = "unknown"
    }
    for (const touch of touchesOf(command)) {
      if (touch.how !== how && (sure || touch.how !== "maybe")) continue
      looked += touch.word.fuzzy ? 16 : 1
      if (looked > maxLooks) return "unknown"
      const found = one(touch, glob, place, folders, lost)
      if (found === "match" && touch.how === how && command.via !== "guess") return "match"
      if (found !== "no-match") verdict = "unknown"
    }
  }
  return verdict
}

const one = (
  { deep, how, word }: Touch,
  glob: PathGlob,
  place: Place,
  folders: ReadonlyArray<string>,
  lost: boolean
): Verdict => {
  const { dynamic, fuzzy, text } = word
  if (dynamic) return how === "maybe" ? "no-match" : "unknown"
  if (lost && !/^[/~]/.test(text)) return "unknown"
  if (fuzzy) return glob.meets(text, place, folders) ? "unknown" : "no-match"
  const paths = spellings(text, place, folders)
  if (paths === undefined) return text === "" ? "no-match" : "unknown"
  return paths.some((path) => glob.test(path, place, "anywhere") || (deep && glob.below(path, place)))
    ? "match"
    : "no-match"
}

/** Every folder the line may be in, and whether it goes where nobody knows. */
const foldersOf = (line: Decomposed, place: Place): readonly [ReadonlyArray<string>, boolean] => {
  const memo = memoOf(place)
  if (memo?.visited?.line === line) return memo.visited.found
  const found = folders(line, place)
  if (memo !== undefined) memo.visited = { line, found }
  return found
}

const folders = ({ commands }: Decomposed, place: Place): readonly [ReadonlyArray<string>, boolean] => {
  let all: ReadonlyArray<string> = [place.cwd]
  let lost = false
  const enter = (word: Word | undefined): void => {
    if (word === undefined) all = [...all, place.home]
    else if (word.dynamic || word.fuzzy || all.length > maxFolders) lost = true
    else if (word.text !== "-") {
      all = [...new Set([...all, ...spellings(word.text, { ...place, ignoreCase: false }, all) ?? []])]
    }
  }
  for (const { name, words } of commands) {
    const args = words.slice(1)
    if (name === "cd" || name === "pushd" || name === "chdir") enter(args.find(({ text }) => !/^-\w/.test(text)))
    args.forEach(({ dynamic, fuzzy, text }, index) => {
      if (
        (text === "-C" || text === "--directory" || text === "--chdir" || text === "--prefix") &&
        args[index + 1] !== undefined
      ) {
        enter(args[index + 1])
      }
      const [, value] = /^(?:--directory|--chdir|--prefix|--git-dir|--work-tree)=([\s\S]*)$/.exec(text) ?? []
      if (value !== undefined) enter({ text: value, dynamic, fuzzy })
    })
  }
  return [all, lost]
}

const harmless = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+|zero|u?random)$/

const touchesOf = (command: Command): ReadonlyArray<Touch> => {
  const known = touched.get(command)
  if (known !== undefined) return known
  const found = touchedBy(command)
  touched.set(command, found)
  return found
}

const touched = new WeakMap<Command, ReadonlyArray<Touch>>()

const touchedBy = (command: Command): ReadonlyArray<Touch> => {
  const found: Array<Touch> = []
  const add = (word: Word, how: Touch["how"], deep = false) => {
    if (!harmless.test(word.text)) found.push({ word, how, deep })
  }
  for (const { op, target } of command.redirects) {
    if (op !== "<") add(target, "write")
    if (op === "<" || op === "<>") add(target, "read")
  }
  const { standard, words, wraps } = command
  // A program of one's own is not what it is called.
  const name = standard || writers.has(command.name) ? command.name : "./"
  if (command.name === "" || speakers.has(name)) return found
  const args = words.slice(1)
  if (wraps && !/^g?find$|^fd(?:find)?$/.test(name)) {
    if (shells.has(name) || interpreters.has(name) || name === "source" || name === ".") {
      for (const word of operandsOf(args)) add(word, "read")
    }
    return found
  }
  const texts = args.map(({ text }) => text)
  const operands = operandsOf(args)
  const values = valuesOf(args)
  const both = (words: ReadonlyArray<Word>, how: Touch["how"], deep = false) =>
    words.forEach((word) => add(word, how, deep))
  if (name === "dd") {
    for (const word of args) {
      const [, key, value] = /^(if|of)=([\s\S]*)$/.exec(word.text) ?? []
      if (value !== undefined) add({ ...word, text: value }, key === "of" ? "write" : "read")
    }
  } else if (copiers.has(name) || /^g?mv$/.test(name)) {
    const moves = /^g?mv$/.test(name)
    const into = texts.some((text) => /^-[a-zA-Z]*t|^--target/.test(text))
    const last = operands.at(-1)
    both(operands, "read", recursive(texts))
    both(
      into || moves ? [...operands, ...values] : last === undefined ? [] : [last],
      "write",
      moves || texts.includes("--delete")
    )
    const targets = into ? [...operands, ...values] : last === undefined ? [] : [last]
    for (const target of targets) {
      for (const source of operands.slice(0, into ? undefined : -1)) {
        if (source === target) continue
        add(
          {
            text: `${target.text}/${source.text.slice(source.text.replace(/\/+$/, "").lastIndexOf("/") + 1)}`,
            dynamic: source.dynamic || target.dynamic,
            fuzzy: source.fuzzy || target.fuzzy
          },
          "write"
        )
      }
    }
  } else if (/^g?sed$|^perl$/.test(name)) {
    both(operands, texts.some((text) => /^-[a-zA-Z]*i|^--in-place/.test(text)) ? "write" : "read")
    both(operands, "read")
  } else if (name === "prettier" || name === "eslint") {
    both(operands, texts.some((text) => /^(?:--write|--fix|-w)$/.test(text)) ? "write" : "read")
  } else if (name === "find" || name === "gfind" || name === "fd" || name === "fdfind") {
    const changes = wraps || texts.some((text) => /^-(?:delete|fprint|fls|fprintf)/.test(text))
    const end = texts.findIndex((text) => /^[-(!]/.test(text))
    const where = args.slice(0, end < 0 ? undefined : end)
    both(where.length > 0 ? where : [{ text: ".", dynamic: false, fuzzy: false }], "read", true)
    if (changes) {
      both([...(where.length > 0 ? where : [{ text: ".", dynamic: false, fuzzy: false }]), ...operands], "write", true)
    }
  } else if (name === "git") {
    const changes = texts.some((text) => /^(?:checkout|restore|clean|rm|mv|apply|am|switch|stash)$/.test(text))
    both([...operands, ...values], "read")
    if (changes) both([...operands, ...values], "write", texts.includes("rm") || texts.includes("mv"))
    if (texts.includes("clean")) add({ text: ".", dynamic: false, fuzzy: false }, "write", true)
  } else if (name === "curl" || name === "wget") {
    args.forEach((word, index) => {
      const before = texts[index - 1] ?? ""
      const [, glued] = /^-[oOPDc](\S+)$/.exec(word.text) ?? []
      if (
        /^(?:-[a-zA-Z]*[oOPDc]|--output|--output-document|--output-dir|--directory-prefix|--dump-header|--cookie-jar)$/
          .test(before)
      ) {
        add(word, "write")
      }
      if (glued !== undefined) add({ ...word, text: glued }, "write")
      if (/^--(?:output|directory|dump|cookie)[\w-]*=/.test(word.text)) {
        add({ ...word, text: word.text.slice(word.text.indexOf("=") + 1) }, "write")
      } else if (!word.text.includes("://")) {
        const at = word.text.lastIndexOf("@")
        if (at >= 0) add({ ...word, text: word.text.slice(at + 1) }, "read")
        if (/^(?:-T|--upload-file|-K|--config|-E|--cert|--key|-i|--input-file|--post-file)$/.test(before)) {
          add(word, "read")
        }
      } else if (/^file:/i.test(word.text)) add(word, "read")
    })
  } else if (writers.has(name)) {
    const deep = /^(?:g?rm|srm|chmod|chown|chgrp|chattr|setfacl|trash)$/.test(name)
    both([...operands, ...values], "write", deep)
    if (!/^(?:g?rm|rmdir|unlink|touch|g?tee|mkdir|chmod|chown)$/.test(name)) {
      both([...operands, ...values], "read", recursive(texts) || name === "tar")
    }
  } else if (inert.has(name)) {
    both([...operands, ...values], "read", recursive(texts))
    args.forEach((word, index) => {
      if (/^(?:-o|--output|--outfile|--out)$/.test(texts[index - 1] ?? "") && !/grep$|^rg$|^ag$/.test(name)) {
        add(word, "write")
      }
      const [, value] = /^--out\w*=([\s\S]*)$/.exec(word.text) ?? []
      if (value !== undefined) add({ ...word, text: value }, "write")
    })
    if (texts.some((text) => /^(?:-i|--inplace|--in-place)$/.test(text)) && name === "yq") both(operands, "write")
  } else if (command.via === "plain") {
    both(values, "read")
    both(operands, "maybe")
  }
  return found
}

const recursive = (texts: ReadonlyArray<string>): boolean =>
  texts.some((text) => /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive|dereference-recursive)$/.test(text))

const operandsOf = (args: ReadonlyArray<Word>): ReadonlyArray<Word> => args.filter(({ text }) => !text.startsWith("-"))

/** What stands in one word with an option: `--file=x`, `-C/x`, `@x`. */
const valuesOf = (args: ReadonlyArray<Word>): ReadonlyArray<Word> =>
  args.flatMap((word) => {
    const [, value] = /^(?:--?[\w-]+=|-[a-zA-Z](?=[./~])|@)([\s\S]+)$/.exec(word.text) ?? []
    return value === undefined ? [] : [{ ...word, text: value }]
  })
