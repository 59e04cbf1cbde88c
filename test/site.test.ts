import { spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { convert } from "../scripts/site/convert.ts"
import { generated } from "../scripts/site/generated.ts"
import { llmsFullText, llmsText } from "../scripts/site/llms.ts"
import { groups } from "../scripts/site/pages.ts"
import { commentOf, modulesOf, packages, referencePage } from "../scripts/site/reference.ts"
import { linksOf } from "./docs.ts"

describe("the site", () => {
  it("has every page of the documentation in its navigation, once", () => {
    const kept = globSync(["docs/*.md", "docs/catalogue/*.md"]).map((path) => path.replaceAll("\\", "/"))
    const pages = [...kept, ...[...generated.keys()].map((page) => `docs/${page}.md`)]
    const shown = groups.flatMap((group) => group.pages).map((page) => `docs/${page}.md`)
    assert.deepEqual(
      shown.toSorted(),
      [...pages, "docs/decisions/README.md"].toSorted(),
      "list new pages in scripts/site/pages.ts"
    )
  })

  it("leads links to pages of the site, and to pages with the text of files", () => {
    const { sources, text } = convert(
      "docs/catalogue/limits.md",
      "[a](../hooks.md#order) [b](README.md) [c](../../packages/examples/src/hello.ts) [d](https://a.example) ![e](../images/chain.svg)\n```ts run\n[f](g.md)\n```\n<!-- x -->"
    )
    assert.strictEqual(
      text,
      "[a](../hooks.md#order) [b](./index.md) [c](../source/packages/examples/src/hello.ts.md) [d](https://a.example) ![e](/images/chain.svg)\n```ts\n[f](g.md)\n```\n"
    )
    assert.deepEqual(sources, ["packages/examples/src/hello.ts"])
  })

  it("has a text for language models with every page", () => {
    const list = llmsText((page) => `/${page}`)
    for (const { pages } of groups) for (const page of pages) assert.include(list, `](/${page}): `)
    assert.match(list, /^- \[.+\]\(\S+\): .{10}/m)
    assert.notMatch(list, /\]\(\S+\): $/m)
    assert.isAbove(llmsFullText().length, 100_000)
    assert.include(llmsFullText(), readFileSync("docs/start.md", "utf8"))
  })
})

describe("the documentation inside of the package", () => {
  it("has every page, a list of them, and links that lead somewhere", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/package-docs.mjs"], { encoding: "utf8" })
    assert.strictEqual(status, 0, stderr)
    const folder = "packages/core/docs"
    const pages = globSync(`${folder}/**/*.md`)
    const list = readFileSync(`${folder}/llms.txt`, "utf8")
    for (const page of ["start", "hooks", "tools", "troubleshooting", "catalogue/options"]) {
      assert.include(list, `](${page}.md)`)
    }
    const dead = pages.flatMap((page) =>
      linksOf(readFileSync(page, "utf8")).filter((link) => !/^(?:\w+:|#)/.test(link))
        .filter((link) => !existsSync(join(dirname(page), link.split("#")[0]!))).map((link) => `${page}: ${link}`)
    )
    assert.deepEqual(dead, [])
  })

  it("is what the guide for coding agents names", () => {
    const guide = readFileSync("packages/core/skills/belay/SKILL.md", "utf8")
    assert.match(guide, /^---\nname: belay\ndescription: .{50}/)
    const named = [...guide.matchAll(/`([\w/-]+\.md)`/g)].map(([, page]) => page!)
    assert.isAtLeast(named.length, 10)
    for (const page of named) assert.isTrue(existsSync(`packages/core/docs/${page}`), page)
  })
})

describe("the reference", () => {
  const modules = packages.flatMap((name) => modulesOf(name))

  it("has every module that a program can import", () => {
    for (const name of packages) {
      const { exports } = JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8"))
      // `all` is for the other packages: it has nothing that the modules do not have.
      const expected = Object.keys(exports).filter((key) => ![".", "./all", "./package.json"].includes(key))
      assert.deepEqual(modulesOf(name).map((module) => `./${module.name}`), expected)
    }
  })

  it("has a text for every module and every public name", () => {
    const mute = modules.flatMap(({ entries, name: owner, text }) => [
      ...(text === "" ? [owner] : []),
      ...entries.filter(({ text }) => text === "").map(({ line, name: entry, path }) =>
        `${owner}: ${entry} (${path}:${line})`
      )
    ])
    assert.deepEqual(mute, [], "write a doc comment above them")
    assert.isAbove(modules.flatMap(({ entries }) => entries).length, 900)
  })

  it("shows signatures without bodies, members with their comments, and re-exported names", () => {
    const page = referencePage("tools", "Tools.")
    assert.include(page, "const make = (options: Options = {}): Tool<\"Read\", Args, Args> => …")
    assert.include(page, "/** The most lines of one call. Default 2,000. */")
    assert.notInclude(page, "Effect.fnUntraced")
    const guard = modulesOf("hooks").find(({ name }) => name === "HttpGuard")!
    assert.includeMembers(guard.entries.map(({ name }) => name), ["HttpRefused", "Policy", "Init", "make"])
  })

  it("reads doc comments without their tags", () => {
    const comment =
      "*\n * Makes a thing.\n *\n * More.\n *\n * @example\n * ```ts\n * make()\n * ```\n * @category constructors\n * @since 0.1.0\n "
    assert.deepEqual(commentOf(comment), { text: "Makes a thing.\n\nMore.", examples: ["make()"] })
    assert.deepEqual(commentOf("* One line. @category models @since 0.1.0 ").text, "One line.")
  })
})
