import * as SkillFiles from "@belay/hook-files/SkillFiles"
import * as Trust from "@belay/hook-files/Trust"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"

const place = () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "belay-skills-")))
  const cwd = join(home, "project")
  mkdirSync(cwd)
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
    return join(home, path)
  }
  return { home, cwd, put, load: (options: SkillFiles.Options = {}) => SkillFiles.load({ home, cwd, ...options }) }
}

const text = (fields: string, body = "Do it.") => `---\ndescription: Does things\n${fields}---\n${body}\n`
const own = (name: string) => `.agents/skills/${name}/SKILL.md`
const ofProject = (name: string) => `project/.agents/skills/${name}/SKILL.md`

describe("SkillFiles", () => {
  it("reads every field of the front matter, in all of its forms", () => {
    const { load, put } = place()
    put(
      own("all"),
      text(
        "license: MIT\ncompatibility: Needs git\nmetadata:\n  author: ada\n  version: 1.0\nallowed-tools:\n  - Read\n  - Bash(git log *)\n"
      )
    )
    put(own("commas"), text("allowed-tools: Read, Bash(git log *, (a) x), mcp__docs\n"))
    put(own("none"), text("allowed-tools: \"\"\n"))
    put(own("silent"), text("disable-model-invocation: true\n"))
    put(own("windows"), text("allowed-tools: Read\n").replaceAll("\n", "\r\n"))
    const { skills, warnings } = load()
    assert.deepEqual(warnings, [])
    const [all, commas, none, silent, windows] = skills
    assert.deepInclude(all!, {
      name: "all",
      description: "Does things",
      license: "MIT",
      compatibility: "Needs git",
      metadata: { author: "ada", version: "1" },
      allowedTools: ["Read", "Bash(git log *)"],
      text: "Do it.",
      scope: "user",
      source: "agents",
      ofProject: false
    })
    assert.deepEqual(commas!.allowedTools, ["Read", "Bash(git log *, (a) x)", "mcp__docs"])
    assert.deepEqual(none!.allowedTools, [])
    assert.isFalse(silent!.forModels)
    assert.notProperty(silent!, "allowedTools")
    assert.deepEqual([windows!.allowedTools, windows!.text], [["Read"], "Do it."])
  })

  it("says what is wrong with a file that it does not use", () => {
    const { load, put } = place()
    put(own("a"), "# No front matter")
    put(own("b"), "---\nname: b\n---\n")
    put(own("c"), "---\ndescription: Use when: always\n---\n")
    put(own("d"), "---\ndescription: 3\n---\n")
    put(own("e"), text(`allowed-tools: ${"Read ".repeat(101)}\n`))
    put(own("f"), text(`allowed-tools: Bash(${"x".repeat(900)} *)${` Bash(${"y".repeat(900)})`.repeat(9)}\n`))
    const reasons = load().warnings.map(({ key, reason }) => `${key}: ${reason}`)
    assert.match(reasons[0]!, /expected front matter between two lines of three hyphens/)
    assert.match(reasons[1]!, /^description: is missing: say what the skill does/)
    assert.match(reasons[2]!, /not YAML: .*put texts with a colon in quotes/)
    assert.match(reasons[3]!, /^description: expected a text/)
    assert.match(reasons[4]!, /^allowed-tools: has more than 100 rules/)
    assert.match(reasons[5]!, /^allowed-tools: /)
  })

  it("trusts each skill of a project for itself, in exactly the state that was shown", () => {
    const { cwd, home, load, put } = place()
    put(ofProject("one"), text(""))
    const script = put("project/.agents/skills/two/run.sh", "echo\n")
    put(ofProject("two"), text(""))
    const [one, two] = load().untrusted
    assert.deepEqual(two!.files.map(({ path }) => path), ["SKILL.md", "run.sh"])
    two!.trust()
    assert.deepEqual(load().skills.map(({ name }) => name), ["two"])
    one!.trust()
    const [, before] = load().skills
    assert.lengthOf(load().skills, 2)
    chmodSync(script, 0o755)
    assert.deepEqual(load().untrusted[0]!.changes()!.map(({ kind }) => kind), ["mode"])
    assert.match(before!.refuse()!, /the skill two changed since it was trusted \(run\.sh\)/)
    chmodSync(script, 0o644)
    assert.isUndefined(before!.refuse())
    // What is shown while a file changes is not what gets trusted.
    put(ofProject("three"), text("", "shown"))
    const [three] = load().untrusted
    put(ofProject("three"), text("", "changed"))
    three!.trust()
    assert.deepEqual(load().untrusted.map(({ skill }) => skill.name), ["three"])
    assert.isTrue(Trust.folder(join(home, ".belay", "trust")).remove(cwd))
    assert.lengthOf(load().untrusted, 3)
  })

  it("does not trust a skill in another project, or under another path", () => {
    const { cwd, home, load, put } = place()
    put(ofProject("one"), text(""))
    load().untrusted[0]!.trust()
    renameSync(join(cwd, ".agents/skills/one"), join(cwd, ".agents/skills/moved"))
    assert.deepEqual(load().skills, [])
    const other = join(home, "other")
    mkdirSync(join(other, ".agents", "skills"), { recursive: true })
    renameSync(join(cwd, ".agents/skills/moved"), join(other, ".agents/skills/one"))
    assert.deepEqual(SkillFiles.load({ home, cwd: other }).skills, [])
  })

  it("reads folders that are at most 15 deep, and shows which one is deeper", () => {
    const { load, put } = place()
    const deep = (count: number) => "d/".repeat(count)
    put(ofProject("one"), text(""))
    put(`project/.agents/skills/one/${deep(15)}x.txt`, "x")
    put(`project/.agents/skills/one/${deep(16)}y.txt`, "y")
    const states = new Map(SkillFiles.filesOf(load().untrusted[0]!.skill).map(({ path, state }) => [path, state]))
    assert.match(states.get(`${deep(15)}x.txt`) ?? "", /[0-9a-f]{64}/)
    assert.strictEqual(states.get(`${deep(15)}d`), "a folder that is too deep")
    assert.isFalse(states.has(`${deep(16)}y.txt`))
  })

  it("finds one skill once, whichever folders lead to it", () => {
    const { cwd, home, load, put } = place()
    put(ofProject("one"), text(""))
    mkdirSync(join(cwd, ".claude"))
    symlinkSync("../.agents/skills", join(cwd, ".claude", "skills"))
    assert.lengthOf(load().untrusted, 1)
    // In the home folder, everything is the user's.
    assert.lengthOf(SkillFiles.load({ home: cwd, cwd }).skills, 1)
    put("more/extra/SKILL.md", text(""))
    assert.lengthOf(load({ folders: ["../more"] }).skills, 1)
    put("project/own/extra/SKILL.md", text(""))
    assert.lengthOf(load({ folders: [join(cwd, "own")] }).untrusted, 2)
    assert.isString(home)
  })

  it("shows all files of a skill, with the texts of those that are texts", () => {
    const { load, put } = place()
    put(own("one"), text(""))
    put(".agents/skills/one/a/b.md", "text")
    put(".agents/skills/one/c.bin", "a\0b")
    put(".agents/skills/one/__pycache__/x.pyc", "x")
    const [skill] = load().skills
    const files = SkillFiles.filesOf(skill!)
    assert.deepEqual(files.map(({ path, text: own }) => [path, own]), [
      ["SKILL.md", text("")],
      ["a/b.md", "text"],
      ["c.bin", undefined]
    ])
    assert.match(files[2]!.state, /^\d+ [0-9a-f]{64}$/)
    assert.deepEqual(skill!.resources(), ["a/b.md", "c.bin"])
  })

  it("names a system that it does not know, and a folder of decisions that the project could write", () => {
    const { cwd, load, put } = place()
    assert.throws(() => load({ systems: ["claud" as never] }), /SkillFiles\.load\.systems: expected names of agents/)
    put(ofProject("one"), text(""))
    assert.throws(() => load({ trust: join(cwd, "trust") }), /expected a folder outside of the project/)
  })
})
