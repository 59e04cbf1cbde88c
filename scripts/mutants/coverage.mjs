// Which tests reach which parts of the sources. The answer is kept in the temp folder until files change.
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { instrument, regionOf } from "./regions.mjs"
import { makeRunner } from "./runner.mjs"
import { copyTree, temporaryFolder } from "./tree.mjs"

const hash = (parts) => createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 32)

/** Runs every test file once, alone, and returns a function from a change to the files that reach it. */
export const coverage = async ({ log, root, sources, support, tests }) => {
  const instrumented = new Map()
  let next = 0
  for (const file of sources) {
    const one = instrument(file, readFileSync(join(root, file), "utf8"), next)
    next += one.regions.length
    instrumented.set(file, one)
  }
  const common = hash([...sources, ...support].map((file) => `${file}\n${readFileSync(join(root, file), "utf8")}`))
  const cache = join(tmpdir(), "belay-mutants-cache")
  mkdirSync(cache, { recursive: true })
  const known = new Map()
  const missing = []
  for (const test of tests) {
    const entry = join(cache, `${hash([common, test, readFileSync(join(root, test), "utf8")])}.json`)
    try {
      known.set(test, JSON.parse(readFileSync(entry, "utf8")))
    } catch {
      missing.push({ entry, test })
    }
  }
  if (missing.length > 0) await measure({ instrumented, known, log, missing, root })
  return {
    /** Test files that fail without a bug. */
    broken: tests.filter((test) => !known.get(test).passed),
    /** The files that reach a change, and how long each takes. */
    testsOf: (mutation) => {
      const { id } = regionOf(instrumented.get(mutation.file).regions, mutation)
      return tests
        .filter((test) => known.get(test).passed && known.get(test).reached.includes(id))
        .map((test) => ({ test, ms: known.get(test).ms }))
    }
  }
}

const measure = async ({ instrumented, known, log, missing, root }) => {
  const tree = copyTree(root)
  for (const [file, { text }] of instrumented) writeFileSync(join(tree, file), text)
  const reached = temporaryFolder("reached")
  const loader = fileURLToPath(new URL("reached.mjs", import.meta.url))
  const runner = makeRunner(tree, { env: { NODE_OPTIONS: `--import=${loader}`, BELAY_REACHED: reached } })
  for (const [at, { entry, test }] of missing.entries()) {
    const result = await runner.run([join(tree, test)], [], 180_000)
    const ids = new Set()
    for (const name of readdirSync(reached)) {
      for (const line of readFileSync(join(reached, name), "utf8").trim().split("\n")) ids.add(Number(line))
      rmSync(join(reached, name))
    }
    const found = { passed: result?.failed.length === 0, ms: result?.ms ?? 180_000, reached: [...ids] }
    known.set(test, found)
    if (found.passed) writeFileSync(entry, JSON.stringify(found))
    if ((at + 1) % 10 === 0 || at + 1 === missing.length) log(`coverage: ${at + 1} of ${missing.length} test files`)
    if (!found.passed) {
      log(`coverage: ${relative(".", test)} fails without a bug: ${result?.failed[0]?.title ?? "hangs"}`)
    }
  }
  runner.stop()
}
