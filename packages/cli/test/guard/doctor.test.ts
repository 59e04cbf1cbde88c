import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { assert, describe, it } from "vitest"
import { run, runHere } from "../belay.ts"
import { program, projectWith } from "./support/guarded.ts"

const quoted = [process.execPath, program].map((word) => JSON.stringify(word)).join(" ")

const wired = async (system: string, config = "export default []") => {
  const { cwd, home } = projectWith(config)
  const place = ["--cwd", cwd, "--home", home]
  await runHere(["guard", "install", system, "--yes", "--program", quoted, ...place])
  const write = (file: string, value: unknown): void => {
    mkdirSync(dirname(join(cwd, file)), { recursive: true })
    writeFileSync(join(cwd, file), JSON.stringify(value))
  }
  return { cwd, place, write, doctor: () => runHere(["guard", "doctor", system, ...place]) }
}

describe("belay guard doctor", () => {
  it.each(["windsurf", "cursor"])("finds nothing wrong in %s after init and install", async (system) => {
    const { place } = await wired(system)
    await runHere(["guard", "init", "--force", "--system", system, ...place])
    // A process loads a config once.
    const command = ["--conditions=@belay/source", resolve(import.meta.dirname, "../../src/bin/belay.ts")]
    const { code, stdout } = await run(process.execPath, [...command, "guard", "doctor", system, ...place])
    assert.notInclude(stdout, "error")
    assert.strictEqual(code, 0)
  })

  it.each(
    [
      ["claude", ".claude/settings.local.json", { disableAllHooks: true }, "disableAllHooks: true"],
      ["gemini", "home/.gemini/settings.json", { hooksConfig: { enabled: false } }, "hooksConfig.enabled: false"]
    ] as const
  )("finds that hooks are switched off in %s by %s", async (system, file, settings, setting) => {
    const { doctor, place, write } = await wired(system)
    write(file.replace("home/", "../home/"), settings)
    const { code, stdout } = await doctor()
    assert.strictEqual(code, 1, place.join(" "))
    assert.include(stdout, `switches off all hooks: remove ${setting}`)
  })

  it("finds a tool of the config whose schema the command cannot read", async () => {
    const input = { type: "object", properties: {} }
    const { doctor } = await wired(
      "claude",
      `export default { hooks: [], tools: [${JSON.stringify({ name: "mail", input })}] }`
    )
    const { code, stdout } = await doctor()
    assert.strictEqual(code, 1)
    assert.match(stdout, /guard\.tools\.mail\.input: .*put a JSON Schema into inputSchema/)
  })

  it("finds a matcher that leaves out calls, which install then removes", async () => {
    const { doctor, place, write } = await wired("claude")
    const line = `${quoted} guard run --system claude --event PreToolUse || exit 2`
    const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: line }] }] }
    write(".claude/settings.json", { hooks })
    const { code, stdout } = await doctor()
    assert.strictEqual(code, 1)
    assert.match(stdout, /calls the guard at PreToolUse only where "Bash" matches: run `belay guard install claude`/)
    await runHere(["guard", "install", "claude", "--yes", "--program", quoted, ...place])
    assert.strictEqual((await doctor()).code, 0)
  })

  it("finds that the settings of the project and of the user both call the guard", async () => {
    const { doctor, place } = await wired("claude")
    assert.notInclude((await doctor()).stdout, "both call the guard")
    await runHere(["guard", "install", "claude", "--user", "--yes", "--program", quoted, ...place])
    const { stdout } = await doctor()
    assert.include(stdout, "both call the guard: run `belay guard uninstall claude`, or the same with --user")
  })

  it("finds a line at an event that the guard does not know", async () => {
    const { doctor, write } = await wired("claude")
    const line = `${quoted} guard run --system claude --event Elsewhere || exit 2`
    write(".claude/settings.json", { hooks: { constructor: [{ hooks: [{ type: "command", command: line }] }] } })
    assert.include((await doctor()).stdout, "constructor: the guard does not know this event: remove its line")
  })
})
