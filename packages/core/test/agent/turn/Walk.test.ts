import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"

it("a warm turn with one tool call runs at most 50 files and 240 functions of core", () => {
  const program = fileURLToPath(new URL("../../support/walk.ts", import.meta.url))
  const { stderr, stdout } = spawnSync(process.execPath, ["--conditions=@belay/source", program], {
    encoding: "utf8",
    // Bundled modules would be counted as the files that they are.
    env: { ...process.env, NODE_OPTIONS: "" }
  })
  assert.strictEqual(stderr, "")
  const walked: { readonly [file: string]: number } = JSON.parse(stdout)
  const [files, functions] = [Object.keys(walked), Object.values(walked).reduce((sum, count) => sum + count, 0)]
  console.log(`${files.length} files and ${functions} functions`)
  assert.include(files, "agent/internal/turn/turnSteps.ts")
  assert.isAtMost(files.length, 50)
  assert.isAtMost(functions, 240)
})

it("at most 11 files have the whole turn, and the others only what they use of it", () => {
  const folder = fileURLToPath(new URL("../../../src/", import.meta.url))
  const all = globSync("**/*.ts", { cwd: folder })
  const whole = all.filter((file) => /from "[./]*(?:running)?\/turn\.ts"/.test(readFileSync(folder + file, "utf8")))
  assert.include(whole, "agent/internal/turn/turnSteps.ts")
  assert.isAtMost(whole.length, 11, whole.join("\n"))
})
