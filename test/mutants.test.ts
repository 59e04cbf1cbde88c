import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { failingTests } from "../scripts/mutants/baseline.mjs"
import { mutationsOf, planted } from "../scripts/mutants/mutations.mjs"
import { instrument, regionOf } from "../scripts/mutants/regions.mjs"
import { makeRunner } from "../scripts/mutants/runner.mjs"
import { sampled } from "../scripts/mutants/sample.mjs"

const lines = (text: string) => mutationsOf("source.ts", text).map(({ after }) => after)

describe("the bugs that can be planted", () => {
  it("shift comparisons, and negate conditions or decide them", () => {
    assert.deepEqual(lines("if (used < limit) go()"), [
      "if (!(used < limit)) go()",
      "if ((false as boolean)) go()",
      "if ((true as boolean)) go()",
      "if (used <= limit) go()",
      "if (used >= limit) go()",
      "if (used < limit) {}"
    ])
  })

  it("forget a fallback, or always use it", () => {
    assert.deepEqual(lines("const size = given ?? 8"), [
      "const size = given",
      "const size = 8",
      "const size = given ?? 7"
    ])
  })

  it("forget what an Effect adds", () => {
    assert.deepEqual(lines("const safe = Effect.uninterruptible(save)"), ["const safe = save"])
  })

  it("forget a field of an object", () => {
    assert.deepEqual(lines("const call = { id, ...more }"), ["const call = { ...more }", "const call = { id }"])
  })

  it("leave types and sentences for people alone", () => {
    assert.deepEqual(lines(`type Size = 1 | 2\nconst text: "a" | "b c" = "not enough money"`), [])
  })

  it("are the same for the same seed, and others for another", () => {
    const items = Array.from({ length: 100 }, (_, at) => ({ at, file: `${at % 2}` }))
    const chosen = (seed: string) => sampled(items, (file: string) => file, 10, seed).map(({ at }) => at)
    assert.lengthOf(chosen("1"), 20)
    assert.deepEqual(chosen("1"), chosen("1"))
    assert.notDeepEqual(chosen("1"), chosen("2"))
  })
})

describe("an instrumented source", () => {
  it("reports the branches that ran, and gives the same results", async () => {
    const text = "export const f = (a) => a > 1 ? { big: a } : a || (() => { return [a] })()\n"
    const { regions, text: changed } = instrument("f.js", text, 10)
    const reached: Array<number> = []
    const host = globalThis as { $belayReached?: ((id: number) => void) | undefined }
    host.$belayReached = (id) => reached.push(id)
    const { f } = await import(`data:text/javascript,${encodeURIComponent(changed)}`)
    assert.deepEqual([f(2), f(0)], [{ big: 2 }, [0]])
    host.$belayReached = undefined
    const idOf = (part: string) =>
      regionOf(regions, { start: text.indexOf(part), end: text.indexOf(part) + part.length }).id
    assert.includeMembers(reached, [10, idOf("big: a"), idOf("return [a]")])
    assert.strictEqual(new Set(reached).size, regions.length)
  })
})

describe("a planted bug", () => {
  const source = `export const fits = (used: number, limit: number): boolean => used < limit && limit !== -0\n`

  it("is noticed by a test, unless nobody can observe it", async () => {
    const tree = mkdtempSync(join(tmpdir(), "belay-mutants-test-"))
    const file = join(tree, "fits.ts")
    const test = join(tree, "fits.test.ts")
    mkdirSync(join(tree, "node_modules"))
    for (const name of readdirSync("node_modules")) {
      if (!name.startsWith(".")) {
        symlinkSync(join(process.cwd(), "node_modules", name), join(tree, "node_modules", name))
      }
    }
    writeFileSync(join(tree, "package.json"), `{ "type": "module" }`)
    writeFileSync(join(tree, "vitest.config.ts"), `export default { test: { isolate: false } }`)
    writeFileSync(
      test,
      `import { expect, it } from "vitest"
import { fits } from "./fits.ts"
it("refuses what reaches the limit", () => expect([fits(1, 2), fits(2, 2), fits(-1, 0)]).toEqual([true, false, false]))`
    )
    const other = join(tree, "other.test.ts")
    writeFileSync(other, `import { it } from "vitest"\nit("needs nothing", () => {})`)
    const runner = makeRunner(tree)
    const failures = async (text: string, tests = [test]) => {
      writeFileSync(file, text)
      const ran = await runner.run(tests, [file], 60_000)
      writeFileSync(file, source)
      return ran?.failed.map(({ title }: { readonly title: string }) => title)
    }
    const change = (after: string) => {
      const found = mutationsOf(file, source).find((one) => one.after.includes(after))
      assert.isDefined(found)
      return planted(source, found)
    }
    try {
      assert.deepEqual(await failures(source), [])
      const alone = ["other.test.ts", "fits.test.ts"].map((test) => ({ test, ms: 1 }))
      writeFileSync(file, source.replace("<", ">"))
      assert.deepEqual(await failingTests(alone, [{ runner, tree }]), [
        { test: "fits.test.ts", failure: "refuses what reaches the limit" }
      ], "a test that fails without a bug is named")
      writeFileSync(file, source)
      assert.deepEqual(await failures(change("used <= limit")), ["refuses what reaches the limit"])
      assert.deepEqual(
        await failures(change("used <= limit"), [other]),
        [],
        "the failure of the run before does not count"
      )
      assert.deepEqual(await failures(change("limit !== 0")), [])
      assert.lengthOf((await failures(change("used >= limit"))) ?? [], 1)
      const next = await runner.run([test], [other], 60_000)
      assert.deepEqual(next?.failed, [], "the bug of the run before is gone")
      assert.isUndefined(await runner.run([test], [], 1), "a test that does not end is stopped")
    } finally {
      runner.stop()
    }
  })
})
