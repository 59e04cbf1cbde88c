/** Changes JSON text with comments. What is not changed keeps its format and its comments. */
import type { Json } from "@belay/core/Json"
import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser"

/** The way to a value. */
export type Path = ReadonlyArray<string | number>

/** Sets a property that is not there. Objects on the way to it are made. */
export const addProperty = (text: string, path: ReadonlyArray<string>, value: Json): string => {
  const tree = rootOf(text)
  const there = path.findIndex((_, index) => nodeAt(tree, path.slice(0, index + 1)) === undefined)
  const parent = nodeAt(tree, path.slice(0, there))!
  const whole = path.slice(there + 1).reduceRight((inner: Json, key) => ({ [key]: inner }), value)
  return added(text, parent, there + 1, `${JSON.stringify(path[there])}: `, whole)
}

/** Adds an element to the end of a list. */
export const addElement = (text: string, path: Path, value: Json): string =>
  added(text, nodeAt(rootOf(text), path)!, path.length + 1, "", value)

/** Removes a property or an element. */
export const remove = (text: string, path: Path): string => {
  const found = nodeAt(rootOf(text), path)
  if (found === undefined) return text
  const node = found.parent?.type === "property" ? found.parent : found
  const siblings = node.parent?.children ?? []
  const index = siblings.indexOf(node)
  const [before, after] = [siblings[index - 1], siblings[index + 1]]
  const rest = text.slice(endOf(node))
  if (before !== undefined) {
    const comments = commentsIn(text.slice(endOf(before), node.offset)).trimEnd()
    // What follows must not become part of a comment.
    const end = comments === "" || /^[ \t]*\r?\n/.test(rest) ? "" : "\n"
    return text.slice(0, endOf(before)) + comments + end + rest
  }
  if (after !== undefined) {
    const comments = commentsIn(text.slice(endOf(node), after.offset)).trimStart()
    return text.slice(0, node.offset) + comments + text.slice(after.offset)
  }
  // What is empty now needs no line of its own.
  const parent = node.parent!
  const inside = text.slice(parent.offset + 1, node.offset) + text.slice(endOf(node), endOf(parent) - 1)
  const kept = inside.trim() === "" ? "" : inside
  return text.slice(0, parent.offset + 1) + kept + text.slice(endOf(parent) - 1)
}

/** Whether an object or a list has nothing in it, and no comments either. */
export const isEmpty = (text: string, path: Path): boolean => {
  const node = nodeAt(rootOf(text), path)
  return node !== undefined && /^(?:\{\s*\}|\[\s*\])$/.test(text.slice(node.offset, endOf(node)))
}

/** Returns the names of the properties of an object, as they are written. */
export const keysAt = (text: string, path: Path): ReadonlyArray<string> =>
  (nodeAt(rootOf(text), path)?.children ?? []).map(({ children = [] }) => String(children[0]?.value))

/** Returns what somebody has written between two elements, without the comma. Without comments, that is nothing. */
const commentsIn = (gap: string): string =>
  /\/[/*]/.test(gap) ? gap.replaceAll(/\/\/[^\r\n]*|\/\*[^]*?\*\/|,/g, (part) => part === "," ? "" : part) : ""

const added = (text: string, parent: Node, depth: number, name: string, value: Json): string => {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  "
  const margin = unit.repeat(depth)
  const end = text.includes("\r\n") ? "\r\n" : "\n"
  const written = `${end}${margin}${name}${JSON.stringify(value, null, unit).replaceAll("\n", `${end}${margin}`)}`
  const last = parent.children?.at(-1)
  if (last !== undefined) return `${text.slice(0, endOf(last))},${written}${text.slice(endOf(last))}`
  const at = parent.offset + 1
  const rest = text.slice(at, endOf(parent) - 1).trimEnd()
  return `${text.slice(0, at)}${rest}${written}${end}${unit.repeat(depth - 1)}${text.slice(endOf(parent) - 1)}`
}

const endOf = ({ length, offset }: Node): number => offset + length

const rootOf = (text: string): Node => parseTree(text, [], { allowTrailingComma: true })!

const nodeAt = (tree: Node, path: Path): Node | undefined => findNodeAtLocation(tree, [...path])
