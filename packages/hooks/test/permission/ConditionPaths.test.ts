import type { Json } from "@belay/core/Json"
import * as Condition from "@belay/hooks/Condition"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const rule = (text: string) => Result.getOrThrow(Condition.parse(text))

const at: Condition.Setting = { cwd: "/p", home: "/h/ada", realpath: () => undefined }
const guard: Condition.Setting = { ...at, use: "guard" }

const evaluate = (text: string, tool: string, args: Json, setting: Condition.Setting = at) =>
  Condition.evaluate(rule(text), { tool, args }, setting)

/** Whether a hook with this condition runs. It also runs when the verdict is `unknown`. */
const hits = (verdict: Condition.Verdict) => verdict !== "no-match"

describe("rules about paths", () => {
  it("are read in the folder of each call", () => {
    const one = rule("Write(src/**)")
    const call = { tool: "Write", args: { file_path: "/p/src/a" } }
    const found = ["/p", "/q", "/p"].map((cwd) => Condition.evaluate(one, call, { ...at, cwd }))
    assert.deepStrictEqual(found, ["match", "no-match", "match"])
  })

  const rows: ReadonlyArray<readonly [rule: string, tool: string, path: string, hit: boolean]> = [
    ["Write(src/**/*.ts)", "Write", "/p/src/a.ts", true],
    ["Write(src/**/*.ts)", "Write", "/p/src/x/y.ts", true],
    ["Write(src/**/*.ts)", "Write", "/p/lib/src/a.ts", false],
    ["Write(src/**/*.ts)", "Write", "/p/src/a.js", false],
    ["Write(src/**/*.ts)", "Write", "/q/src/a.ts", false],
    ["Write(src/**/*.ts)", "Write", "src/a.ts", true],
    ["Write(src/**/*.ts)", "Write", "build/src/a.ts", false],
    ["Edit(*.ts)", "Edit", "/p/a.ts", true],
    ["Edit(*.ts)", "Edit", "/p/x/y/a.ts", true],
    ["Edit(src/**)", "Edit", "/p/src/a", true],
    ["Edit(src/**)", "Edit", "/p/v/src/a", false],
    ["Edit(**/src/**)", "Edit", "/p/v/src/a", true],
    ["Read(~/.zshrc)", "Read", "/h/ada/.zshrc", true],
    ["Read(~/.zshrc)", "Read", "~/.zshrc", true],
    ["Read(//etc/**)", "Read", "/etc/passwd", true],
    ["Write(.env*)", "Write", "/p/.env.local", true],
    ["Edit(src/**)", "Write", "/p/src/a", true],
    ["Edit(src/**)", "MultiEdit", "/p/src/a", true],
    ["Read(src/**)", "Grep", "/p/src/a", true],
    ["Write(src/**)", "Edit", "/p/src/a", false],
    ["Read(src/**)", "Write", "/p/src/a", false]
  ]
  for (const [text, tool, path, hit] of rows) {
    it(`${text} ${hit ? "is about" : "is not about"} ${tool} of ${path}`, () =>
      assert.strictEqual(hits(evaluate(text, tool, { file_path: path })), hit))
  }

  it("starts a path with a leading slash at the folder of the rule's source", () => {
    const setting = { ...at, source: "/p/packages/a" }
    assert.strictEqual(evaluate("Edit(/docs/**)", "Edit", { file_path: "/p/packages/a/docs/x.md" }, setting), "match")
    assert.strictEqual(evaluate("Edit(/docs/**)", "Edit", { file_path: "/docs/x.md" }, setting), "no-match")
    assert.strictEqual(
      evaluate("Edit(/docs/**)", "Edit", { file_path: "/docs/x.md" }, { ...setting, use: "guard" }),
      "match"
    )
  })

  it("lets a guard match at any depth", () =>
    assert.strictEqual(evaluate("Edit(src/**)", "Edit", { file_path: "/p/v/src/a" }, guard), "match"))

  const spelt = [
    ...[
      "src/../secrets/key",
      "./secrets/key",
      "secrets//key",
      "/p/secrets/key",
      "/p/./secrets/./key",
      "/../p/secrets/key",
      "~/../../p/secrets/key"
    ],
    ...[
      "x/y/../../secrets/key",
      "secrets/sub/../key",
      "//p//secrets//key",
      "SECRETS/KEY",
      "Secrets/key/",
      "file:///p/secrets/key",
      "secrets\\key"
    ],
    ...["file:///p/%73ecrets/key", "ſecrets/key", "/P/secrets/key", "secrets/./././key"]
  ]
  for (const path of spelt) {
    it(`recognizes ${path} as secrets/key`, () =>
      assert.strictEqual(evaluate("Write(secrets/key)", "write_file", { path }, guard), "match"))
  }

  it("treats both Unicode forms of a name as the same", () => {
    assert.strictEqual(evaluate("Write(caf\u00e9/**)", "Write", { file_path: "cafe\u0301/a" }), "match")
    assert.strictEqual(evaluate("Write(cafe\u0301/**)", "Write", { file_path: "caf\u00e9/a" }), "match")
  })

  it("distinguishes letter case if the option is false", () =>
    assert.strictEqual(
      evaluate("Write(src/**)", "Write", { file_path: "SRC/a" }, { ...at, ignoreCase: false }),
      "no-match"
    ))

  it("answers unknown for an invalid path", () => {
    for (const path of ["", "a\0b", "x".repeat(10_000), "file:///%ff%zz"]) {
      assert.strictEqual(evaluate("Write(src/**)", "Write", { file_path: path }), "unknown")
    }
  })
})

