// Which tests reach which parts of the sources. The answer is kept in the temp folder until the test changes.
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { instrument, regionOf } from "./regions.mjs"
import { makeRunner } from "./runner.mjs"
import { inBrowser } from "./scopes.mjs"
import { temporaryFolder } from "./tree.mjs"

const hash = (text) => createHash("sha256").update(text).digest("hex").slice(0, 32)

/**
 * Runs every test file once, alone, and returns a function from a change to the files that reach it. `changed` are the
 * sources that bugs are planted in. `files` are all files of the checkout.
 */
export const coverage = async ({ changed, files, isWanted, log, sources, tests, trees }) => {
  const root = trees[0]
  const instrumented = new Map()
  let next = 0
  for (const file of sources) {
    const text = readFileSync(join(root, file), "utf8")
    const one = instrument(file, text, next)
    instrumented.set(file, { ...one, first: next, original: text, version: hash(text) })
    next += one.regions.length
  }
  const cache = join(tmpdir(), "belay-mutants-cache")
  mkdirSync(cache, { recursive: true })
  const around = versionOfAll(root, files.filter((file) => !file.endsWith(".test.ts")))
  const known = new Map()
  const entries = new Map()
  const missing = []
  for (const test of tests) {
    const entry = join(cache, `${hash(`${test}\n${readFileSync(join(root, test), "utf8")}`)}.json`)
    entries.set(test, entry)
    const found = readEntry(entry, changed)
    if (found === undefined) missing.push({ entry, test })
    else known.set(test, found)
  }
  await measureAll({ around, instrumented, known, log, missing, trees })
  return {
    /** Whether a test passed with these sources. */
    hasPassed: (test) => known.get(test).around === around,
    /** Notes that a test passed with these sources. */
    pass: (test) => {
      const found = known.get(test)
      // Of a test that fails while its parts are noted, not all parts are known.
      if (found.passed) writeFileSync(entries.get(test), JSON.stringify({ ...found, around }))
    },
    /** The test files that reach a change, and how long each takes. If the source is another now, those that use it. */
    testsOf: (mutation) => {
      const { first, regions, version } = instrumented.get(mutation.file)
      const part = regionOf(regions, mutation).id - first
      return tests.flatMap((test) => {
        const { ms, reached, versions } = known.get(test)
        const parts = reached[mutation.file]
        const isReached = inBrowser[mutation.file]?.includes(test) === true ||
          (parts !== undefined && (versions[mutation.file] !== version || parts.includes(part)))
        return isReached && isWanted(mutation.file, test) ? [{ test, ms }] : []
      })
    }
  }
}

/** One hash of all these files. */
const versionOfAll = (root, files) => {
  const all = createHash("sha256")
  for (const file of files) {
    if (existsSync(join(root, file))) all.update(`${file}\n`).update(readFileSync(join(root, file)))
  }
  return all.digest("hex").slice(0, 32)
}

/** Reads what is known of a test, unless it does not know one of these sources. */
const readEntry = (entry, sources) => {
  try {
    const found = JSON.parse(readFileSync(entry, "utf8"))
    return sources.every((file) => found.versions[file] !== undefined) ? found : undefined
  } catch {
    return undefined
  }
}

const measureAll = async ({ around, instrumented, known, log, missing, trees }) => {
  const waiting = [...missing]
  const work = async (tree) => {
    const measure = waiting.length === 0 ? undefined : startMeasuring({ instrumented, tree })
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { entry, test } = next
      const found = await measure.run(test)
      known.set(test, found.passed ? { ...found, around } : found)
      if (found.passed) writeFileSync(entry, JSON.stringify(known.get(test)))
      if (waiting.length % 10 === 0) log(`coverage: ${waiting.length} test files to run`)
    }
    measure?.stop()
  }
  await Promise.all(trees.map(work))
}

const startMeasuring = ({ instrumented, tree }) => {
  for (const [file, { text }] of instrumented) writeFileSync(join(tree, file), text)
  const folder = temporaryFolder("reached")
  const loader = fileURLToPath(new URL("reached.mjs", import.meta.url))
  const runner = makeRunner(tree, { env: { NODE_OPTIONS: `--import=${loader}`, BELAY_REACHED: folder } })
  return {
    stop: () => {
      runner.stop()
      for (const [file, { original }] of instrumented) writeFileSync(join(tree, file), original)
    },
    run: async (test) => {
      const result = await runner.run([join(tree, test)], [], 180_000)
      const ids = new Set()
      for (const name of readdirSync(folder)) {
        for (const line of readFileSync(join(folder, name), "utf8").trim().split("\n")) ids.add(Number(line))
        rmSync(join(folder, name))
      }
      const reached = {}
      const versions = {}
      for (const [file, { first, regions, version }] of instrumented) {
        versions[file] = version
        const parts = regions.map(({ id }) => id - first).filter((part) => ids.has(first + part))
        if (parts.length > 0) reached[file] = parts
      }
      return { passed: result?.failed.length === 0, ms: result?.ms ?? 180_000, reached, versions }
    }
  }
}
