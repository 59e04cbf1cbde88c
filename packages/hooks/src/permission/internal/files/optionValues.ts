/** Separates the options of a command from its operands, and finds the files among the values of options. */
import type { Word } from "../syntax/shellSyntax.ts"
import { type FileOptions, usualOptions } from "./fileTable.ts"

/** A word without anything that the shell replaces. */
export const wordOf = (text: string): Word => ({ text, dynamic: false, fuzzy: false })

/** The end of a word: the value of an option that is written in one word. */
export const endOf = (word: Word, value: string): Word => ({
  text: value,
  dynamic: word.dynamic && value.includes("$"),
  fuzzy: word.fuzzy,
  ...(word.glob === undefined ? {} : { glob: word.glob.slice(word.text.length - value.length) })
})

/** The operands of a command, and the files that its options name. */
export interface ValueFiles {
  readonly operands: ReadonlyArray<Word>
  readonly reads: ReadonlyArray<Word>
  readonly writes: ReadonlyArray<Word>
}

type Role = "read" | "write" | "both" | "other" | "pairs"

/** Finds the files in the values of options. Long options may be shortened. A value that no option takes is read. */
export const valueFiles = (args: ReadonlyArray<Word>, options: FileOptions, program: string): ValueFiles => {
  const roles = rolesOf(options)
  const found = { operands: new Array<Word>(), reads: new Array<Word>(), writes: new Array<Word>() }
  const put = (role: Role, word: Word): void => {
    // `openssl -passin file:secret`
    if (role === "read" || role === "both") found.reads.push(endOf(word, word.text.replace(/^file:/, "")))
    if (role === "write" || role === "both") found.writes.push(word)
  }
  let isOption = true
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    const { text } = word
    if (!isOption || !/^-./.test(text)) {
      found.operands.push(...operandValues(word))
      continue
    }
    if (text === "--") {
      isOption = false
      continue
    }
    const [, name = "", value] = /^(--?[\w-]+)(?:=([\s\S]*))?$/.exec(text) ?? []
    const role = roleOf(roles, name, program)
    if (value !== undefined) put(role ?? "read", endOf(word, value))
    else if (role === "pairs") at += 2
    else if (role !== undefined) {
      const next = args[at + 1]
      if (next !== undefined) put(role, next)
      // Of a program that is not in the table, the next word may be an operand as well.
      if (options !== usualOptions) at++
    } else if (!text.startsWith("--")) {
      const attached = attachedValue(roles, text)
      if (attached !== undefined) put(attached[0], endOf(word, attached[1]))
    }
  }
  return found
}

/** `@file`, `name@file` and `name=@file` name files too. */
const operandValues = (word: Word): ReadonlyArray<Word> => {
  const [, value] = /^(?:[\w.-]+(?::?=)?)?@([\w./~][\s\S]*)$/.exec(word.text) ?? []
  const [, named] = /^(?:-?-?[\w.-]+)=([\s\S]+)$/.exec(word.text) ?? []
  return [
    word,
    ...(value === undefined ? [] : [endOf(word, value)]),
    ...(named === undefined ? [] : [endOf(word, named)])
  ]
}

const roleCache = new WeakMap<FileOptions, ReadonlyMap<string, Role>>()

const rolesOf = (options: FileOptions): ReadonlyMap<string, Role> => {
  const cached = roleCache.get(options)
  if (cached !== undefined) return cached
  const roles = new Map<string, Role>()
  for (const role of ["other", "pairs", "read", "write"] as const) {
    for (const name of (options[role] ?? "").split(" ")) {
      if (name !== "") roles.set(name, role === "write" && roles.get(name) === "read" ? "both" : role)
    }
  }
  roleCache.set(options, roles)
  return roles
}

const roleOf = (roles: ReadonlyMap<string, Role>, name: string, program: string): Role | undefined => {
  const exact = roles.get(name)
  if (exact !== undefined) return exact
  if (name.startsWith("--")) {
    if (name.length < 5) return undefined
    for (const [option, role] of roles) if (option.startsWith(name)) return role
    return undefined
  }
  // The last letter of a group may take a value: `-so file`. Some programs have long names after one dash.
  if (
    /^(?:openssl|terraform|tofu|gcc|g\+\+|cc|clang|rustc|ld|go|java|javac|keytool|find|ffmpeg|convert)$/.test(program)
  ) return undefined
  return name.length > 2 && /^-[a-zA-Z]+$/.test(name) ? roles.get(`-${name.at(-1)!}`) : undefined
}

/** The value that follows the letter of an option in the same word: `-ofile`, `-qOfile`. */
const attachedValue = (roles: ReadonlyMap<string, Role>, text: string): readonly [Role, string] | undefined => {
  for (let index = 1; index < text.length && index < 6; index++) {
    const role = roles.get(`-${text[index]!}`)
    const value = text.slice(index + 1)
    if (role !== undefined && value !== "") return [role, value]
    if (!/\w/.test(text[index]!)) break
  }
  const [, path] = /^-[a-zA-Z]+?(@?[./~][\s\S]*)$/.exec(text) ?? []
  return path === undefined ? undefined : ["read", path.replace(/^@/, "")]
}

/** The file that a source becomes inside of a target folder. */
export const fileBelow = (target: Word, source: Word): Word => {
  const last = source.text.replace(/\/+$/, "")
  return {
    text: `${target.text}/${source.text.slice(last.lastIndexOf("/") + 1).replace(/^[\w.@-]+:/, "")}`,
    dynamic: source.dynamic || target.dynamic,
    fuzzy: source.fuzzy || target.fuzzy
  }
}
