/** What is read in the end of an entry of Claude Code, for every event, letter by letter. */
import type { Finished } from "@belay/hook-files/Command"
import * as Outcome from "@belay/hook-files/Outcome"
import { describe, expect, it } from "vitest"
import { names } from "../../../src/dialect/claude/event/events.ts"

const done = (more: Partial<Finished>): Finished =>
  ({ exitCode: 0, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 1, ...more }) as Finished

const json = (fields: object) => JSON.stringify(fields)
const block = json({ decision: "block", reason: "r" })

const ends: ReadonlyArray<Partial<Finished>> = [
  {},
  { stdout: " \n" },
  { stdout: "some text" },
  { stdout: "{\"decision\": \"block\"" },
  { stdout: "[]" },
  { stdout: "{}" },
  { stdout: "{\"async\":true}" },
  { stdout: `{"async":true}\n${block}` },
  { stdout: block },
  { stdout: json({ decision: "block" }) },
  { stdout: json({ continue: false, stopReason: "s" }) },
  { stdout: json({ systemMessage: "m", suppressOutput: true }) },
  { stdout: "first\nlast path" },
  ...[1, 2, 3].flatMap((exitCode) => [
    { exitCode },
    { exitCode, stderr: " first \nsecond" },
    { exitCode, stdout: " own " },
    { exitCode, stdout: " own ", stderr: "why" },
    { exitCode, stdout: block },
    { exitCode, stdout: block, stderr: "why" },
    { exitCode, stdout: json({ systemMessage: "m" }), stderr: "why" },
    { exitCode, stdout: json({ systemMessage: "m", suppressOutput: true }), stderr: "why" },
    { exitCode, overflowed: true, stdout: block, stderr: "why" }
  ]),
  { overflowed: true, stdout: block },
  { exitCode: undefined as never },
  { exitCode: undefined as never, overflowed: true },
  { timedOut: true, stdout: block },
  { exhausted: true } as never
]

const verdicts: ReadonlyArray<string> = [
  "",
  "text",
  "{}",
  ...[
    { ok: true },
    { ok: true, reason: "r" },
    { ok: false },
    { ok: false, reason: "r" },
    { ok: false, reason: " " },
    {
      ok: false,
      reason: 1
    },
    { ok: "false", reason: "r" },
    { ok: false, reason: "r", impossible: true },
    {
      ok: false,
      reason: "r",
      impossible: 1
    }
  ].map(json)
]

describe("the answer of an entry of Claude Code", () => {
  it("is exactly this for each end", async () => {
    const same = new Map<string, Array<string>>()
    for (const event of names) {
      const note = (what: string, answer: object) => {
        const line = `${what}: ${JSON.stringify(answer)}`
        same.set(line, [...same.get(line) ?? [], event])
      }
      for (const end of ends) note(JSON.stringify(end), Outcome.read(done(end), event))
      for (const stdout of verdicts) {
        for (const more of [{ type: "prompt" }, { type: "prompt", continueOnBlock: true }, { type: "agent" }]) {
          const work = { prompt: "p", ...more } as never
          note(`${json(more)} ${stdout}`, Outcome.read(done({ stdout }), event, work))
        }
      }
      note("a model that failed", Outcome.read(done({ exitCode: 1, stderr: "e" }), event, { type: "prompt" } as never))
    }
    const lines = [...same].map(([line, events]) =>
      `${line}\n  ${
        events.length > names.length / 2
          ? `all but ${names.filter((one) => !events.includes(one)).join(" ")}`
          : events.join(" ")
      }`
    )
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./everything/answers.txt")
  })
})
