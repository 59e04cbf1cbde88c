// A process that keeps vitest warm, and runs the test files that it is sent. It works in the folder it was started in.
import { createVitest } from "vitest/node"

/** Keeps the order in which the files were sent: the most likely to fail are first. */
class InOrder {
  shard(specifications) {
    return specifications
  }
  sort(specifications) {
    return specifications
  }
}

const root = process.cwd()
// Programs that tests start load the sources, which change.
process.env.BELAY_TEST_MODULES = ""
const vitest = await createVitest("test", {
  root,
  watch: false,
  maxWorkers: 1,
  bail: 1,
  reporters: [{}],
  sequence: { sequencer: InOrder },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  ...JSON.parse(process.argv[2] ?? "{}")
})
await vitest.standalone()
const specifications = new Map()
for (const one of await vitest.globTestSpecifications()) specifications.set(one.moduleId, one)

const run = async ({ changed, tests }) => {
  const started = performance.now()
  for (const file of changed) vitest.invalidateFile(file)
  const wanted = tests.flatMap((file) => specifications.get(file) ?? [])
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(wanted, false)
  // Those of earlier runs are in the list as well.
  const failed = testModules
    .filter((one) => tests.includes(one.moduleId) && one.state() === "failed")
    .map((one) => ({ file: one.moduleId, title: firstFailure(one) }))
  process.send({
    type: "done",
    failed: unhandledErrors.length > 0 && failed.length === 0 ? [{ file: "", title: "unhandled error" }] : failed,
    ms: performance.now() - started
  })
}

const firstFailure = (file) => {
  for (const test of file.children.allTests("failed")) return test.fullName
  return "the file"
}

process.on("message", (work) => void run(work))
process.send({ type: "ready", tests: [...specifications.keys()] })
