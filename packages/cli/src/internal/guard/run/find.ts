/** Finds the config of a guard, and checks that a person has trusted it. */
import { folder as trustIn } from "@belay/hook-files/TrustStore"
import { existsSync, realpathSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { type Covered, coveredBy } from "./covered.ts"
import type { Places } from "./places.ts"
import { Refusal } from "./refusal.ts"

/** The names of a config, in the order in which they are looked for. */
export const names: ReadonlyArray<string> = ["belay.guard.ts", "belay.guard.js", "belay.guard.json"]

/** Returns the config of a folder: in it, in a folder above it, or in the home folder. */
export const findConfig = (cwd: string, home: string): string | undefined => {
  for (let folder = resolve(cwd);; folder = dirname(folder)) {
    const found = names.map((name) => join(folder, name)).find((path) => existsSync(path))
    if (found !== undefined) return found
    if (folder === dirname(folder)) break
  }
  return names.map((name) => join(home, name)).find((path) => existsSync(path))
}

/** Returns the config with its files, if it may run. Throws a `Refusal` that says how to change that. */
export const trustedConfig = (given: string | undefined, cwd: string, places: Places): Covered => {
  const path = given === undefined ? findConfig(cwd, places.home) : resolve(cwd, given)
  if (path === undefined) {
    throw new Refusal(`there is no ${names.join(", ")} in ${cwd} or above it: run \`belay guard init\` there`)
  }
  if (!existsSync(path)) throw new Refusal(`there is no file ${path}`)
  const covered = coveredBy(path)
  if (isTrusted(covered, places, cwd)) return covered
  throw new Refusal(
    isOfHome(covered, places)
      ? `${path} may have come with the project, because the project is your home folder, where nobody can trust it: ` +
        "work in another folder, or set HOME to another one"
      : `nobody has trusted ${path} as it is now: read it, then run \`belay guard trust ${quoted(dirname(path))}\``
  )
}

/**
 * Whether a person has decided that exactly this config may run. A config in the home folder is the user's own, if the
 * agent works elsewhere or in a folder of it.
 */
export const isTrusted = (covered: Covered, places: Places, cwd: string): boolean =>
  (isOfHome(covered, places) && !contains(cwd, places.home)) ||
  trustIn(places.trust).isTrusted(dirname(covered.path), covered.fingerprint)

const isOfHome = ({ path }: Covered, { home }: Places): boolean => real(dirname(path)) === real(home)

/** Whether a folder is another one, or contains it. */
const contains = (outer: string, inner: string): boolean => {
  const way = relative(real(outer), real(inner))
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const real = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const quoted = (path: string): string => /^[\w@%+=:,./-]+$/.test(path) ? path : JSON.stringify(path)
