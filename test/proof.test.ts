/** The cells of the proof: on no path does anything happen that the guard of Belay did not allow. */
import { assert, describe, it } from "vitest"
import { columns, nameOf, paths, runCell } from "../proof/run.ts"

describe("the guard holds", () => {
  for (const column of columns.filter(({ own }) => !own)) {
    it.each(paths.map((path) => [path.name, path] as const))(`in ${nameOf(column)}: %s`, async (_name, path) => {
      const [cell, note] = await runCell(path, column)
      assert.notStrictEqual(cell, "does not hold", note)
    })
  }
})

describe("the paths of the proof", () => {
  it("tell guards apart: one that allows everything fails on most", async () => {
    const [{ driver }] = columns as [typeof columns[number]]
    const open = {
      ...driver,
      start: (setup: Parameters<typeof driver.start>[0]) => driver.start({ ...setup, guard: [] })
    }
    const cells = await Promise.all(paths.map(async (path) => (await runCell(path, { driver: open, own: false }))[0]))
    assert.isAtLeast(cells.filter((cell) => cell === "does not hold").length, paths.length - 3)
  })
})
