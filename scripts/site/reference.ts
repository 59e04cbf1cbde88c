/** Reads every public name of every package with its doc comment and its signature, from the sources. */
import { readFileSync } from "node:fs"
import { posix } from "node:path"
import { parseSync } from "oxc-parser"

export const packages: ReadonlyArray<string> = [
  "core",
  "hooks",
  "providers",
  "tools",
  "hook-files",
  "server",
  "observe",
  "guard",
  "testing"
]

/** A public name. */
interface Entry {
  readonly name: string
  /** The doc comment without its tags and its examples. Empty if there is none. */
  readonly text: string
  readonly examples: ReadonlyArray<string>
  /** What a caller needs to know, as TypeScript. */
  readonly signatures: ReadonlyArray<string>
  readonly path: string
  readonly line: number
}

/** A module: what `import ... from "@belay/<package>/<name>"` has. */
export interface Module {
  readonly name: string
  readonly text: string
  readonly examples: ReadonlyArray<string>
  readonly entries: ReadonlyArray<Entry>
}

/** The part of the syntax tree that is used here. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

interface Source {
  readonly path: string
  readonly text: string
  readonly body: ReadonlyArray<Node>
  readonly comments: ReadonlyArray<
    { readonly type: string; readonly value: string; readonly start: number; readonly end: number }
  >
}

const sources = new Map<string, Source>()

const sourceOf = (path: string): Source => {
  const known = sources.get(path)
  if (known !== undefined) return known
  const text = readFileSync(path, "utf8")
  const { comments, program } = parseSync(path, text)
  // The parser has a type for each kind of node; here only a few fields are read.
  const source = { path, text, body: program.body as unknown as ReadonlyArray<Node>, comments }
  sources.set(path, source)
  return source
}

/** All modules of a package, in the order of their names. */
export const modulesOf = (name: string): ReadonlyArray<Module> => {
  const manifest: { readonly exports: { readonly [key: string]: { readonly "@belay/source"?: string } } } = JSON.parse(
    readFileSync(`packages/${name}/package.json`, "utf8")
  )
  return Object.entries(manifest.exports).flatMap(([key, { "@belay/source": file }]) => {
    if (file === undefined || key === ".") return []
    const source = sourceOf(posix.join("packages", name, file))
    const header = source.comments[0]
    const isHeader = header !== undefined && header.type === "Block" && header.start === 0
    const { examples, text } = commentOf(isHeader ? header.value : "")
    return [{
      name: key.slice(2),
      text,
      examples,
      entries: merge(source.body.flatMap((node) => entriesOf(source, node)))
    }]
  })
}

/** One entry for a type and a value of the same name. */
const merge = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const byName = new Map<string, Entry>()
  for (const entry of entries) {
    const other = byName.get(entry.name)
    byName.set(
      entry.name,
      other === undefined ? entry : {
        ...other,
        text: other.text === "" ? entry.text : other.text,
        examples: [...other.examples, ...entry.examples],
        signatures: [...other.signatures, ...entry.signatures]
      }
    )
  }
  return [...byName.values()]
}

const entriesOf = (source: Source, node: Node): ReadonlyArray<Entry> => {
  if (node.type === "ExportAllDeclaration" && node["exported"] === null) {
    return resolve(source, node).body.flatMap((inner) => entriesOf(resolve(source, node), inner))
  }
  if (node.type !== "ExportNamedDeclaration") return []
  const declaration = node["declaration"] as Node | null
  if (declaration === null) return reexports(source, node)
  const place = { path: source.path, line: source.text.slice(0, node.start).split("\n").length }
  return declarations(source, declaration).map(({ name, signature }) => ({
    name,
    ...commentOf(commentBefore(source, node)),
    signatures: [signature],
    ...place
  }))
}

/** `export { a, type B as C } from "./x.ts"`, and `export { a }` of what is declared in the file. */
const reexports = (source: Source, node: Node): ReadonlyArray<Entry> => {
  const from = node["source"] === null ? source : resolve(source, node)
  const own = commentOf(commentBefore(source, node))
  return (node["specifiers"] as ReadonlyArray<Node>).flatMap((specifier) => {
    const { name: local } = specifier["local"] as unknown as { readonly name: string }
    const { name } = specifier["exported"] as unknown as { readonly name: string }
    const found = merge(from.body.flatMap((inner) =>
      inner.type !== "ExportNamedDeclaration"
        ? localEntries(from, inner)
        : from === source && inner["declaration"] === null
        ? []
        : entriesOf(from, inner)
    )).filter((entry) => entry.name === local)
    return found.map((entry) => ({ ...entry, name, text: own.text === "" ? entry.text : own.text }))
  })
}

/** What a file declares without exporting it where it is declared. */
const localEntries = (source: Source, node: Node): ReadonlyArray<Entry> =>
  declarations(source, node).map(({ name, signature }) => ({
    name,
    ...commentOf(commentBefore(source, node)),
    signatures: [signature],
    path: source.path,
    line: source.text.slice(0, node.start).split("\n").length
  }))

