import * as HookPoint from "@belay/core/HookPoint"
import * as Endpoint from "@belay/testing/Endpoint"
import { execFile } from "node:child_process"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, describe, it } from "vitest"
import { file, insert } from "../scripts/points-table.ts"
import { rows } from "../scripts/site/rows.ts"
import { anchorOf, type Block, blocksOf, commentsOf, linksOf } from "./docs.ts"

const execute = promisify(execFile)
const read = (path: string): string => readFileSync(path, "utf8")

const pages = globSync(["*.md", "docs/**/*.md", "packages/*/*.md", "packages/*/skills/**/*.md"]).sort()
const blocks: ReadonlyArray<Block> = [
  ...pages.flatMap((path) => blocksOf(path, read(path))),
  ...globSync("packages/*/src/**/*.ts").sort().flatMap((path) => blocksOf(path, commentsOf(read(path))))
]

// Inside a package, so that imports resolve; a folder a run, so that two runs do not meet.
const folder = `packages/examples/.doctest/${process.pid}`
const nameOf = ({ file, line, path }: Block): string => {
  const page = path.replaceAll(/[^\w.]/g, "_")
  return file === undefined ? `${page}.L${line}.ts` : `${page}.files/${file}`
}

/** The blocks as modules whose line numbers are those of the text they stand in. */
const extract = (): void => {
  mkdirSync(folder, { recursive: true })
  for (const block of blocks) {
    const module = /^\s*(import|export)\b/m.test(block.code) ? "" : "\nexport {}\n"
    mkdirSync(dirname(join(folder, nameOf(block))), { recursive: true })
    writeFileSync(join(folder, nameOf(block)), "\n".repeat(block.line - 1) + block.code + module)
  }
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false }
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../../../tsconfig.json", compilerOptions, include: ["**/*.ts"], exclude: [] })
  )
}

/** Programs use the endpoint on loopback, whatever keys the developer has. */
const withoutKeys = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("OPENAI_")))

const outputOf = (
  program: ReadonlyArray<string>,
  cwd = ".",
  env: NodeJS.ProcessEnv = withoutKeys
): Promise<{ readonly ok: boolean; readonly output: string }> =>
  execute(process.execPath, [...program], { cwd, env, timeout: 200_000 }).then(
    () => ({ ok: true, output: "" }),
    (error: { readonly stdout?: string; readonly stderr?: string }) => ({
      ok: false,
      output: `${error.stdout}${error.stderr}`
    })
  )

