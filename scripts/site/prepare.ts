/** Writes the pages of the site to `site/pages`, from `docs`, the sources and the templates of this folder. */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { convert, pageOf, sourcePage } from "./convert.ts"
import { generated } from "./generated.ts"
import { home } from "./home.ts"
import { docsPage, llmsFullText, llmsText, titleOf } from "./llms.ts"
import { groups, projectPages } from "./pages.ts"
import { packages, referencePage } from "./reference.ts"

export const prepare = (): void => {
  const target = "site/pages"
  rmSync(target, { recursive: true, force: true })

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(target, path)), { recursive: true })
    writeFileSync(join(target, path), text)
  }

  const sources = new Set<string>()
  const kept = [...globSync("docs/**/*.md"), ...Object.keys(projectPages)].map((file) => file.replaceAll("\\", "/"))
  const files = [
    ...kept.map((file) => [file, readFileSync(file, "utf8")] as const),
    ...[...generated].map(([page, text]) => [`docs/${page}.md`, text()] as const)
  ]
  for (const [file, text] of files) {
    const converted = convert(file, text)
    write(pageOf(file), converted.text)
    // The same page as Markdown, for language models.
    write(`public/${pageOf(file)}`, converted.text)
    for (const source of converted.sources) sources.add(source)
  }
  for (const source of sources) write(pageOf(source), sourcePage(source))
  write("index.md", home())

  for (const name of packages) {
    const { description }: { readonly description: string } = JSON.parse(
      readFileSync(`packages/${name}/package.json`, "utf8")
    )
    write(`reference/${name}.md`, referencePage(name, description))
  }
  write(
    "reference/index.md",
    [
      "# Reference",
      "",
      "Every public name of every package, written from the doc comments of the sources.",
      "",
      ...packages.map((name) => `- [@belay/${name}](./${name}.md)`),
      ""
    ].join("\n")
  )

  cpSync("docs/images", join(target, "public/images"), { recursive: true })
  write("public/llms.txt", llmsText((page) => `/${pageOf(`docs/${page}.md`)}`))
  write("public/llms-full.txt", llmsFullText())

  const title = (page: string): string => titleOf(docsPage(page))
  const link = (page: string): string => `/${pageOf(`docs/${page}.md`).replace(/(?:index)?\.md$/, "")}`
  const sidebar = [
    ...groups.map((group, index) => ({
      text: group.title,
      collapsed: index > 1,
      items: [
        ...group.pages.map((page) => ({ text: title(page), link: link(page) })),
        ...(group.title === "Project"
          ? Object.entries(projectPages).map(([file, page]) => ({
            text: titleOf(readFileSync(file, "utf8")),
            link: `/${page.replace(/\.md$/, "")}`
          }))
          : [])
      ]
    })),
    {
      text: "Reference",
      collapsed: true,
      items: packages.map((name) => ({ text: `@belay/${name}`, link: `/reference/${name}` }))
    }
  ]
  writeFileSync("site/.vitepress/sidebar.json", JSON.stringify(sidebar, null, 2))
  console.log(`${files.length} pages, ${sources.size} source files, ${packages.length} packages`)
}
