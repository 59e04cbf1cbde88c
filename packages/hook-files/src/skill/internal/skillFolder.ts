/** The files of a skill: which there are, in which state, and what a model may read of them. */
import * as Result from "effect/Result"
import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs"
import { join } from "node:path"
import { isInside, read, real, sha256 } from "../../internal/files.ts"
import { isKept } from "../../trust/internal/kinds.ts"
import { withoutHidden } from "./hidden.ts"

/** The files below a folder, by their path with `/`, and the state of each. */
export type SkillTree = ReadonlyMap<string, string>

const maxFiles = 1_000
const maxDepth = 16
/** Larger files are not read. Their state is the data of the file system. */
const maxHashed = 16_777_216
/** The most bytes of a resource that a model reads. */
const maxResource = 262_144

/** A file that changed within so many milliseconds is read again, because times of files are coarse. */
const settling = 2_000

/** Reads the states of the files of one skill, and reads again only what may have changed. */
export const makeReader = (root: string): () => SkillTree => {
  const known = new Map<string, { readonly key: string; readonly state: string }>()
  const stateOf = (path: string, stat: Stats): string => {
    if (stat.isSymbolicLink()) {
      const way = isInside(real(root), real(path)) ? "link to" : "link out to"
      return `${way} ${Result.getOrElse(Result.try(() => readlinkSync(path)), () => "?")}`
    }
    if (!stat.isFile()) return "not a regular file"
    const { ctimeMs, dev, ino, mode, mtimeMs, size } = stat
    const key = `${dev} ${ino} ${mode} ${size} ${mtimeMs} ${ctimeMs}`
    if (size > maxHashed) return `large ${key}`
    const before = known.get(path)
    if (before?.key === key && new Date().getTime() - ctimeMs > settling) return before.state
    const content = read(path, maxHashed)
    if (content === "absent" || "problem" in content) return content === "absent" ? content : content.problem
    const state = `${content.mode.toString(8)} ${sha256(content.bytes)}`
    known.set(path, { key, state })
    return state
  }
  return () => {
    const found = new Map<string, string>()
    const walk = (folder: string, prefix: string, depth: number): void => {
      const names = Result.getOrElse(Result.try(() => readdirSync(folder)), (): Array<string> => []).sort()
      for (const name of names) {
        const path = join(folder, name)
        const shown = `${prefix}${name}`
        const stat = Result.getOrUndefined(Result.try(() => lstatSync(path)))
        if (stat === undefined) continue
        if (found.size >= maxFiles) return void found.set(tooMany, "the skill has too many files")
        if (!stat.isDirectory()) found.set(shown, stateOf(path, stat))
        else if (isKept(name)) continue
        else if (depth >= maxDepth) found.set(shown, "a folder that is too deep")
        else walk(path, `${shown}/`, depth + 1)
      }
    }
    walk(root, "", 1)
    return found
  }
}

/** The name of the entry that a folder with too many files has. No file has it. */
const tooMany = "\0"

/** Returns why a decision about a folder would not cover what the skill can use. */
export const whyUncovered = (tree: SkillTree): string | undefined => {
  if (tree.has(tooMany)) return `it has more than ${maxFiles} files`
  const link = [...tree].find(([, state]) => state.startsWith("link out"))?.[0]
  return link === undefined ? undefined : `${withoutHidden(link)} is a link that leads out of its folder`
}

/** Whether the state is that of a regular file whose content was read. */
const isHashed = (state: string): boolean => /^\d+ [0-9a-f]{64}$/.test(state)

/** The files that a model may ask for, without the `SKILL.md`. */
export const resourcesOf = (tree: SkillTree): ReadonlyArray<string> =>
  [...tree].flatMap(([path, state]) => isHashed(state) && path !== "SKILL.md" ? [path] : [])

/** The text of a resource, or why there is none. */
export type Resource = { readonly text: string } | { readonly problem: string }

/**
 * Reads a resource of a skill. The path is one of the tree, so it cannot lead out of the folder. What is returned is
 * what was checked: its bytes have the state of the tree, whatever happens to the file meanwhile.
 */
export const readResource = (root: string, path: string, tree: SkillTree): Resource => {
  const state = tree.get(path.replace(/^\.\//, ""))
  if (state === undefined) {
    const files = resourcesOf(tree)
    const some = files.slice(0, 20).join(", ")
    return {
      problem: `the skill has no file ${JSON.stringify(path.slice(0, 200))}: ` +
        (files.length === 0 ? "it has no resources" : `it has ${some}${files.length > 20 ? ", …" : ""}`)
    }
  }
  if (!isHashed(state)) {
    const what = state.startsWith("large") ? "is too large to read" : state.startsWith("link") ? "is a link" : state
    return { problem: `${path} ${what === state ? `cannot be read: ${state}` : `${what}, and is not read`}` }
  }
  const full = join(root, path)
  if (real(full) !== join(real(root), path.replace(/^\.\//, ""))) {
    return { problem: `${path} leads through a link, and is not read` }
  }
  const content = read(full, maxResource)
  if (content === "absent") return { problem: `${path} does not exist any more` }
  if ("problem" in content) {
    return {
      problem: content.problem.startsWith("is larger")
        ? `${path} has more than ${maxResource} bytes: use it with a tool that reads parts of files`
        : `${path} cannot be read: ${content.problem}`
    }
  }
  if (`${content.mode.toString(8)} ${sha256(content.bytes)}` !== state) {
    return { problem: `${path} changed while it was read: try again` }
  }
  return content.bytes.includes(0)
    ? { problem: `${path} is not a text: use it with a script of the skill` }
    : { text: content.bytes.toString("utf8") }
}