extract()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// The time is that of a busy machine; only a program that hangs needs it.
describe("the documentation", { timeout: 240_000 }, () => {
  it("has examples that compile", async () => {
    if (blocks.length === 0) return
    const { ok, output } = await outputOf(
      [resolve("node_modules/typescript/bin/tsc"), "-p", ".", "--pretty", "false"],
      folder
    )
    assert.isTrue(ok, output)
  })

  it.for(blocks.filter((block) => block.run))(
    "has an example at $path:$line that runs",
    { concurrent: true },
    async (block) => {
      const { ok, output } = await outputOf(["--conditions=@belay/source", join(folder, nameOf(block))])
      assert.isTrue(ok, output)
    }
  )

  it.for(blocks.filter(({ code, run }) => !run && code.includes("Hooks.safeDefaults(")))(
    "has an agent with the safe defaults at $path:$line that can be created and that answers",
    async (block) => {
      await using endpoint = await Endpoint.start()
      const cwd = mkdtempSync(join(tmpdir(), "belay-docs-"))
      const program = resolve(folder, nameOf(block))
      const env = { ...withoutKeys, OPENAI_BASE_URL: endpoint.url, OPENAI_API_KEY: "none", OPENAI_MODEL: "demo" }
      const started = [
        `const { agent } = await import(${JSON.stringify(program)})`,
        `if (agent !== undefined) await agent.run("Hello")`,
        "await agent?.close()"
      ].join("\n")
      const { ok, output } = await outputOf(
        ["--conditions=@belay/source", "--input-type=module", "-e", started],
        cwd,
        env
      )
      rmSync(cwd, { recursive: true })
      assert.isTrue(ok, output)
    }
  )

  it("has programs that Node 22 can read", () => {
    const programs = globSync("packages/*/src/**/*.ts").map((path) => ({ path, line: 1, code: read(path) }))
    const news = [...blocks, ...programs].filter(({ code }) => /^\s*(?:await )?using \w+ =/m.test(code))
    assert.deepEqual(news.map(({ line, path }) => `${path}:${line}`), [])
  })

  it("has links that lead somewhere", () => {
    const dead = pages.flatMap((page) =>
      linksOf(read(page)).filter((link) => {
        if (/^[a-z]+:/.test(link)) return false
        const [path, anchor] = link.split("#")
        const target = path === "" ? page : join(dirname(page), decodeURIComponent(path!))
        if (!existsSync(target)) return true
        const headings = [...read(target).matchAll(/^#+\s+(.*)$/gm)].map((match) => anchorOf(match[1]!))
        return anchor !== undefined && target.endsWith(".md") && !headings.includes(anchor)
      }).map((link) => `${page}: ${link}`)
    )
    assert.deepEqual(dead, [])
  })

  it("has a section for every point, in the order of the table", () => {
    const sections = [...read(file).matchAll(/^### `(\w+)`$/gm)].map(([, point]) => point)
    assert.deepEqual(sections, [...HookPoint.names])
  })

  it("shows, in the README, the program that is tested", () => {
    assert.include(read("README.md"), read("packages/examples/src/hello.ts").trimEnd())
  })

  it("installs what the programs of a page import", () => {
    const wrong = pages.filter((path) => path.startsWith("docs/guard")).flatMap((path) => {
      const installed = [...read(path).matchAll(/^\$ npm install (?!--global)(.*)$/gm)].flatMap(([, names]) =>
        names!.split(" ")
      )
      const imported = blocksOf(path, read(path)).flatMap(({ code }) =>
        [...code.matchAll(/from "(@belay\/[\w-]+)/g)].map(([, name]) => name!)
      )
      return installed.length === 0
        ? []
        : imported.filter((name) => !installed.includes(name)).map((name) => `${path}: ${name}`)
    })
    assert.deepEqual(wrong, [])
  })

  it("has the table of what was compared with other systems, and every row has a test", () => {
    const { open, problems, text } = rows()
    assert.deepEqual(problems, [])
    assert.deepEqual(open, [], "rows without a test")
    assert.isAbove(text.split("\n").filter((line) => /^\| [A-Z]+-\d\d \|/.test(line)).length, 200)
  })

  it("has the table of points that the code has", () => {
    assert.strictEqual(
      read(file),
      insert(read(file)),
      "run: node --conditions=@belay/source scripts/points-table.ts --write"
    )
  })
})

describe("reading documentation", () => {
  it("finds the blocks of Markdown and of doc comments at their lines", () => {
    const text = [
      "# Title",
      "```ts",
      "const a = 1",
      "```",
      "```text",
      "no",
      "```",
      "````md",
      "```ts",
      "```",
      "````",
      "```ts run",
      "b()",
      "```",
      "```ts run file=c.ts",
      "c()",
      "```"
    ]
    assert.deepEqual(blocksOf("a.md", text.join("\n")), [
      { path: "a.md", code: "const a = 1", line: 3, run: false },
      { path: "a.md", code: "b()", line: 13, run: true },
      { path: "a.md", code: "c()", line: 16, run: true, file: "c.ts" }
    ])
    const source = [
      "/** One line. */",
      "/**",
      " * @example",
      " * ```ts",
      " * const c = 1",
      " *",
      " * c",
      " * ```",
      " */",
      "const x = 2"
    ]
    assert.deepEqual(blocksOf("a.ts", commentsOf(source.join("\n"))).map(({ code, line }) => ({ code, line })), [{
      code: "const c = 1\n\nc",
      line: 5
    }])
  })

  it("finds links, not those in code", () => {
    const text = "[a](b.md) `[c](d.md)` ![e](f.png \"title\")\n```ts\n[g](h.md)\n```\n[i]: j.md\n"
    assert.deepEqual(linksOf(text), ["b.md", "f.png", "j.md"])
    assert.strictEqual(anchorOf("What `Reject` means, here?"), "what-reject-means-here")
  })
})