describe("paths on a real disk", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-condition-")))
  afterAll(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, "place/secrets"), { recursive: true })
  mkdirSync(join(root, "outside"))
  writeFileSync(join(root, "place/secrets/key"), "not a real key")
  symlinkSync(join(root, "place/secrets"), join(root, "place/notes"))
  symlinkSync(join(root, "place/secrets/key"), join(root, "place/alias"))
  symlinkSync(join(root, "outside"), join(root, "place/away"))
  symlinkSync(join(root, "place/secrets/later"), join(root, "place/dangling"))
  symlinkSync("loop", join(root, "place/loop"))
  const here: Condition.Setting = { cwd: join(root, "place"), home: "/h/ada", use: "guard" }

  it("resolves links, also to files that do not exist yet", () => {
    for (
      const path of [
        "notes/key",
        "alias",
        "notes/new/file",
        "away/../place/secrets/key",
        "dangling",
        "notes/../notes/key"
      ]
    ) {
      assert.strictEqual(evaluate("Write(//**/secrets/**)", "Write", { file_path: path }, here), "match", path)
    }
    assert.strictEqual(evaluate("Write(secrets/**)", "Write", { file_path: "loop" }, here), "no-match")
  })

  it("asks the disk every time, because links change", () => {
    const changing = join(root, "place/changing")
    symlinkSync(join(root, "outside"), changing)
    assert.strictEqual(evaluate("Write(secrets/**)", "Write", { file_path: "changing/key" }, here), "no-match")
    rmSync(changing)
    symlinkSync(join(root, "place/secrets"), changing)
    assert.strictEqual(evaluate("Write(secrets/**)", "Write", { file_path: "changing/key" }, here), "match")
    rmSync(changing)
  })

  it("covers only files that are inside by each of their names", () => {
    const covers = (path: string) =>
      Condition.covers([rule("Write(**)"), rule("Edit(./*)")].slice(1).concat(rule("Write(/**)")), {
        tool: "Write",
        args: { file_path: path }
      }, here)
    assert.isTrue(covers("a/b"))
    assert.isFalse(covers("away/b"))
    assert.isFalse(covers("../outside/b"))
  })
})
