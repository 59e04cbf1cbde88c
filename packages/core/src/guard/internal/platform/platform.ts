/**
 * Reads facts about the process of the agent. A browser has no process, and Deno may forbid to read the environment and
 * the folder; then the default is used. Nobody is asked for a permission.
 */
import * as Result from "effect/Result"

/** Whether this is production. Values for hooks are not frozen in production. */
export const isProduction = (): boolean =>
  isGranted({ name: "env", variable: "NODE_ENV" }) &&
  attempt(() => globalThis.process?.env?.NODE_ENV) === "production"

/** The folder in which the program runs. */
export const workingFolder = (): string =>
  (isGranted({ name: "read", path: "." }) ? attempt(() => globalThis.process?.cwd?.()) : undefined) ?? "."

/**
 * Loads a package that the program may have installed, or returns nothing. It is looked up from the program and from
 * here. A browser loads nothing.
 */
export const loadOptional = (name: string): unknown => {
  const createRequire = attempt(() => globalThis.process?.getBuiltinModule?.("node:module").createRequire)
  if (createRequire === undefined || !isGranted({ name: "read", path: "." })) return undefined
  const places = [globalThis.process.argv[1], import.meta.url]
  return places.map((from) => from && attempt(() => createRequire(from)(name) as unknown)).find(Boolean)
}

/**
 * Runs a function outside of the asynchronous context (`AsyncLocalStorage`) of its caller, so that what it starts does
 * not keep the caller's values in memory. Without Node's module it just runs the function.
 */
export const outsideOfCaller = (): <A>(run: () => A) => A =>
  attempt(() => globalThis.process?.getBuiltinModule?.("node:async_hooks").AsyncLocalStorage.snapshot()) ??
    ((run) => run())

const attempt = <A>(read: () => A): A | undefined => Result.getOrElse(Result.try(read), () => undefined)

/** The part of Deno that knows its permissions. */
interface Deno {
  readonly permissions?: { readonly querySync?: (permission: Permission) => { readonly state: string } }
}

type Permission =
  | { readonly name: "env"; readonly variable: string }
  | { readonly name: "read"; readonly path: string }

/** Whether the program may read this. Without the check, Deno would ask the user in a terminal, and fail elsewhere. */
const isGranted = (permission: Permission): boolean => {
  // Only Deno has this global.
  const { permissions } = (globalThis as { readonly Deno?: Deno }).Deno ?? {}
  return permissions?.querySync === undefined ||
    attempt(() => permissions.querySync!(permission).state) === "granted"
}