const resolve = (source: Source, node: Node): Source => {
  const { value } = node["source"] as unknown as { readonly value: string }
  return sourceOf(posix.join(posix.dirname(source.path), value))
}

const commentBefore = (source: Source, node: Node): string => {
  const before = source.comments.findLast(({ end, type }) => type === "Block" && end <= node.start)
  return before !== undefined && before.value.startsWith("*") &&
      source.text.slice(before.end, node.start).replaceAll(/^\s*\/\/.*$/gm, "").trim() === ""
    ? before.value
    : ""
}

/** Splits a doc comment. */
export const commentOf = (value: string): { readonly text: string; readonly examples: ReadonlyArray<string> } => {
  const lines = value.split("\n").map((line) => line.replace(/^\s*\*+ ?/, "").trimEnd())
  const text = lines.join("\n").replace(/^\*?\s*/, "")
  const examples = [...text.matchAll(/```ts[^\n]*\n([\s\S]*?)\n```/g)].map(([, code]) => code!)
  const prose = text
    .replaceAll(/@example\s*\n```ts[^\n]*\n[\s\S]*?\n```/g, "")
    .replaceAll(/@(?:category|since|module|internal|deprecated)[^\n@]*/g, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()
  return { text: prose, examples }
}

/** The names that a declaration declares, with their signatures. */
const declarations = (
  source: Source,
  node: Node
): ReadonlyArray<{ readonly name: string; readonly signature: string }> => {
  const textOf = (start: number, end: number) => source.text.slice(start, end).trim()
  switch (node.type) {
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [{ name: idOf(node), signature: textOf(node.start, node.end) }]
    case "FunctionDeclaration":
    case "TSDeclareFunction": {
      const body = node["body"] as Node | null
      return [{ name: idOf(node), signature: textOf(node.start, body?.start ?? node.end) }]
    }
    case "ClassDeclaration": {
      const text = textOf(node.start, node.end)
      const { start } = node["body"] as Node
      return [{ name: idOf(node), signature: text.split("\n").length <= 40 ? text : `${textOf(node.start, start)} {}` }]
    }
    case "VariableDeclaration":
      return (node["declarations"] as ReadonlyArray<Node>).map((one) => ({
        name: idOf(one),
        signature: `const ${variableText(source, one)}`
      }))
    default:
      return []
  }
}

const idOf = (node: Node): string => (node["id"] as { readonly name: string }).name

/** A function without its body; another value whole if it is short. */
const variableText = (source: Source, node: Node): string => {
  const id = node["id"] as Node
  const init = node["init"] as Node | null
  const head = source.text.slice(id.start, id.end)
  const hasType = id["typeAnnotation"] !== null && id["typeAnnotation"] !== undefined
  if (init === null || hasType) return head
  const called = functionOf(init)
  if (called !== undefined) {
    const body = called["body"] as Node
    return `${head} = ${source.text.slice(called.start, body.start).trim().replace(/=>\s*\(?$/, "=> …")}`
  }
  const text = source.text.slice(init.start, init.end)
  return text.split("\n").length <= 16 ? `${head} = ${text}` : `${head} = ${text.split("\n", 1)[0]} …`
}

/** The function itself, also where it is an argument of `checked`. */
const functionOf = (init: Node): Node | undefined => {
  if (init.type === "ArrowFunctionExpression") return init
  const isChecked = init.type === "CallExpression" && (init["callee"] as { readonly name?: string }).name === "checked"
  return isChecked ? (init["arguments"] as ReadonlyArray<Node>).at(-1) : undefined
}

/** The page of a package, as Markdown. */
export const referencePage = (name: string, description: string): string => {
  const modules = modulesOf(name)
  const lines = [
    `# @belay/${name}`,
    "",
    description,
    "",
    "This page is written from the doc comments of the sources.",
    "",
    "| module | what it is |",
    "| --- | --- |",
    ...modules.map((module) =>
      `| [\`${module.name}\`](#${module.name.toLowerCase()}) | ${firstSentence(module.text)} |`
    )
  ]
  for (const module of modules) {
    lines.push(
      "",
      `## ${module.name}`,
      "",
      "```ts",
      `import * as ${module.name} from "@belay/${name}/${module.name}"`,
      "```"
    )
    if (module.text !== "") lines.push("", module.text)
    for (const example of module.examples) lines.push("", "```ts", example, "```")
    for (const entry of module.entries) {
      lines.push("", `### ${module.name}.${entry.name}`, "")
      if (entry.text !== "") lines.push(entry.text, "")
      for (const signature of entry.signatures) lines.push("```ts", signature, "```", "")
      for (const example of entry.examples) lines.push("Example:", "", "```ts", example, "```", "")
    }
  }
  return `${lines.join("\n").trimEnd()}\n`
}

/** For a cell of a table. */
export const firstSentence = (text: string): string =>
  (/^[\s\S]*?\.(?=\s|$)/.exec(text)?.[0] ?? text).replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim()
