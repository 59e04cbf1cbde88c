import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { guards, passed, project, readLines } from "../support/guardLines.ts"

/** At most this part of the hostile lines may pass, and of the everyday lines be stopped. */
const aim = 0.02

const lines = (name: string): ReadonlyArray<string> =>
  ["", "-second", "-third", "-fourth"].flatMap((set) => Object.values(readLines(`${name}${set}.txt`)).flat())

const everyday = lines("everyday")

const measured = {
  destructive: { title: "`DestructiveCommands`", hostile: lines("destructive"), everyday: "destructive" },
  write: { title: "`ProtectedPaths`, changes", hostile: lines("paths"), everyday: "write" },
  read: { title: "`ProtectedPaths`, reading", hostile: lines("paths-read"), everyday: "everydayRead" }
} as const

const percent = (part: number, all: number): string => `${part} (${(100 * part / all).toFixed(1)} %)`

describe("the guards of commands and paths", () => {
  const rows: Array<string> = []

  for (const [name, row] of Object.entries(measured)) {
    it.effect(`${name}: stops what it promises, and few everyday lines`, () =>
      Effect.scoped(Effect.gen(function*() {
        const root = yield* project
        const all = guards(root)
        const missed = yield* passed(all[name as keyof typeof measured], row.hostile, root)
        const fine = new Set(yield* passed(all[row.everyday], everyday, root))
        const stopped = everyday.filter((line) => !fine.has(line))
        rows.push(
          `| ${row.title} | ${row.hostile.length} | ${percent(missed.length, row.hostile.length)} | ` +
            `${everyday.length} | ${percent(stopped.length, everyday.length)} |`
        )
        assert.isAbove(row.hostile.length, 300)
        assert.isAtMost(missed.length, aim * row.hostile.length, missed.join("\n"))
        assert.isAtMost(stopped.length, aim * everyday.length, stopped.join("\n"))
      })), 60_000)
  }

  it("are as good as their page says", () => {
    const page = readFileSync("docs/catalogue/permissions.md", "utf8")
    const table = rows.toSorted().join("\n")
    assert.lengthOf(rows, 3)
    assert.include(page, table, `docs/catalogue/permissions.md should have these rows:\n${table}`)
  })
})
