// Plants each bug in a copy of the checkout, and runs the tests that reach it until one fails.
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { planted } from "./mutations.mjs"

/**
 * Returns every bug with its `outcome`:
 * - `killed`: a test failed, or the tests did not end
 * - `survived`: all tests passed
 * - `accepted`: all tests passed, and `accepted.json` has the reason
 * - `invalid`: all tests passed, and the compiler refuses the change
 */
export const plantAll = async ({ accepted, covered, log, maxTests, mutations, packageOf, runners }) => {
  const waiting = [...mutations]
  const results = []
  const work = async ({ runner, tree }) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const result = await plant({ accepted, covered, maxTests, mutation: next, packageOf, runner, tree })
      results.push(result)
      if (result.outcome === "survived") {
        log(`survived: ${next.file}:${next.line}\n  - ${next.before}\n  + ${next.after}`)
      }
      if (results.length % 20 === 0) log(`${results.length} of ${mutations.length}`)
    }
  }
  await Promise.all(runners.map(work))
  const order = new Map(mutations.map((mutation, at) => [mutation, at]))
  return results.sort((a, b) => order.get(a.mutation) - order.get(b.mutation))
}

/** The test files that run for a bug, the likely ones first: of each package at most `maxTests`. */
export const testsFor = ({ covered, maxTests, mutation, packageOf }) => {
  const reaching = Map.groupBy(covered.testsOf(mutation), ({ test }) => packageOf(test))
  const likely = [...reaching.values()].flatMap((own) => inOrder(own, mutation.file, packageOf).slice(0, maxTests))
  return inOrder(likely, mutation.file, packageOf)
}

const plant = async ({ accepted, covered, maxTests, mutation, packageOf, runner, tree }) => {
  const tests = testsFor({ covered, maxTests, mutation, packageOf })
  const file = join(tree, mutation.file)
  const text = readFileSync(file, "utf8")
  writeFileSync(file, planted(text, mutation))
  const by = await runTests(tests, { file, runner, tree })
  const outcome = by !== undefined ? "killed" : await outcomeOfSurvivor({ accepted, mutation, tree })
  writeFileSync(file, text)
  return { mutation, outcome: outcome.outcome ?? outcome, by, reason: outcome.reason, tests: tests.length }
}

/** Runs the likely tests first. Returns what failed. */
const runTests = async (tests, { file, runner, tree }) => {
  const groups = [tests.slice(0, 4), tests.slice(4, 16), tests.slice(16)].filter(({ length }) => length > 0)
  for (const group of groups) {
    const expectedMs = group.reduce((sum, { ms }) => sum + ms, 0)
    const done = await runner.run(group.map(({ test }) => join(tree, test)), [file], 20_000 + 4 * expectedMs)
    if (done === undefined) return "no end"
    if (done.failed.length > 0) return done.failed[0].title
  }
  return undefined
}

/** Whether an entry of `accepted.json` is this bug. */
export const isSame = (one, { after, before, file }) =>
  one.file === file && one.before === before && one.after === after

const outcomeOfSurvivor = async ({ accepted, mutation, tree }) => {
  const known = accepted.find((one) => isSame(one, mutation))
  if (known !== undefined) return { outcome: "accepted", reason: known.reason }
  return await compiles(tree, mutation.file) ? "survived" : "invalid"
}

const compiles = (tree, file) => {
  writeFileSync(join(tree, "tsconfig.mutant.json"), JSON.stringify({ extends: "./tsconfig.json", include: [file] }))
  const child = spawn(process.execPath, [join(tree, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.mutant.json"], {
    cwd: tree,
    stdio: "ignore"
  })
  return new Promise((resolve) => child.on("exit", (status) => resolve(status === 0)))
}

/** First the tests that are named after the source, then those of the nearest folders, then the quick ones. */
const inOrder = (tests, file, packageOf) => {
  const name = basename(file, ".ts").toLowerCase()
  const folders = foldersOf(file)
  const distance = ({ test }) => {
    if (packageOf(test) !== packageOf(file)) return 100
    if (basename(test).toLowerCase().startsWith(name)) return 0
    const own = foldersOf(test)
    const shared = folders.findIndex((folder, at) => folder !== own[at])
    return 1 + folders.length - (shared === -1 ? folders.length : shared)
  }
  return tests.toSorted((a, b) => distance(a) - distance(b) || a.ms - b.ms)
}

/** The tree of tests mirrors that of the sources, without the folders that are named `internal`. */
const foldersOf = (file) => file.split("/").slice(3, -1).filter((folder) => folder !== "internal")
