/** The files of GitHub Copilot, and what `disableAllHooks` in each of them switches off. */
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { place } from "../../support/places.ts"
import { write } from "../../support/processes.ts"

const hooksFile = (name: string, more: object = {}) =>
  JSON.stringify({ version: 1, hooks: { preToolUse: [{ bash: `true ${name}` }] }, ...more })

/** Runs the hooks of a user before a call, and returns the files that they are from. */
const loaded = async (files: { readonly [path: string]: string }): Promise<ReadonlyArray<string>> => {
  const { fire, home, load, started } = place()
  for (const [path, text] of Object.entries(files)) write(join(home, path), text)
  await Effect.runPromise(fire(load({ sources: ["copilot"] })))
  return started.map((command) => command.replace("true ", "")).toSorted()
}

describe("the files of GitHub Copilot", () => {
  const all = [".copilot/hooks/a.json", ".copilot/hooks/b.json", ".copilot/settings.json", ".copilot/config.json"]
  const files = Object.fromEntries(all.map((path) => [path, hooksFile(path)]))

  it("are those of the hooks folder and two files of settings", async () => {
    assert.deepStrictEqual(await loaded(files), all.toSorted())
    const others = { ".copilot/other.json": hooksFile("x"), ".copilot/hooks/c.txt": hooksFile("y") }
    assert.deepStrictEqual(await loaded({ ...files, ...others }), all.toSorted())
  })

  it.each(all)("can switch off hooks: %s", async (path) => {
    const left = await loaded({ ...files, [path]: hooksFile(path, { disableAllHooks: true }) })
    assert.deepStrictEqual(left, path.includes("/hooks/") ? all.filter((one) => one !== path).toSorted() : [])
  })
})
