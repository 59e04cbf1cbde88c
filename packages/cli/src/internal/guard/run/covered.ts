/**
 * Reads the config of a guard with all files that it imports. A decision about the config covers exactly these bytes.
 */
import { hash } from "node:crypto"
import { readFileSync, realpathSync, statSync } from "node:fs"
import { dirname, relative, resolve } from "node:path"
import { Refusal } from "./refusal.ts"

/** What a config consists of. */
export interface Covered {
  readonly path: string
  /** The file that runs: where the config is a symbolic link, what the link points to. */
  readonly entry: string
  /** The text of each file, by its path without symbolic links. */
  readonly files: ReadonlyMap<string, string>
  /** The names that are imported from each package, or `all`. */
  readonly packages: ReadonlyMap<string, ReadonlySet<string> | "all">
  /** Identifies the content, as a part of a decision of trust. */
  readonly fingerprint: string
}

const maxFiles = 200
const maxBytes = 1_048_576

/** Reads a config and the files that it imports by relative paths. Throws a `Refusal` if one cannot be read. */
export const coveredBy = (path: string): Covered => {
  const files = new Map<string, string>()
  const packages = new Map<string, Set<string> | "all">()
  const entry = realOf(path)
  const waiting = [entry]
  const absent: Array<string> = []
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue
    if (files.size === maxFiles) throw new Refusal(`${path} imports more than ${maxFiles} files`)
    const text = readText(file, file === entry)
    if (text === undefined) {
      absent.push(file)
      continue
    }
    files.set(file, text)
    if (file.endsWith(".json")) continue
    for (const { names, specifier } of importsIn(text)) {
      if (/^\.{0,2}\//.test(specifier)) waiting.push(realOf(resolve(dirname(file), specifier)))
      else add(packages, specifier, names)
    }
  }
  const list = [
    ...[...files].map(([file, text]) => [relative(dirname(entry), file), hash("sha256", text)]),
    ...absent.map((file) => [relative(dirname(entry), file), "absent"])
  ]
  const sorted = list.sort(([one = ""], [other = ""]) => one < other ? -1 : 1)
  return { path, entry, files, packages, fingerprint: `guard:${hash("sha256", JSON.stringify(sorted))}` }
}

/** Node runs a file under its path without symbolic links. */
const realOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** What looks like an import may stand in a comment, so only the config itself must exist. */
const readText = (file: string, isRequired: boolean): string | undefined => {
  try {
    const stat = statSync(file, { throwIfNoEntry: isRequired })
    if (stat === undefined) return undefined
    if (!stat.isFile()) {
      if (!isRequired) return undefined
      throw new Refusal(`${file} is not a file`)
    }
    if (stat.size > maxBytes) throw new Refusal(`${file} has more than ${maxBytes} bytes`)
    return readFileSync(file, "utf8")
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(`${file} cannot be read: ${String(Object(error).message)}`)
  }
}

interface Import {
  readonly specifier: string
  readonly names: ReadonlyArray<string> | "all"
}

/** Finds imports. What it does not find cannot be imported later either. */
const importsIn = (text: string): ReadonlyArray<Import> => {
  const found: Array<Import> = []
  for (const match of text.matchAll(/\b(?:import|export)\b([^"';=()]*?)\bfrom\s*(["'])([^"'\n]+)\2/g)) {
    const [, clause = "", , specifier = ""] = match
    if (/^\s*type\s+[\w{*]/.test(clause) && !/^\s*type\s+from\b/.test(clause)) continue
    found.push({ specifier, names: namesIn(clause) })
  }
  for (const [, , specifier = ""] of text.matchAll(/\bimport\s*(["'])([^"'\n]+)\1/g)) {
    found.push({ specifier, names: [] })
  }
  for (const [, , specifier = ""] of text.matchAll(/\b(?:import|require)\s*\(\s*(["'])([^"'\n]+)\1/g)) {
    found.push({ specifier, names: "all" })
  }
  return found
}

const namesIn = (clause: string): ReadonlyArray<string> | "all" => {
  const inside = /^\s*\{([^}]*)\}\s*$/.exec(clause)?.[1]
  if (inside === undefined) return "all"
  const names = inside.split(",").map((one) => one.trim()).filter((one) => one !== "" && !one.startsWith("type "))
  return names.map((one) => one.split(/\s+as\s+/)[0]!)
}

const add = (
  packages: Map<string, Set<string> | "all">,
  specifier: string,
  names: ReadonlyArray<string> | "all"
): void => {
  const before = packages.get(specifier)
  if (names === "all" || before === "all") return void packages.set(specifier, "all")
  packages.set(specifier, new Set([...before ?? [], ...names]))
}
