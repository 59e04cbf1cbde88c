/** Finds an entry in its file by its key. The decoded entry no longer has misspelt keys. */
import * as Result from "effect/Result"
import { findNodeAtLocation, getNodeValue, parseTree } from "jsonc-parser"
import { parse as parseToml } from "smol-toml"
import { parse as parseYaml } from "yaml"

/** A parsed file. */
export interface Raw {
  /** Returns the value at a key such as `hooks.Stop[0].hooks[1]`. */
  readonly at: (key: string) => unknown
  /** Returns the line of a key from 1, if the format allows it. */
  readonly line: (key: string) => number | undefined
}

export const read = (path: string, text: string): Raw => {
  if (path.endsWith(".toml")) return parseRaw(() => parseToml(text))
  if (path.endsWith(".md")) return parseRaw(() => parseYaml(/^\uFEFF?---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1] ?? ""))
  const tree = parseTree(text.replace(/^\uFEFF/, " "), [], { allowTrailingComma: true })
  if (tree === undefined) return { at: () => undefined, line: () => undefined }
  const nodeAt = (key: string) => findNodeAtLocation(tree, [...pathOf(key)])
  return {
    at: (key) => {
      const node = nodeAt(key)
      return node === undefined ? undefined : getNodeValue(node) as unknown
    },
    line: (key) => {
      const node = nodeAt(key)
      return key === "" || node === undefined ? undefined : text.slice(0, node.offset).split("\n").length
    }
  }
}

const parseRaw = (parse: () => unknown): Raw => {
  const value = Result.getOrUndefined(Result.try(parse))
  return {
    at: (key) =>
      pathOf(key).reduce<unknown>(
        (of, step) => isRecordOrList(of) && Object.hasOwn(of, step) ? of[step] : undefined,
        value
      ),
    line: () => undefined
  }
}

const isRecordOrList = (value: unknown): value is { readonly [key: string | number]: unknown } =>
  typeof value === "object" && value !== null

const pathOf = (key: string): ReadonlyArray<string | number> =>
  [...key.replace(/^[^:[\]]*: /, "").matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([step, index]) =>
    index === undefined ? step : Number(index)
  )

/** Returns the group of an entry, for systems with groups. */
export const groupKey = (key: string): string | undefined => /^(.*)\.hooks\[\d+\]$/.exec(key)?.[1]
