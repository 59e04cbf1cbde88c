/** Converts pages of `docs` to pages of the site: their links lead to other pages of the site. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { posix } from "node:path"
import { projectPages } from "./pages.ts"

/** The place of a file on the site. Files of the repository that are not pages become pages with their text. */
export const pageOf = (file: string): string => {
  if (file === "README.md") return "index.md"
  if (Object.hasOwn(projectPages, file)) return projectPages[file]!
  if (file.startsWith("docs/") && file.endsWith(".md")) {
    return file.slice("docs/".length).replace(/README\.md$/, "index.md")
  }
  const readme = /^packages\/([^/]+)\/README\.md$/.exec(file)
  return readme === null ? `source/${file}.md` : `reference/${readme[1]}.md`
}

export interface Converted {
  readonly text: string
  /** Files of the repository that the page links to and that are not pages. */
  readonly sources: ReadonlyArray<string>
}

/** Converts the text of a file of the repository. */
export const convert = (file: string, markdown: string): Converted => {
  const sources: Array<string> = []
  const here = pageOf(file)
  const link = (target: string): string => {
    if (/^(?:[a-z]+:|#)/.test(target)) return target
    const [path, anchor] = target.split("#")
    const absolute = posix.normalize(posix.join(posix.dirname(file), path!))
    if (absolute.startsWith("docs/images/")) return `/${absolute.slice("docs/".length)}`
    const found = existsSync(absolute) && statSync(absolute).isDirectory() ? `${absolute}/README.md` : absolute
    if (!existsSync(found)) return target
    const page = pageOf(found)
    if (page.startsWith("source/")) sources.push(found)
    const relative = posix.relative(posix.dirname(here), page)
    return `${relative.startsWith(".") ? relative : `./${relative}`}${anchor === undefined ? "" : `#${anchor}`}`
  }
  let fence: string | undefined
  const lines = markdown.split("\n").map((line) => {
    const [, mark] = /^\s*(`{3,})/.exec(line) ?? []
    if (mark !== undefined && (fence === undefined || mark.length >= fence.length)) {
      fence = fence === undefined ? mark : undefined
      return line.replace(/```ts(?: run)?(?: file=\S+)?$/, "```ts")
    }
    if (fence !== undefined || /^<!--.*-->$/.test(line)) return fence === undefined ? "" : line
    return line.replaceAll(/\]\(<?([^)>\s]+)>?\)/g, (_match, target: string) => `](${link(target)})`)
  })
  return { text: lines.join("\n"), sources }
}

/** A page with the text of a source file. */
export const sourcePage = (file: string): string => {
  const language = file.split(".").at(-1)!
  return `---\nsearch: false\n---\n\n# ${posix.basename(file)}\n\n\`${file}\`\n\n\`\`\`\`${language}\n${
    readFileSync(file, "utf8").trimEnd()
  }\n\`\`\`\`\n`
}
