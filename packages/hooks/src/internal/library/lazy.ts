/**
 * Libraries that few programs need. Each is loaded when the first hook is made that needs it. Bundlers take the other
 * files of this folder, because they do not follow a `require`.
 */
import { createRequire } from "node:module"

const load = createRequire(import.meta.url)

const once = <A>(library: () => A): () => A => {
  let loaded: A | undefined
  return () => loaded ??= library()
}

export const jmespath = once(() =>
  load("@jmespath-community/jmespath") as typeof import("@jmespath-community/jmespath")
)
export const minimatch = once(() => load("minimatch") as typeof import("minimatch"))
export const re2js = once(() => load("re2js") as typeof import("re2js"))
