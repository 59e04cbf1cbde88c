/** Writes the page with the options of all ready-made hooks, from the doc comments of their types. */
import { readFileSync } from "node:fs"
import { parseSync } from "oxc-parser"
import { commentOf, modulesOf } from "./reference.ts"

/** The pages that describe the hooks. */
const pages: ReadonlyArray<string> = [
  "permissions",
  "guardrails",
  "limits",
  "resilience",
  "context",
  "offload",
  "memory",
  "operations"
]

/** A member of an interface. */
interface Member {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  readonly text: string
}

/** The members of an interface that is written as source text. */
const membersOf = (source: string): ReadonlyArray<Member> => {
  const { comments, program } = parseSync("options.ts", source)
  const declaration = program.body[0]
  if (declaration?.type !== "TSInterfaceDeclaration") return []
  return declaration.body.body.flatMap((member) => {
    if (member.type !== "TSPropertySignature" || member.key.type !== "Identifier") return []
    const before = comments.findLast(({ end, type }) => type === "Block" && end <= member.start)
    const isOwn = before !== undefined && source.slice(before.end, member.start).trim() === ""
    const annotation = member.typeAnnotation?.typeAnnotation
    return [{
      name: member.key.name,
      type: annotation === undefined ? "" : source.slice(annotation.start, annotation.end).replaceAll(/\s+/g, " "),
      isOptional: member.optional,
      text: commentOf(isOwn ? before.value : "").text.replaceAll(/\s*\n\s*/g, " ")
    }]
  })
}

const line = ({ isOptional, name, text, type }: Member): string =>
  `- \`${name}\`: \`${type}\`${isOptional ? "" : ", required"}. ${text.replace(/ ?Required\.$/, "")}`.trimEnd()

/** A heading of the catalogue that is the name of a hook. */
const pageOf = (name: string): string | undefined =>
  pages.find((page) => new RegExp(`^## \`?${name}\`?$`, "m").test(readFileSync(`docs/catalogue/${page}.md`, "utf8")))

/** The page `docs/catalogue/options.md`. */
export const optionsPage = (): string => {
  const modules = modulesOf("hooks")
  const common = modules.find(({ name }) => name === "HookDefaults")!.entries.find(({ name }) =>
    name === "HookDefaults"
  )!
  const sections = modules.flatMap(({ entries, name, text }) => {
    const options = entries.find((entry) => entry.name === "Options")
    const page = pageOf(name)
    if (options === undefined || page === undefined) return []
    const members = options.signatures.flatMap(membersOf)
    return [
      `## ${name}`,
      "",
      `${text.replaceAll("\n", " ")} See [${name}](${page}.md#${name.toLowerCase()}).`,
      "",
      ...members.map(line),
      ""
    ]
  })
  return [
    "# All options",
    "",
    "The options of every ready-made hook, as their types say.",
    "",
    "## Common options",
    "",
    "Every hook takes these options, and these options of a hook that you write yourself: `name`, `priority`, `tier`, `before`, `after`, `failOpen`, `onFailure`, `onTimeout`, `timeout`, `mode`, `tools` and `override`.",
    "",
    ...common.signatures.flatMap(membersOf).map(line),
    "",
    ...sections
  ].join("\n")
}
