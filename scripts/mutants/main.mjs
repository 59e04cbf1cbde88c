// npm run test:mutants: plants bugs in the sources, one at a time, and prints those that no test notices.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { failingTests } from "./baseline.mjs"
import { coverage } from "./coverage.mjs"
import { mutationsOf } from "./mutations.mjs"
import { isSame, plantAll, testsFor } from "./plantAll.mjs"
import { killed, markdown, survivors, table } from "./report.mjs"
import { makeRunner } from "./runner.mjs"
import { sampled } from "./sample.mjs"
import { isTestedElsewhere, scopeOf } from "./scopes.mjs"
import { copyTree } from "./tree.mjs"

const usage = `npm run test:mutants -- [options]
  --sample N      plant N bugs in each folder of the report (default 40), or "all"
  --seed N        choose other bugs (default 1)
  --file PATTERN  only where PATTERN, a regular expression, matches the place, such as "Budget.ts:200"
  --since REF     only in lines that changed since this commit
  --kind KIND     only bugs of one kind, such as "condition"
  --tests N       run at most N test files of a package for each bug, the likely ones (default all)
  --wide          also run the tests of other packages, which takes longer
  --workers N     processes that run tests (default 2)
  --killed        print the bugs that were noticed, and by which test
  --markdown      print the score as a table in Markdown
  --list          print the bugs without planting them`

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    file: { type: "string", default: "" },
    since: { type: "string" },
    kind: { type: "string" },
    tests: { type: "string", default: "Infinity" },
    wide: { type: "boolean", default: false },
    workers: { type: "string", default: "2" },
    killed: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})
if (values.help) {
  console.log(usage)
  process.exit()
}

const root = process.cwd()
const started = performance.now()
const log = (text) =>
  console.error(`${String(Math.round((performance.now() - started) / 1000)).padStart(5)} s  ${text}`)
const git = (...args) => execFileSync("git", args, { cwd: root, maxBuffer: 2 ** 28 }).toString()

const files = git("ls-files", "--cached", "--others", "--exclude-standard", "packages").trim().split("\n")
const sources = files.filter((file) => file.endsWith(".ts") && scopeOf(file) !== undefined)
const pattern = new RegExp(values.file)

/** The lines that changed since a commit, by file. */
const changedLines = (ref) => {
  const changed = new Map()
  let file
  for (const line of git("diff", "--unified=0", ref, "--", "packages").split("\n")) {
    if (line.startsWith("+++ b/")) file = line.slice(6)
    const [, from, count = "1"] = /^@@ .* \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (from === undefined) continue
    const lines = changed.get(file) ?? new Set()
    for (let at = 0; at < Number(count); at++) lines.add(Number(from) + at)
    changed.set(file, lines)
  }
  return changed
}

const changed = values.since === undefined ? undefined : changedLines(values.since)
// Copies, so that the checkout can change meanwhile.
const trees = Array.from({ length: values.list ? 1 : Number(values.workers) }, () => copyTree(root))
const possible = sources.flatMap((file) => mutationsOf(file, readFileSync(join(trees[0], file), "utf8")))
const candidates = possible.filter(({ file, kind, line }) =>
  pattern.test(`${file}:${line}`) && (values.kind === undefined || kind === values.kind) &&
  (changed === undefined || changed.get(file)?.has(line))
)
const chosen = sampled(candidates, scopeOf, values.sample === "all" ? Infinity : Number(values.sample), values.seed)
log(`${chosen.length} of ${candidates.length} bugs, seed ${values.seed}`)
const accepted = JSON.parse(readFileSync(new URL("accepted.json", import.meta.url), "utf8"))
for (const one of accepted.filter((known) => !possible.some((mutation) => isSame(known, mutation)))) {
  log(`remove from accepted.json, because the source is another now: ${one.file} "${one.after}"`)
}
if (values.list) {
  for (const { after, before, file, kind, line } of chosen) {
    console.log(`${file}:${line}  ${kind}\n  - ${before}\n  + ${after}`)
  }
  process.exit()
}

const packageOf = (file) => /^packages\/[^/]+/.exec(file)[0]
/** The tests that run for a source: those of its package, and a few that are elsewhere. */
const isTestOf = (file, test) => packageOf(test) === packageOf(file) || isTestedElsewhere(file, test)
const isTest = (file) => /^packages\/[^/]+\/test\/.*\.test\.ts$/.test(file) && !file.endsWith(".long.test.ts")
const covered = await coverage({
  changed: [...new Set(chosen.map(({ file }) => file))],
  files,
  isWanted: (source, test) => values.wide || isTestOf(source, test),
  log,
  sources,
  tests: files.filter((test) => isTest(test) && (values.wide || chosen.some(({ file }) => isTestOf(file, test)))),
  trees
})

const runners = trees.map((tree) => ({ tree, runner: makeRunner(tree) }))
const maxTests = Number(values.tests)
const used = new Map(
  chosen.flatMap((mutation) => testsFor({ covered, maxTests, mutation, packageOf })).map((one) => [one.test, one])
)
const untried = [...used.values()].filter(({ test }) => !covered.hasPassed(test))
log(`${used.size} test files, ${untried.length} of them to run without a bug first`)
const failing = await failingTests(untried, runners)
for (const { test } of untried) if (!failing.some((one) => one.test === test)) covered.pass(test)
if (failing.length > 0) {
  console.error("These tests fail without a planted bug. Mend them first, because they would notice every bug.")
  for (const { failure, test } of failing) console.error(`  ${test}: ${failure}`)
  process.exit(1)
}
const results = await plantAll({
  accepted,
  covered,
  log,
  maxTests,
  mutations: chosen,
  packageOf,
  runners
})
for (const { runner } of runners) runner.stop()

if (values.killed) console.log(killed(results))
console.log(survivors(results))
console.log(values.markdown ? markdown(results, scopeOf) : table(results, scopeOf))
process.exit()
