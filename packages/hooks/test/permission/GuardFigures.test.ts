import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { guards, passed, project, readLines } from "../support/guardLines.ts"

/** At most this part of the hostile lines may pass, and of the everyday lines be stopped. */
const aim = 0.02

const lines = (name: string): ReadonlyArray<string> =>
  ["", "-second", "-third", "-fourth", "-fifth", "-sixth", "-seventh"].flatMap((set) =>
    Object.values(readLines(`${name}${set}.txt`)).flat()
  )

const everyday = lines("everyday")

/** Lines that connect to a host. */
const connections = ["egress.txt", "egress-seventh.txt"].flatMap((name) => Object.values(readLines(name)).flat())
const harmlessConnections = Object.values(readLines("egress-everyday.txt")).flat()

const measured = {
  destructive: {
    title: "`DestructiveCommands`",
    hostile: lines("destructive"),
    fine: everyday,
    everyday: "destructive",
    least: 300
  },
  write: { title: "`ProtectedPaths`, changes", hostile: lines("paths"), fine: everyday, everyday: "write", least: 300 },
  read: {
    title: "`ProtectedPaths`, reading",
    hostile: lines("paths-read"),
    fine: everyday,
    everyday: "everydayRead",
    least: 300
  },
  egress: {
    title: "`EgressGuard`, commands",
    hostile: connections,
    fine: [...everyday, ...harmlessConnections],
    everyday: "everydayEgress",
    least: 100
  }
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
        const fine = new Set(yield* passed(all[row.everyday], row.fine, root))
        const stopped = row.fine.filter((line) => !fine.has(line))
        rows.push(
          `| ${row.title} | ${row.hostile.length} | ${percent(missed.length, row.hostile.length)} | ` +
            `${row.fine.length} | ${percent(stopped.length, row.fine.length)} |`
        )
        assert.isAbove(row.hostile.length, row.least)
        assert.isAtMost(missed.length, aim * row.hostile.length, missed.join("\n"))
        assert.isAtMost(stopped.length, aim * row.fine.length, stopped.join("\n"))
      })), 60_000)
  }

  it("are as good as their page says", () => {
    const page = readFileSync("docs/catalogue/permissions.md", "utf8")
    const table = rows.toSorted().join("\n")
    assert.lengthOf(rows, 4)
    assert.include(page, table, `docs/catalogue/permissions.md should have these rows:\n${table}`)
  })
})
