/** Exactly which files of a project a decision covers. */
import * as Discovery from "@belay/hook-files/Discovery"
import { assert, describe, it } from "@effect/vitest"
import { chmodSync, linkSync, mkdirSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { sha256 } from "../../../src/internal/files.ts"
import * as Covered from "../../../src/trust/internal/covered.ts"
import * as Files from "../../../src/trust/internal/files.ts"
import { settings } from "../../support/places.ts"
import { folder, write } from "../../support/processes.ts"

/** A project of empty files. Those whose name ends with `*` can be executed. */
const project = (line: string, files = "") => {
  const root = realpathSync(folder())
  const [cwd, home] = [join(root, "project"), join(root, "home")]
  const put = (path: string, text = ""): string => {
    const full = join(cwd, path.replace(/\*$/, ""))
    mkdirSync(dirname(full), { recursive: true })
    write(full, text)
    if (path.endsWith("*")) chmodSync(full, 0o755)
    return full
  }
  put(".claude/settings.json", settings(line))
  for (const file of files.split(/\s+/)) if (file !== "") put(file)
  const find = (dialects?: ReadonlyArray<Discovery.Dialect>) =>
    Discovery.find({ cwd, home, managed: join(root, "no"), ...(dialects === undefined ? {} : { sources: dialects }) })
      .sources.filter(({ ofProject }) => ofProject)
  const of = (dialects?: ReadonlyArray<Discovery.Dialect>) => Covered.of(cwd, find(dialects), home, Files.make())
  /** The covered paths of one system, and those that do not exist with a question mark. */
  const paths = (dialect: Discovery.Dialect = "claude"): string =>
    [...of().get(dialect) ?? []].filter(([, { isSource }]) => isSource !== true)
      .map(([path, { state }]) => `${relative(cwd, path)}${state === "absent" ? "?" : ""}`).join(" ")
  return { root, cwd, home, put, find, of, paths }
}

describe("a decision about a project", () => {
  const rows: ReadonlyArray<readonly [line: string, files: string, covered: string]> = [
    ["tools/x.sh", "tools/x.sh", "tools/x.sh"],
    ["tools/x.sh", "", "tools/x.sh?"],
    [
      "tools/x.sh",
      "tools/x.sh tools/lib/y.py tools/z tools/w* tools/a.md* tools/n.md",
      "tools/a.md tools/lib/y.py tools/w tools/x.sh"
    ],
    ["tools/x.sh", "tools/x.sh tools/y.d.ts tools/z.d.mts tools/w.ts", "tools/w.ts tools/x.sh"],
    ["tools/x.sh", "tools/x.sh tools/package.json tools/.npmrc", "tools/.npmrc tools/package.json tools/x.sh"],
    ["tools/x.sh", "tools/x.sh tools/.git/a.sh tools/tmp/b.sh tools/.cache/c.sh", "tools/x.sh"],
    ["tools/a.txt", "tools/a.txt tools/b.sh", "tools/a.txt"],
    ["x.sh; ./y.sh", "y.sh z.sh package.json src/a.sh", "y.sh z.sh"],
    ["cat a.sh b.sh", "a.sh* b.sh c.sh", "a.sh"],
    ["tools/", "tools/a.sh other/b.sh", "tools/a.sh"],
    ["node ./", "a.sh", "a.sh"],
    ["make", "Makefile src/a.sh", "GNUmakefile? Makefile makefile?"],
    ["node a/b/x.js", "a/b/x.js", "a/b/package.json? a/b/x.js a/package.json? package.json?"],
    ["node a/b/x.js", "a/b/x.js a/package.json package.json", "a/b/package.json? a/b/x.js a/package.json"],
    ["node a/x.js", "a/x.js a/package.json package.json", "a/package.json a/x.js"],
    [
      "node a/b/c/x.js",
      "a/b/c/x.js a/package.json package.json",
      "a/b/c/package.json? a/b/c/x.js a/b/package.json? a/package.json"
    ],
    ["node a/x.mts", "a/x.mts package.json", "a/package.json? a/x.mts package.json"],
    ["python3 a/x.py", "a/x.py package.json", "a/x.py"],
    [
      "tools/x.sh",
      "tools/x.sh tools/node_modules/a/b.js tools/node_modules/a/package.json tools/node_modules/a/tsconfig.json tools/node_modules/a/c.md* tools/node_modules/a/d*",
      "tools/node_modules/a/b.js tools/node_modules/a/d tools/node_modules/a/package.json tools/x.sh"
    ],
    [
      "node_modules/a/x.js",
      "node_modules/a/x.js node_modules/a/y.js",
      "node_modules/a/package.json? node_modules/a/x.js node_modules/package.json? package.json?"
    ],
    ["true", ".claude/hooks/a.sh hooks/b.sh", ".claude/hooks/a.sh"],
    ["/usr/bin/env tools/x", "tools/x*", "tools/x"]
  ]
  it.each(rows)("with the line %s and the files %s covers %s", (line, files, covered) => {
    assert.strictEqual(project(line, files).paths(), covered)
  })

  it("covers the settings, of which only the hooks count", () => {
    const { cwd, of, put } = project("true")
    const path = join(cwd, ".claude/settings.json")
    const item = () => of().get("claude")!.get(path)!
    const before = item()
    assert.strictEqual(before.real, path)
    assert.match(before.state, /^hooks [0-9a-f]{64}$/)
    put(".claude/settings.json", settings("true", { model: "other" }))
    assert.deepEqual(item(), before)
    put(".claude/settings.json", settings("false"))
    assert.notDeepEqual(item(), before)
  })

  it("knows settings as they were loaded, and as they are now", () => {
    const { cwd, find, home, put } = project("true")
    const sources = find()
    const state = (now?: boolean) =>
      Covered.of(cwd, sources, home, Files.make(), now).get("claude")!.get(join(cwd, ".claude/settings.json"))!.state
    const before = state()
    assert.strictEqual(state(true), before)
    put(".claude/settings.json", settings("false"))
    assert.strictEqual(state(), before)
    assert.notStrictEqual(state(true), before)
  })

  it("does not follow links to folders above the project, and follows others once", () => {
    const { cwd, home, paths, put, root } = project("tools/x.sh", "tools/x.sh shared/y.sh src/z.sh")
    mkdirSync(home)
    for (const [name, target] of [["up", ".."], ["root", root], ["home", home], ["more", "../shared"]] as const) {
      symlinkSync(target, join(cwd, "tools", name))
    }
    symlinkSync(".", join(cwd, "shared/again"))
    write(join(home, "mine.sh"), "")
    write(join(root, "other.sh"), "")
    assert.strictEqual(paths(), "tools/more/y.sh tools/x.sh")
    put("shared/deep/w.sh")
    assert.strictEqual(paths(), "tools/more/deep/w.sh tools/more/y.sh tools/x.sh")
  })

  it("does not cover folders elsewhere, except those that a link in the project leads to", () => {
    const { cwd, paths, root } = project("../elsewhere/x.sh; linked/y.sh")
    for (const file of ["elsewhere/x.sh", "elsewhere/z.sh", "shared/y.sh", "shared/w.sh"]) write(join(root, file), "")
    symlinkSync("../shared", join(cwd, "linked"))
    assert.strictEqual(paths(), "../elsewhere/x.sh linked/w.sh linked/y.sh")
  })

  it("names the real path of a link, and does not read programs of the system", () => {
    const { cwd, of } = project("tools/x.sh; tools/y.sh; tools/z.sh", "tools/z.sh")
    symlinkSync("/bin/sh", join(cwd, "tools/x.sh"))
    symlinkSync("z.sh", join(cwd, "tools/y.sh"))
    linkSync(join(cwd, "tools/z.sh"), join(cwd, "w"))
    const items = of().get("claude")!
    assert.deepEqual(items.get(join(cwd, "tools/x.sh")), { real: realpathSync("/bin/sh"), state: "of the system" })
    assert.deepEqual(items.get(join(cwd, "tools/y.sh")), { real: join(cwd, "tools/z.sh"), state: `644 ${sha256("")}` })
    assert.deepEqual(items.get(join(cwd, "tools/z.sh")), { real: join(cwd, "tools/z.sh"), state: `644 ${sha256("")}` })
  })

  it("covers the folder and the variables of an entry, if its system has them", () => {
    const { of, put } = project("true")
    const hook = (more: object) => ({
      version: 1,
      hooks: { preToolUse: [{ type: "command", bash: "./x.sh", ...more }] }
    })
    const keys = (more: object): ReadonlyArray<string> => {
      put(".github/hooks/x.json", JSON.stringify(hook(more)))
      return [...of(["copilot"]).get("copilot")!.keys()].map((path) => path.replace(/^.*\/project\//, ""))
    }
    assert.deepEqual(keys({}), [".github/hooks/x.json", "x.sh"])
    assert.deepEqual(keys({ cwd: "tools" }), [".github/hooks/x.json", "tools/x.sh"])
    assert.deepEqual(keys({ env: { TOOL: "./tool.sh", A: 1 } }), [".github/hooks/x.json", "tool.sh", "x.sh"])
  })

  it("finds the scripts of a skill in the folder of the skill", () => {
    const { paths, put } = project("true")
    const matter = (command: string) =>
      `---\nname: x\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: ${command}\n---\n`
    put(".claude/skills/x/SKILL.md", matter("bash $CLAUDE_PLUGIN_ROOT/guard"))
    put(".claude/skills/x/guard")
    put(".claude/skills/x/more.sh")
    put("guard")
    assert.strictEqual(paths(), ".claude/skills/x/guard .claude/skills/x/more.sh")
  })

  it("covers folders of its system only if there are entries", () => {
    const { cwd, of, put } = project("true", ".claude/hooks/a.sh")
    put(".claude/settings.json", JSON.stringify({ disableAllHooks: true }))
    assert.deepEqual([...of().get("claude")!.keys()], [join(cwd, ".claude/settings.json")])
  })

  it("is printed as one part for each system, whatever the order", () => {
    const item = { real: "/p/a", state: "absent" }
    const other = { real: "/p/b", state: "absent" }
    const [one, two] = [
      Covered.print(
        "/p",
        new Map([["codex", new Map([["/p/a", item]])], ["claude", new Map([["/p/a", item], ["/p/b", other]])]])
      ),
      Covered.print(
        "/p",
        new Map([["claude", new Map([["/p/b", other], ["/p/a", item]])], ["codex", new Map([["/p/a", item]])]])
      )
    ]
    assert.match(one, /^claude:[0-9a-f]{64} codex:[0-9a-f]{64}$/)
    assert.strictEqual(one, two)
    assert.notStrictEqual(Covered.print("/q", new Map([["codex", new Map([["/p/a", item]])]])), one.split(" ")[1])
    assert.strictEqual(Covered.print("/p", new Map()), "")
  })

  it("shows the settings of hooks as a person reads them", () => {
    const { cwd, find } = project("true")
    const text = Covered.textOf(find(), join(cwd, ".claude/settings.json"))
    assert.include(text!, "\"command\": \"true\"")
    assert.strictEqual(JSON.stringify(JSON.parse(text!), null, 2), text)
    assert.isUndefined(Covered.textOf(find(), join(cwd, "other.json")))
  })

  it("reads executables themselves, and shows none of them as settings", () => {
    const { cwd, find, of, paths, put } = project("true")
    rmSync(join(cwd, ".claude"), { recursive: true })
    const path = put(".kodelet/hooks/guard*", "#!/bin/sh\necho before_tool_call\n")
    assert.strictEqual(paths("kodelet"), ".kodelet/hooks/guard")
    assert.match(of().get("kodelet")!.get(path)!.state, /^755 /)
    assert.isUndefined(Covered.textOf(find(), path))
  })
})
