/** Writes `llms.txt` and `llms-full.txt`: the documentation for language models. */
import { readFileSync } from "node:fs"
import { generated } from "./generated.ts"
import { groups } from "./pages.ts"
import { firstSentence } from "./reference.ts"

export const titleOf = (markdown: string): string => /^# (.*)$/m.exec(markdown)?.[1]?.replaceAll("`", "") ?? ""

/** The first paragraph after the title. */
const summaryOf = (markdown: string): string => {
  const paragraph = markdown.split("\n\n").slice(1).find((part) => /^[A-Z[`*0-9]/.test(part)) ?? ""
  return firstSentence(paragraph.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")).replaceAll("\\|", "|")
}

const intro =
  "Belay is an agent SDK for TypeScript. Typed hooks run around every step of an agent: session, turn, model " +
  "call, tool call, delegation and compaction. A hook is a plain object. It can let a step continue, change its value, " +
  "reject it, answer for it, end the turn, or ask a person."

/** The text of a page of `docs`, kept or generated. */
export const docsPage = (page: string): string => generated.get(page)?.() ?? readFileSync(`docs/${page}.md`, "utf8")

/** A list of all pages. `linkOf` returns the address of a page. */
export const llmsText = (linkOf: (page: string) => string): string =>
  [
    "# Belay",
    "",
    `> ${intro}`,
    ...groups.flatMap(({ pages, title }) => [
      "",
      `## ${title}`,
      "",
      ...pages.map((page) => `- [${titleOf(docsPage(page))}](${linkOf(page)}): ${summaryOf(docsPage(page))}`)
    ]),
    ""
  ].join("\n")

/** Long pages for people who compare systems, which no model needs to write a program. */
const leftOut: ReadonlySet<string> = new Set(["rows", "hook-events", "performance", "decisions/README"])

/** All pages in one text. */
export const llmsFullText = (): string =>
  [
    `# Belay\n\n${intro}\n`,
    ...groups.flatMap(({ pages }) => pages).filter((page) => !leftOut.has(page)).map(docsPage)
  ].join("\n---\n\n")
