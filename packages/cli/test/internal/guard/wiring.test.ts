/** What settings say about whether the guard is called at all. */
import { named } from "@belay/hook-files/Wires"
import * as Result from "effect/Result"
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { withEntries } from "../../../src/internal/guard/entries.ts"
import { placesIn } from "../../../src/internal/guard/run/places.ts"
import { gapsIn, switches, wiredIn } from "../../../src/internal/guard/wiring.ts"

/** A project and a home folder with files, by their path in the folder of both. */
const here = (files: { readonly [path: string]: string }) => {
  const root = mkdtempSync(join(tmpdir(), "belay-wiring-"))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return { cwd: join(root, "project"), places: placesIn(join(root, "home")) }
}

describe("Codex", () => {
  const codex = named("codex")!
  const wired = Result.getOrThrow(withEntries(codex, "hooks.json", "", "belay"))
  const off = "model = \"m\"\n[features]\nhooks = false # for now\n"

  it.each(["project", "home"])("runs no hooks if config.toml of the %s says so", (whose) => {
    const [found, ...more] = switches(codex, here({ [`${whose}/.codex/config.toml`]: off }))
    assert.deepStrictEqual(more, [])
    assert.strictEqual(found?.level, "error")
    assert.include(found?.text, "config.toml switches off all hooks: remove features.hooks: false")
  })

  it("runs hooks with other tables in config.toml", () => {
    const files = {
      "project/.codex/config.toml": "[mcp_servers.docs]\ncommand = \"docs\"\n[features]\nhooks = true\n",
      "home/.codex/config.toml": "this is not TOML"
    }
    assert.deepStrictEqual(switches(codex, here(files)), [])
  })

  it("runs no hook of a file with another key at its top, so nothing is written there", () => {
    const gaps = (text: string) => {
      const place = here({ "project/.codex/hooks.json": text })
      return wiredIn(codex, place).flatMap((one) => gapsIn(codex, one))
    }
    assert.deepStrictEqual(gaps(wired), [])
    assert.deepStrictEqual(gaps(wired.replace("{", "{ \"description\": \"x\",")), [])
    const [found] = gaps(wired.replace("{", "{ \"version\": 1,"))
    assert.strictEqual(found?.level, "error")
    assert.match(String(found?.text), /Codex runs no hook of .*hooks\.json while it has "version": remove that/)
    const written = withEntries(codex, "hooks.json", "{ \"version\": 1 }", "belay")
    assert.match(JSON.stringify(written), /while it has .*version.*: remove that first/)
  })
})

describe("Gemini CLI", () => {
  it("does not run a line of the guard that its settings disable", () => {
    const line = "belay guard run --system gemini --event BeforeTool || exit 2"
    const settings = JSON.stringify({ hooksConfig: { disabled: ["mine", line] } })
    for (const whose of ["project", "home"]) {
      const [found, ...more] = switches(named("gemini")!, here({ [`${whose}/.gemini/settings.json`]: settings }))
      assert.deepStrictEqual(more, [])
      assert.include(found?.text, `switches off the guard: remove ${JSON.stringify(line)} from hooksConfig.disabled`)
    }
    const others = JSON.stringify({ hooksConfig: { disabled: ["mine"] }, hooks: { disabled: "x" } })
    assert.deepStrictEqual(switches(named("gemini")!, here({ "project/.gemini/settings.json": others })), [])
  })
})
