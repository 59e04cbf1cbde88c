/** What all tools for files have in common. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import * as ProtectedPaths from "@belay/hooks/ProtectedPaths"
import * as Scripted from "@belay/testing/Scripted"
import * as Edit from "@belay/tools/Edit"
import * as Glob from "@belay/tools/Glob"
import * as Grep from "@belay/tools/Grep"
import * as Read from "@belay/tools/Read"
import * as Toolset from "@belay/tools/Toolset"
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folderWith, newFolder, useTool, useTools } from "./support/useTool.ts"

describe("a path", () => {
  const outside = newFolder()
  writeFileSync(join(outside, "secret.txt"), "secret")
  const root = folderWith({ "a.txt": "a", "sub/b.txt": "b" })
  symlinkSync(outside, join(root, "link"))
  symlinkSync(join(outside, "secret.txt"), join(root, "link.txt"))
  symlinkSync(join(outside, "new.txt"), join(root, "dangling.txt"))
  symlinkSync(join(root, "sub"), join(root, "inner"))

  const paths = [
    "../x",
    join(outside, "secret.txt"),
    "sub/../../x",
    "link/secret.txt",
    "link.txt",
    "link/new/deep.txt",
    "dangling.txt"
  ]
  for (const path of paths) {
    it(`${path.replace(outside, "<outside>")} is refused by every tool`, async () => {
      const before = readdirSync(outside)
      const results = await useTools(root, Toolset.files(), [
        ["Read", { file_path: path }],
        ["Glob", { path, pattern: "**/*" }],
        ["Grep", { path, pattern: "secret" }],
        ["Write", { file_path: path, content: "x" }],
        ["Edit", { file_path: path, old_string: "secret", new_string: "x" }]
      ])
      for (const { isError, text } of results) {
        assert.isTrue(isError, text)
        assert.match(text, /is outside of|symbolic link/)
      }
      assert.deepEqual(readdirSync(outside), before)
      assert.strictEqual(readFileSync(join(outside, "secret.txt"), "utf8"), "secret")
    })
  }

  it("may lead through a link that stays inside", async () => {
    assert.strictEqual((await useTool(root, Read.make(), { file_path: "inner/b.txt" })).text, "b")
  })

  it("starts at the working folder, also if the tools have another root", async () => {
    const { isError, text } = await useTool(root, Read.make({ root: "sub" }), { file_path: "a.txt" })
    assert.isTrue(isError)
    assert.include(text, `a.txt is outside of ${join(root, "sub")}`)
    assert.strictEqual((await useTool(root, Read.make({ root: "sub" }), { file_path: "sub/b.txt" })).text, "b")
  })

  it("with ~ or without characters is an error that says what to do", async () => {
    assert.match((await useTool(root, Read.make(), { file_path: "~/.ssh/id_rsa" })).text, /without ~/)
    assert.match((await useTool(root, Read.make(), { file_path: "" })).text, /path is empty/)
    assert.match((await useTool(root, Read.make(), { file_path: "a\0.txt" })).text, /NUL/)
  })
})

describe("the tools for files with hooks", () => {
  const root = folderWith({ ".env": "KEY=secret", "src/a.ts": "KEY", "docs/b.md": "KEY" })

  it("need no mapping for permission rules", async () => {
    const rules = PermissionRules.make({
      deny: ["Read(.env*)", "Edit(docs/**)"],
      allow: ["Edit(src/**)"],
      permissionMode: "dontAsk"
    })
    const results = await useTools(root, Toolset.files(), [
      ["Read", { file_path: ".env" }],
      ["Read", { file_path: "src/a.ts" }],
      ["Write", { file_path: "docs/b.md", content: "x" }],
      ["Edit", { file_path: "docs/b.md", old_string: "KEY", new_string: "x" }],
      ["Write", { file_path: "src/new.ts", content: "x" }],
      ["Write", { file_path: "other.ts", content: "x" }]
    ], [rules])
    assert.deepEqual(results.map(({ isError }) => isError), [true, false, true, true, false, true])
  })

  it("are guarded by ProtectedPaths", async () => {
    const results = await useTools(root, Toolset.files({ exclude: [] }), [
      ["Read", { file_path: ".env" }],
      ["Grep", { pattern: "KEY", path: ".env" }],
      ["Write", { file_path: ".env", content: "x" }],
      ["Write", { file_path: ".git/hooks/pre-commit", content: "x" }]
    ], [ProtectedPaths.make({ read: [".env*"] })])
    assert.deepEqual(results.map(({ isError }) => isError), [true, true, true, true])
  })
})

