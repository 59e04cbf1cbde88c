/** `npm create @belay`: each template as a fresh project, whose own tests pass and whose program runs. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const bin = at("../bin/create.mjs")
const belay = at("../../cli/src/bin/belay.ts")
const env = {
  ...process.env,
  OPENAI_API_KEY: "",
  OPENAI_BASE_URL: "",
  NO_COLOR: "1",
  NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --conditions=@belay/source`
}

const create = (folder: string, ...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [bin, folder, ...args], { encoding: "utf8", env: process.env })

/** Makes a project whose packages are those of this workspace. */
const project = (template: string): string => {
  const folder = join(mkdtempSync(join(tmpdir(), "belay-create-")), `My ${template}`)
  const { status, stderr, stdout } = create(folder, "--template", template)
  assert.strictEqual(status, 0, stderr)
  assert.include(stdout, "npm start")
  symlinkSync(at("../../../node_modules"), join(folder, "node_modules"))
  return folder
}

const run = async (cwd: string, args: ReadonlyArray<string>, input = "") => {
  const child = spawn(process.execPath, [...args], { cwd, env })
  let shown = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => shown += String(data))
  child.stdin.end(input)
  const [code] = await once(child, "close")
  return { code, shown }
}

describe("npm create @belay", () => {
  for (const template of ["chat", "guarded", "service"]) {
    it(`makes a project from the template ${template} whose tests pass`, async () => {
      const folder = project(template)
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
      assert.strictEqual(manifest.name, `my-${template}`)
      assert.isTrue(existsSync(join(folder, ".gitignore")))
      assert.include(readFileSync(join(folder, "AGENTS.md"), "utf8"), "node_modules/@belay/core/docs")
      const files = template === "guarded" ? "src/guards.test.ts" : "src/agent.test.ts"
      const { code, shown } = await run(folder, ["--test", files])
      assert.strictEqual(code, 0, shown)
    })
  }

  it("makes an agent that answers in the terminal without a key", async () => {
    const { code, shown } = await run(project("chat"), [belay, "chat", "src/agent.ts"], "Roll a dice with 6 sides\n")
    assert.strictEqual(code, 0, shown)
    assert.match(shown, /→ roll_dice {"sides":6}\n✓ [1-6]/)
  })

  it("says in one sentence that Node 20 is too old", () => {
    const old =
      `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.9.0"}})`
    const folder = join(mkdtempSync(join(tmpdir(), "belay-create-")), "new")
    const { status, stderr } = spawnSync(process.execPath, ["--import", old, bin, folder], { encoding: "utf8" })
    assert.strictEqual(stderr, "@belay/create: needs Node 22.22 or newer, found 20.9.0\n")
    assert.strictEqual(status, 2)
    assert.isFalse(existsSync(folder))
  })

  it("leaves a folder alone that has something in it, and names the templates it has", () => {
    const folder = join(mkdtempSync(join(tmpdir(), "belay-create-")), "taken")
    mkdirSync(folder)
    writeFileSync(join(folder, "mine.txt"), "precious")
    const taken = create(folder, "--template", "chat")
    assert.strictEqual(taken.status, 2)
    assert.include(taken.stderr, "is not empty")
    const wrong = create(`${folder}-new`, "--template", "nothing")
    assert.strictEqual(wrong.status, 2)
    assert.include(wrong.stderr, "chat, guarded, service")
    assert.isFalse(existsSync(`${folder}-new`))
  })
})
