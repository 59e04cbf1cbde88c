/** Runs everything that tries to break the project, and writes what came of it into docs/reliability.md. */
import * as HookAction from "@belay/core/HookAction"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import {
  changeAtRandom,
  changeDecisions,
  changeKeys,
  changeOnePlace
} from "../packages/core/test/agent/session/hostileResumes.ts"
import { sweep } from "../packages/core/test/agent/turn/interruptedTurn.ts"
import { checkGates, checkTranscripts } from "../packages/core/test/agent/turn/randomTurns.ts"
import { points } from "../packages/core/test/hook/events.ts"
import { tryEveryAnswer } from "../packages/core/test/hook/everyAnswer.ts"
import { anyChains, hangingChains, syncChains } from "../packages/core/test/hook/laws/cases.ts"
import { agrees } from "../packages/core/test/hook/laws/chainLaws.ts"
import { soak } from "../packages/core/test/support/soak.ts"
import { killCycles } from "../packages/providers/test/support/storeCrash.ts"
import { page, render, type Row } from "./scoreboard.ts"

/** A row that is filled by a function of a test. If it throws, what it tried has failed. */
const row = async (
  what: string,
  test: string,
  tried: number,
  run: () => Promise<{ readonly tried: number; readonly ran: ReadonlyArray<string> } | void | number>
): Promise<Row> => {
  try {
    const found = await run()
    if (typeof found !== "object") return { what, test, tried, failed: 0 }
    for (const one of found.ran) console.error(`${what}: ${one}`)
    return { what, test, tried: found.tried, failed: found.ran.length }
  } catch (error) {
    console.error(what, error)
    return { what, test, tried, failed: 1 }
  }
}

const core = "packages/core/test"

const chains = (tried: number, run: typeof syncChains) => async (): Promise<void> =>
  Effect.runPromise(Effect.provide(agrees(run(points), tried), TestClock.layer()))

const functions = async (): Promise<ReadonlyArray<Row>> => [
  await row(
    "random chains of hooks, compared with a reference",
    `${core}/hook/laws/HookChainLaws.test.ts`,
    21_300,
    async () => {
      await chains(14_000, syncChains)()
      await chains(7_000, anyChains)()
      await chains(300, hangingChains)()
    }
  ),
  await row(
    "every answer of a hook × every way to give it × point × failure policy",
    `${core}/hook/EveryAnswer.test.ts`,
    0,
    async () => {
      const { tried, wrong } = await tryEveryAnswer(1)
      return { tried, ran: wrong }
    }
  ),
  await row(
    "turns interrupted at one of their steps",
    `${core}/agent/turn/InterruptedEverywhere.long.test.ts`,
    800,
    () => sweep({ stride: 4, total: 800 })
  ),
  await row(
    "random turns with failures, decisions and cancellations",
    `${core}/agent/turn/RandomTurns.long.test.ts`,
    600,
    () => checkTranscripts(200)
  ),
  await row(
    "random chains of gates that change a call before it runs",
    `${core}/agent/turn/RandomTurns.long.test.ts`,
    1_000,
    () => checkGates(1_000)
  ),
  await row(
    "changes of one place of a signed snapshot",
    `${core}/agent/session/HostileSnapshots.test.ts`,
    0,
    () => changeOnePlace(true, 1)
  ),
  await row(
    "changes of several places of a signed snapshot and its decisions",
    `${core}/agent/session/HostileSnapshots.test.ts`,
    0,
    () => changeAtRandom(true, 1_000)
  ),
  await row(
    "changes of decisions, with keys and without",
    `${core}/agent/session/HostileSnapshots.test.ts`,
    0,
    async () => {
      const all = [await changeDecisions(true), await changeDecisions(false)]
      return { tried: all.reduce((sum, { tried }) => sum + tried, 0), ran: all.flatMap(({ ran }) => ran) }
    }
  ),
  await row("changed keys of approvals", `${core}/agent/session/HostileSnapshots.test.ts`, 0, async () => {
    const ends = await changeKeys()
    const wrong = ends.filter(([what, end]) => what !== "keys: removed" && end !== "forged" && end !== "ConfigError")
    return { tried: ends.length, ran: wrong.map((one) => one.join(" ")) }
  }),
  await row(
    "processes killed (`kill -9`) while they write to one SQLite file",
    "packages/providers/test/store/StoreCrash.test.ts",
    40,
    () => killCycles(40)
  ),
  await row(
    "turns of one agent, after which memory must not have grown",
    `${core}/agent/soak/Soak.test.ts`,
    10_000,
    () => soak(10_000, [{ name: "gate", tools: "act", preToolCall: () => HookAction.ask("?") }])
  )
]

/** Rows that are filled by counting the tests of files. */
const files: ReadonlyArray<readonly [what: string, files: ReadonlyArray<string>]> = [
  ["faults and oddities of providers over real HTTP", [
    "packages/providers/test/openai/stream/StreamFaults.test.ts",
    "packages/providers/test/openai/stream/CutAnywhere.test.ts",
    "packages/providers/test/openai/Hostile.test.ts",
    "packages/providers/test/openai/stream/Endings.test.ts",
    "packages/providers/test/openai/errors/Errors.test.ts"
  ]],
  ["answers that are malformed or too large", [
    `${core}/agent/model/AnswerSizes.test.ts`,
    `${core}/agent/model/CheckResponse.test.ts`
  ]],
  ["hostile sizes × ready-made hooks", ["packages/hooks/test/Sizes.test.ts"]],
  ["grants × claims of an MCP server × changes of its tool", ["packages/providers/test/mcp/GrantMatrix.test.ts"]],
  ["MCP servers that hang, list without end or send bombs", ["packages/providers/test/mcp/HostileServers.test.ts"]],
  ["repositories whose hook files change after they were trusted", [
    "packages/hook-files/test/trust/HostileRepositories.test.ts"
  ]],
  ["places in which a redacted value must not appear", ["packages/hooks/test/Canary.test.ts"]]
]

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>
    readonly status: string
  }>
}

/** Runs test files in a process of their own, and counts their tests. */
const counted = async (): Promise<ReadonlyArray<Row>> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-scores-"))
  const output = join(folder, "report.json")
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")))
  const child = spawn(process.execPath, [
    "node_modules/vitest/vitest.mjs",
    "run",
    ...files.flatMap(([, paths]) => paths),
    "--reporter=json",
    `--outputFile=${output}`
  ], { env, stdio: "ignore" })
  await once(child, "close")
  const { testResults }: Report = JSON.parse(readFileSync(output, "utf8"))
  rmSync(folder, { recursive: true })
  return files.map(([what, paths]) => {
    const results = testResults.filter(({ name }) => paths.some((path) => name.endsWith(path)))
    const tests = results.flatMap(({ assertionResults }) => assertionResults)
    const failed = tests.filter(({ status }) => status !== "passed")
    for (const { fullName } of failed) console.error(`${what}: ${fullName}`)
    // A file that cannot be loaded has no tests.
    const missing = paths.length - results.filter(({ assertionResults }) => assertionResults.length > 0).length
    return { what, test: paths[0]!, tried: tests.length, failed: failed.length + missing }
  })
}

describe("the scoreboard", () => {
  it("has no failures, and is written to its page", { timeout: 600_000 }, async () => {
    const [first, second] = await Promise.all([functions(), counted()])
    const rows = [...first, ...second]
    writeFileSync(page, render(rows, readFileSync(page, "utf8")))
    assert.deepStrictEqual(rows.filter(({ failed, tried }) => failed > 0 || tried === 0), [])
  })
})
