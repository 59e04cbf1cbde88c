/** Finds the file that a path leads to, and refuses paths that leave the folder of the tools. */
import * as Effect from "effect/Effect"
import { Minimatch } from "minimatch"
import { lstat, realpath } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { ToolError } from "../ToolError.ts"

/** The folder of file tools. @category models @since 0.1.0 */
export interface FolderOptions {
  /**
   * The folder that the tool cannot leave, absolute or relative to the working folder of the agent. Default: the
   * working folder. Relative paths always start at the working folder, as they do for hooks.
   */
  readonly root?: string
  /**
   * Globs of files that the tool does not read, change, list or search: names at any depth, or paths from the root,
   * such as `private/**`. Upper and lower case are the same. Default: files with keys, which are `.env`, `.env.*`
   * except examples, `*.pem`, `*.key`, `id_rsa` and `id_ed25519`.
   */
  readonly exclude?: ReadonlyArray<string>
}

const secrets: ReadonlyArray<string> = [
  ".env",
  ".env.!(example|sample|template)",
  "*.pem",
  "*.key",
  "id_rsa",
  "id_ed25519"
]

/** A file inside of the folder. */
export interface Place {
  /** The path without symbolic links. */
  readonly path: string
  /** The path relative to the working folder, for messages. */
  readonly shown: string
  /** Whether a path relative to this one is excluded. An empty path is this one. */
  readonly isExcluded: (path: string) => boolean
}

/** Resolves symbolic links, also those in the existing part of a path whose end does not exist yet. */
export const resolvePath = (
  tool: string,
  given: string,
  cwd: string,
  { exclude = secrets, root = "." }: FolderOptions
): Effect.Effect<Place, ToolError> => {
  const fail = (reason: ToolError["reason"], message: string) => Effect.fail(new ToolError({ tool, reason, message }))
  if (given === "" || given.includes("\0")) return fail("arguments", "the path is empty or contains a NUL character")
  if (given.length > maxPathLength) return fail("arguments", `the path has more than ${maxPathLength} characters`)
  if (given.startsWith("~")) {
    return fail("arguments", `write ${given} without ~: use a path from the working folder, or an absolute path`)
  }
  const folder = resolve(cwd, root)
  const full = resolve(cwd, given)
  const patterns = compileExclude(exclude)
  return Effect.gen(function*() {
    const [realRoot, real] = yield* Effect.all([
      Effect.tryPromise({ try: () => realpath(folder), catch: (error) => error }),
      Effect.tryPromise({ try: () => realPath(full), catch: (error) => error })
    ])
    if (real === undefined) return yield* fail("outside", `${given} leads through a symbolic link to a missing file`)
    if (!isInside(realRoot, real)) return yield* fail("outside", `${given} is outside of ${folder}`)
    const fromRoot = relative(realRoot, real).replaceAll(sep, "/")
    const isExcluded = (path: string) => patterns.some((pattern) => fits(pattern, joinPaths(fromRoot, path)))
    if (isExcluded("")) return yield* fail("refused", `${given} is excluded: the tools do not touch such files`)
    return { path: real, shown: shownPath(cwd, full), isExcluded }
  }).pipe(
    Effect.catch((error) =>
      error instanceof ToolError ? Effect.fail(error) : Effect.fail(systemError(tool, given, error))
    )
  )
}

/** Like `resolvePath`, and fails if nothing is there. */
export const resolveExisting = (
  tool: string,
  given: string,
  cwd: string,
  options: FolderOptions
): Effect.Effect<Place, ToolError> =>
  Effect.tap(
    resolvePath(tool, given, cwd, options),
    ({ path, shown }) =>
      Effect.tryPromise({ try: () => lstat(path), catch: (error) => systemError(tool, shown, error) })
  )

/** The path relative to the working folder, with `/`, or the absolute path outside of it. */
export const shownPath = (cwd: string, full: string): string => {
  const short = relative(cwd, full)
  return (short === "" ? "." : short.startsWith("..") || isAbsolute(short) ? full : short).replaceAll(sep, "/")
}

/** Describes an error of the file system without a stack. */
export const systemError = (tool: string, given: string, error: unknown): ToolError => {
  const code = String(Object(error).code ?? "")
  const known: { readonly [code: string]: readonly [ToolError["reason"], string] } = {
    ENOENT: ["missing", "does not exist"],
    ENOTDIR: ["missing", "does not exist: a part of its path is a file"],
    EISDIR: ["content", "is a folder"],
    ELOOP: ["outside", "leads through symbolic links in a circle"],
    EACCES: ["failed", "cannot be opened: permission denied"],
    ENAMETOOLONG: ["arguments", "has a name that is too long"]
  }
  const [reason, text] = Object.hasOwn(known, code) ? known[code]! : ["failed" as const, `failed (${code || "error"})`]
  return new ToolError({ tool, reason, message: `${given} ${text}` })
}

const maxPathLength = 4_096

const compiled = new WeakMap<ReadonlyArray<string>, ReadonlyArray<Minimatch>>()

const compileExclude = (globs: ReadonlyArray<string>): ReadonlyArray<Minimatch> => {
  const known = compiled.get(globs)
  if (known !== undefined) return known
  const options = { dot: true, nocase: true, matchBase: true, nocomment: true, nonegate: true }
  const made = globs.map((glob) => new Minimatch(glob.replace(/^\.?\//, ""), options))
  compiled.set(globs, made)
  return made
}

/** A glob that fits a folder fits everything below it. */
const fits = (pattern: Minimatch, path: string): boolean =>
  path.split("/").some((_name, index, names) => pattern.match(names.slice(0, index + 1).join("/")))

const joinPaths = (parent: string, path: string): string =>
  parent === "" ? path : path === "" ? parent : `${parent}/${path}`

const isInside = (root: string, path: string): boolean => {
  const rest = relative(root, path)
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest))
}

/** Returns nothing for a link whose target does not exist, because a file would be created wherever it leads. */
const realPath = async (path: string): Promise<string | undefined> => {
  const found = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    return Promise.reject(error)
  })
  if (found !== undefined) return found
  const isLink = await lstat(path).then(() => true, () => false)
  if (isLink) return undefined
  const parent = await realPath(dirname(path))
  return parent === undefined ? undefined : join(parent, basename(path))
}
