/** A config without code: a list of ready hooks as JSON. */
import type { AgentHook } from "@belay/core/AgentHook"
import { nearest } from "@belay/core/NamePattern"
import { modules } from "./modules.ts"
import { messageOf, Refusal } from "./refusal.ts"

/** Makes what a module would export. */
export const readJson = async (path: string, text: string): Promise<object> => {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""))
  } catch (error) {
    throw new Refusal(`${path} is not JSON: ${messageOf(error)}`)
  }
  const options: object = Array.isArray(value) ? { hooks: value } : Object(value) as object
  const { hooks, ...rest } = options as { readonly hooks?: unknown }
  if (!Array.isArray(hooks)) {
    throw new Refusal(`${path} has no list of hooks, such as ["ProtectedPaths", "LoopDetector"]`)
  }
  const made = await Promise.all(hooks.map((one, index) => hookOf(path, one, index)))
  return { ...rest, hooks: made.flat() }
}

/** A ready hook by its name, or an object with its name as `hook` and its options. */
const hookOf = async (path: string, given: unknown, index: number): Promise<ReadonlyArray<AgentHook>> => {
  const { hook, ...options } = typeof given === "string"
    ? { hook: given }
    : Object(given) as { readonly hook?: unknown }
  if (typeof hook !== "string") throw new Refusal(`${path}: hooks[${index}] has no name, such as "ProtectedPaths"`)
  const [name = "", variant = name === "Hooks" ? "safeDefaults" : "make"] = hook.split(".")
  const module = Object.hasOwn(modules, `@belay/hooks/${name}`)
    ? await modules[`@belay/hooks/${name}`]!()
    : undefined
  const make: unknown = module === undefined || !Object.hasOwn(module, variant) ? undefined : module[variant]
  if (typeof make !== "function") {
    const near = nearest(name, Object.keys(modules).flatMap((one) => /^@belay\/hooks\/(.+)$/.exec(one)?.[1] ?? []))
    throw new Refusal(
      `${path}: there is no ready hook "${hook.slice(0, 80)}"${near === undefined ? "" : `; did you mean "${near}"?`}`
    )
  }
  try {
    const hooks: unknown = (make as (options: object) => unknown)(options)
    // The hooks of the package are hooks.
    return [hooks].flat() as ReadonlyArray<AgentHook>
  } catch (error) {
    throw new Refusal(`${path}: hooks[${index}]: ${messageOf(error)}`)
  }
}
