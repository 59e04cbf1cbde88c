/** The tools for files, called through an agent. */
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
import * as Write from "@belay/tools/Write"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { newFolder, useTool, useTools } from "./support/useTool.ts"

const folderWith = (files: { readonly [path: string]: string }): string => {
  const folder = newFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

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

describe("Read", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("")

  it("reads a file, and parts of it", async () => {
    const root = folderWith({ "a.txt": lines(10) })
    const read = (args: object) => useTool(root, Read.make({ maxLines: 6 }), { file_path: "a.txt", ...args })
    assert.strictEqual((await read({ offset: 9 })).text, "line 9\nline 10\n")
    assert.strictEqual(
      (await read({ offset: 2, limit: 2 })).text,
      "line 2\nline 3\n[there are more lines: read on with offset 4]"
    )
    assert.strictEqual((await read({})).text, `${lines(6)}[there are more lines: read on with offset 7]`)
    assert.strictEqual((await read({ offset: 5, limit: 6 })).text, lines(10).slice(lines(4).length))
    assert.strictEqual((await read({ offset: 30 })).text, "[the file has only 11 lines]")
  })

  it("says how much of long lines is missing", async () => {
    const root = folderWith({ "a.txt": `short\n${"x".repeat(50)}\nend` })
    const read = (args: object) => useTool(root, Read.make({ maxCharacters: 20 }), { file_path: "a.txt", ...args })
    assert.strictEqual(
      (await read({})).text,
      `short\n${"x".repeat(14)}\n[cut after 20 characters, in line 2: read on with offset 2]`
    )
    assert.match(
      (await read({ offset: 2 })).text,
      /^x{20}\n\[cut after 20 characters, in line 2\. The line is too long/
    )
  })

  it.effect.prop(
    "gives the whole file when all of its parts are joined",
    [
      Schema.Array(Schema.Literals(["a", "ü", "\n", "long line", "\r\n", "😀"])),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
    ],
    ([parts, limit]) =>
      Effect.promise(async () => {
        const text = parts.join("")
        const root = folderWith({ "a.txt": text })
        let joined = ""
        for (let offset = 1;;) {
          const part = (await useTool(root, Read.make(), { file_path: "a.txt", offset, limit })).text
          const [, kept = part, next] = /^([^]*)\[there are more lines: read on with offset (\d+)\]$/.exec(part) ?? []
          joined += kept
          if (next === undefined) break
          offset = Number(next)
        }
        assert.strictEqual(joined, text === "" ? "[the file is empty]" : text)
      }),
    { arbitrary: { runs: 20 } }
  )

  it("refuses what is not a text file, without waiting for it", async () => {
    const root = folderWith({ "a.bin": "a\0b" })
    execFileSync("mkfifo", [join(root, "pipe")])
    const read = (file_path: string) => useTool(root, Read.make(), { file_path })
    assert.match((await read("a.bin")).text, /a\.bin is a binary file/)
    assert.match((await read("pipe")).text, /pipe is not a regular file/)
    assert.match((await read(".")).text, /is a folder: list it with Glob/)
    assert.deepEqual(await read("missing.txt"), { isError: true, text: "missing.txt does not exist" })
    assert.match((await read("a.bin/x")).text, /a part of its path is a file/)
  })
})

describe("Write", () => {
  it("creates files and their folders, and replaces files whole", async () => {
    const root = folderWith({ "run.sh": "a long old text" })
    chmodSync(join(root, "run.sh"), 0o755)
    const [created, replaced] = await useTools(root, [Write.make()], [
      ["Write", { file_path: "new/deep/a.txt", content: "hello" }],
      ["Write", { file_path: "run.sh", content: "new" }]
    ])
    assert.deepEqual(created, { isError: false, text: "created new/deep/a.txt: 5 characters" })
    assert.deepEqual(replaced, { isError: false, text: "replaced run.sh: 3 characters" })
    assert.strictEqual(readFileSync(join(root, "run.sh"), "utf8"), "new")
    assert.strictEqual(statSync(join(root, "run.sh")).mode & 0o777, 0o755)
    assert.deepEqual(readdirSync(root).sort(), ["new", "run.sh"])
  })

  it("writes through a link that stays inside, and leaves the link", async () => {
    const root = folderWith({ "a.txt": "old" })
    symlinkSync("a.txt", join(root, "b.txt"))
    await useTool(root, Write.make(), { file_path: "b.txt", content: "new" })
    assert.strictEqual(readFileSync(join(root, "a.txt"), "utf8"), "new")
    assert.isTrue(existsSync(join(root, "b.txt")))
  })

  it("refuses folders and large contents", async () => {
    const root = folderWith({ "sub/a.txt": "" })
    assert.match((await useTool(root, Write.make(), { file_path: "sub", content: "" })).text, /sub is not a file/)
    const { text } = await useTool(root, Write.make({ maxCharacters: 3 }), { file_path: "x", content: "four" })
    assert.include(text, "has 4 characters, at most 3")
    assert.isFalse(existsSync(join(root, "x")))
  })
})

describe("Edit", () => {
  const edit = async (content: string, args: object, options?: Edit.Options) => {
    const root = folderWith({ "a.txt": content })
    const used = await useTool(root, Edit.make(options), { file_path: "a.txt", ...args })
    return { ...used, after: readFileSync(join(root, "a.txt"), "utf8") }
  }

  it("replaces a text that occurs once", async () => {
    const { after, text } = await edit("one two", { old_string: "two", new_string: "$& three" })
    assert.deepEqual([after, text], ["one $& three", "replaced 1 occurrence in a.txt"])
  })

  it("refuses a text that occurs several times, unless all are to be replaced", async () => {
    const change = { old_string: "a", new_string: "b" }
    const refused = await edit("a a", change)
    assert.isTrue(refused.isError)
    assert.include(refused.text, "contains old_string 2 times")
    assert.strictEqual(refused.after, "a a")
    assert.strictEqual((await edit("a a", { ...change, replace_all: true })).after, "b b")
  })

  it("says when the text is missing, empty or unchanged", async () => {
    assert.match((await edit("a", { old_string: "x", new_string: "b" })).text, /does not contain old_string/)
    assert.match((await edit("a", { old_string: "", new_string: "b" })).text, /use Write/)
    assert.match((await edit("a", { old_string: "a", new_string: "a" })).text, /are the same/)
  })

  it("keeps Windows line ends and a byte order mark", async () => {
    const { after } = await edit("\uFEFFa\r\nb\r\nc\r\n", { old_string: "a\nb\n", new_string: "x\ny\n" })
    assert.strictEqual(after, "\uFEFFx\r\ny\r\nc\r\n")
  })

  it("does not change a file that is not UTF-8", async () => {
    const root = newFolder()
    const bytes = Buffer.from([0x61, 0xff, 0x62])
    writeFileSync(join(root, "a.txt"), bytes)
    const { text } = await useTool(root, Edit.make(), { file_path: "a.txt", old_string: "a", new_string: "b" })
    assert.include(text, "is not a text in UTF-8")
    assert.isTrue(readFileSync(join(root, "a.txt")).equals(bytes))
  })

  it("refuses a change that makes the file too large, before it is made", async () => {
    const args = { old_string: "a", new_string: "x".repeat(10_000), replace_all: true }
    const { after, text } = await edit("a".repeat(100_000), args)
    assert.include(text, "would have more than 10000000 bytes")
    assert.strictEqual(after, "a".repeat(100_000))
  })

  it("loses no change when a model makes several at once", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`)
    const root = folderWith({ "a.txt": names.join("") })
    const changes = names.map((name) =>
      ["Edit", { file_path: "a.txt", old_string: name, new_string: `${name}!` }] as const
    )
    const results = await useTools(root, [Edit.make()], changes)
    assert.isTrue(results.every(({ isError }) => !isError))
    assert.strictEqual(readFileSync(join(root, "a.txt"), "utf8"), names.map((name) => `${name}!`).join(""))
  })
})

describe("Glob", () => {
  const root = folderWith({
    "b.ts": "",
    "a.ts": "",
    ".env": "",
    "sub/c.ts": "",
    "sub/d.md": "",
    "node_modules/x/e.ts": "",
    ".git/config": ""
  })
  symlinkSync("/", join(root, "sub/everything"))
  const glob = async (args: object, options?: Glob.Options) =>
    (await useTool(root, Glob.make(options), { path: ".", ...args })).text.split("\n")

  it("lists files in order, and skips packages, Git and what links lead to", async () => {
    assert.deepEqual(await glob({ pattern: "**/*.ts" }), ["a.ts", "b.ts", "sub/c.ts"])
    assert.deepEqual(await glob({ pattern: "*" }), ["a.ts", "b.ts", "sub/"])
    assert.deepEqual(await glob({ pattern: "*", path: "sub" }), ["sub/c.ts", "sub/d.md", "sub/everything"])
    assert.deepEqual(await glob({ pattern: "**/*.ts", path: "node_modules" }), ["node_modules/x/e.ts"])
    assert.deepEqual(await glob({ pattern: "*.rs" }), ["[nothing matches]"])
  })

  it("says that there are more paths than it shows", async () => {
    const shown = await glob({ pattern: "**/*.ts" }, { maxPaths: 2 })
    assert.deepEqual(shown, ["a.ts", "b.ts", "[there are more than 2 paths: use a narrower glob]"])
  })

  it("says that a folder does not exist", async () => {
    assert.deepEqual(await glob({ pattern: "*", path: "nowhere" }), ["nowhere does not exist"])
    assert.strictEqual(
      (await useTool(root, Grep.make(), { path: "nowhere", pattern: "x" })).text,
      "nowhere does not exist"
    )
  })

  it("refuses globs that leave the folder", async () => {
    assert.match((await glob({ pattern: "../*" }))[0]!, /must be relative to path/)
    assert.match((await glob({ pattern: "/etc/*" }))[0]!, /must be relative to path/)
  })

  it("ends soon, whatever the glob is", async () => {
    const pattern = `${"**/".repeat(100)}${"*a".repeat(200)}${"{a,b}".repeat(20)}`
    assert.match((await glob({ pattern: pattern.slice(0, 1_000) }))[0]!, /is not valid|nothing matches/)
    assert.match((await glob({ pattern: "*".repeat(2_000) }))[0]!, /more than 1000 characters/)
  })
})

describe("Grep", () => {
  const root = folderWith({
    "a.ts": "const key = 1\nconst Other = 2\r\nkey()\n",
    "sub/b.md": "the key\n",
    "long.txt": `key ${"x".repeat(2_000)}`,
    "a.bin": "key\0",
    "node_modules/x.ts": "key"
  })
  const grep = async (args: object, options?: Grep.Options) =>
    (await useTool(root, Grep.make(options), { path: ".", ...args })).text.split("\n")

  it("shows lines, files or counts", async () => {
    assert.deepEqual(await grep({ pattern: "key", glob: "*.ts" }), ["a.ts:1:const key = 1", "a.ts:3:key()"])
    assert.deepEqual(await grep({ pattern: "key", output_mode: "files_with_matches" }), [
      "a.ts",
      "long.txt",
      "sub/b.md"
    ])
    assert.deepEqual(await grep({ pattern: "key", output_mode: "count", glob: "*.ts" }), ["a.ts:2"])
    assert.deepEqual(await grep({ pattern: "OTHER = 2$", "-i": true }), ["a.ts:2:const Other = 2"])
    assert.deepEqual(await grep({ pattern: "key", path: "sub/b.md" }), ["sub/b.md:1:the key"])
    assert.deepEqual(await grep({ pattern: "nowhere" }), ["[nothing matches]"])
  })

  it("cuts long lines and long answers, and says so", async () => {
    const [line] = await grep({ pattern: "key", path: "long.txt" })
    assert.isBelow(line!.length, 600)
    assert.isTrue(line!.endsWith("…"))
    const shown = await grep({ pattern: "const|key", head_limit: 2 })
    assert.deepEqual(shown.slice(2), ["[there are more than 2 lines: use a narrower pattern, path or glob]"])
  })

  it("answers a pattern that is not valid with what is wrong", async () => {
    const { isError, text } = await useTool(root, Grep.make(), { path: ".", pattern: "(?=a)" })
    assert.isTrue(isError)
    assert.match(text, /lookaround/i)
  })

  it("takes linear time for patterns that others hang on", async () => {
    const slow = folderWith({ "a.txt": `${"a".repeat(5_000)}!` })
    assert.strictEqual((await useTool(slow, Grep.make(), { path: ".", pattern: "^(a+)+$" })).text, "[nothing matches]")
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
