// Runs tests without a bug. A test that fails then would count every bug as noticed.
import { join } from "node:path"

/**
 * Returns the tests that fail without a bug, twice, and what failed. `tests` are test files with the time that each
 * takes; every runner takes some of them.
 */
export const failingTests = async (tests, runners) => {
  const waiting = tests.toSorted((a, b) => b.ms - a.ms)
  const failing = []
  const work = async ({ runner, tree }) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const run = async () => {
        const done = await runner.run([join(tree, next.test)], [], 60_000 + 4 * next.ms)
        return done === undefined ? "no end" : done.failed[0]?.title
      }
      // A machine that others use as well makes a test late now and then.
      if (await run() === undefined) continue
      const failure = await run()
      if (failure !== undefined) failing.push({ test: next.test, failure })
    }
  }
  await Promise.all(runners.map(work))
  return failing
}
