// Puts the documentation into packages/core, where it is packed: the pages and a list of them for language models.
// `scripts/build.mjs` runs it. The folder is not in Git.
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"

const target = "packages/core/docs"
const repository = "https://github.com/belay-sdk/belay/blob/main"
const left = (path) =>
  /^docs\/(?:decisions|images)\//.test(path) || /^docs\/(?:compatibility|performance)\.md$/.test(path)

/** Links to files that are not packed lead to the repository. */
const withLinks = (path, text) =>
  text.replaceAll(/\]\((?!\w+:|#)([^)\s]+)\)/g, (whole, link) => {
    const file = posix.normalize(posix.join(posix.dirname(path), link.split("#")[0]))
    return file.startsWith("docs/") && file.endsWith(".md") && !left(file) ? whole : `](${repository}/${file})`
  })

rmSync(target, { recursive: true, force: true })
const pages = globSync("docs/**/*.md").map((path) => path.replaceAll("\\", "/")).filter((path) => !left(path)).sort()
for (const page of pages) {
  const file = join(target, page.slice("docs/".length))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, withLinks(page, readFileSync(page, "utf8")))
}
const generate = ["--conditions=@belay/source", "scripts/site/generated.ts", "--into", target]
execFileSync(process.execPath, generate, { stdio: "inherit" })
rmSync(join(target, "rows.md"))
const packed = globSync("**/*.md", { cwd: target }).map((path) => path.replaceAll("\\", "/")).sort()
const lines = packed.map((page) => {
  const [, title] = /^# (.*)$/m.exec(readFileSync(join(target, page), "utf8")) ?? []
  return `- [${title.replaceAll("`", "")}](${page})`
})
writeFileSync(join(target, "llms.txt"), `# Belay\n\n> The documentation of this version.\n\n${lines.join("\n")}\n`)
cpSync("packages/core/README.md", join(target, "README.md"))
console.log(`${target}: ${packed.length} pages`)