describe("wrong values", () => {
  it("from a program without types are errors when the tool is made", () => {
    assert.throws(() => Toolset.files({ folder: "x" } as never), /there is no option "folder"/)
    assert.throws(() => Read.make({ maxLines: 0 }), /Read\.maxLines/)
    assert.throws(() => Glob.make({ exclude: ".env" } as never), /Glob\.exclude/)
    assert.throws(() => Grep.make("src" as never), /Grep/)
  })

  it("from a model are errors that it can read, and nothing else happens", async () => {
    const root = folderWith({ "a.txt": "a\nb\n" })
    const results = await useTools(root, Toolset.files(), [
      ["Read", { file_path: "a".repeat(1_000_000) }],
      ["Read", { file_path: 7 }],
      ["Read", {}],
      ["Write", { file_path: "b.txt", content: { text: "x" } }],
      ["Grep", { pattern: "", path: "." }],
      ["Edit", "a.txt"]
    ])
    for (const { isError, text } of results) {
      assert.isTrue(isError, text)
      assert.isBelow(text.length, 2_000)
    }
    assert.deepEqual(readdirSync(root), ["a.txt"])
    const [first, all] = await useTools(root, [Read.make()], [
      ["Read", { file_path: "a.txt", offset: -5, limit: 0 }],
      ["Read", { file_path: "a.txt", limit: 1e15 }]
    ])
    assert.strictEqual(first!.text, "a\n[there are more lines: read on with offset 2]")
    assert.strictEqual(all!.text, "a\nb\n")
  })
})

describe("a tree of agents", () => {
  it("changes one file without losing a change, each agent with its own tools", async () => {
    const root = folderWith({ "a.txt": "<1><2><3>" })
    const worker = (name: string, text: string) =>
      agentTool({
        name,
        description: name,
        agent: createAgent({
          name,
          cwd: root,
          tools: [Edit.make()],
          provider: Scripted.make([
            Scripted.toolCalls({
              name: "Edit",
              args: { file_path: "a.txt", old_string: text, new_string: `${text}!` }
            }),
            "done"
          ])
        })
      })
    const calls = ["one", "two", "three"].map((name) => ({ name, args: { message: "go" } }))
    const lead = createAgent({
      provider: Scripted.make([Scripted.toolCalls(...calls), "done"]),
      tools: [worker("one", "<1>"), worker("two", "<2>"), worker("three", "<3>")]
    })
    await lead.run("go")
    await lead.close()
    assert.strictEqual(readFileSync(join(root, "a.txt"), "utf8"), "<1>!<2>!<3>!")
  })
})

describe("files with keys", () => {
  const files = { ".env": "KEY", ".ENV.local": "KEY", ".env.example": "KEY", "a/server.key": "KEY", "a/b.ts": "KEY" }

  it("are left out by default, whichever tool is used", async () => {
    const root = folderWith(files)
    symlinkSync(".env", join(root, "innocent.txt"))
    const results = await useTools(root, Toolset.files(), [
      ["Grep", { pattern: "KEY", path: ".", output_mode: "files_with_matches" }],
      ["Glob", { pattern: "**/*", path: "." }],
      ["Read", { file_path: ".env" }],
      ["Read", { file_path: "innocent.txt" }],
      ["Grep", { pattern: "KEY", path: "a/server.key" }],
      ["Write", { file_path: ".Env", content: "x" }],
      ["Edit", { file_path: "a/server.key", old_string: "KEY", new_string: "x" }]
    ])
    assert.strictEqual(results[0]!.text, ".env.example\na/b.ts")
    assert.strictEqual(results[1]!.text, ".env.example\na/\ninnocent.txt\na/b.ts")
    for (const { text } of results.slice(2)) assert.match(text, /is excluded/)
  })

  it("can be named by the program instead", async () => {
    const root = folderWith(files)
    const read = (file_path: string) => useTool(root, Read.make({ exclude: ["a/**"] }), { file_path })
    assert.strictEqual((await read(".env")).text, "KEY")
    assert.match((await read("a/b.ts")).text, /is excluded/)
  })
})
