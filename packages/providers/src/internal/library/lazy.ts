/**
 * Libraries that few programs need. Each is loaded when it is used for the first time. Bundlers take the other files of
 * this folder, because they do not follow a `require`.
 */
import { createRequire } from "node:module"

const load = createRequire(import.meta.url)

const once = <A>(library: () => A): () => A => {
  let loaded: A | undefined
  return () => loaded ??= library()
}

export const jsonrepair = once(() => load("jsonrepair") as typeof import("jsonrepair"))
export const tokenx = once(() => load("tokenx") as typeof import("tokenx"))
