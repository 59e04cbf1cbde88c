/** What is read in the end of an entry of GitHub Copilot, for every event, letter by letter. */
import type { Finished } from "@belay/hook-files/Command"
import { describe, expect, it } from "vitest"
import { type EventName, names } from "../../../src/dialect/copilot/events.ts"
import { read } from "../../../src/dialect/copilot/readAnswer.ts"

const done = (more: Partial<Finished>): Finished =>
  ({ exitCode: 0, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 1, ...more }) as Finished

const progress = (message: unknown, more: object = {}) => JSON.stringify({ type: "progress", message, ...more })

const ends: ReadonlyArray<Partial<Finished>> = [
  {},
  { stdout: " \n" },
  { stdout: "some text" },
  { stdout: "{\"decision\": \"block\"" },
  { stdout: "[]" },
  { stdout: `${progress("one")}\n{"additionalContext":"c"}\n${progress("two", { temporary: true })}` },
  { stdout: `${progress(1)}\n{"type":"other","x":"\\"progress\\""}` },
  { stdout: `{"x":"progress"}\n${progress("one", { temporary: 1 })}` },
  { exitCode: 1 },
  { exitCode: 1, stderr: " first \nsecond", stdout: "{\"additionalContext\":\"c\"}" },
  { exitCode: 3, stdout: progress("one") },
  { exitCode: undefined as never },
  { exitCode: undefined as never, overflowed: true },
  { overflowed: true, exitCode: 1, stderr: "e" },
  { exitCode: 2 },
  { exitCode: 2, stderr: " why " },
  { exitCode: 2, stdout: " own " },
  { exitCode: 2, stdout: " own ", stderr: "why" },
  { exitCode: 2, stdout: "{\"permissionDecisionReason\":\"r\",\"additionalContext\":\"c\"}", stderr: "why" },
  { exitCode: 2, stdout: progress("one"), stderr: "why" },
  { timedOut: true },
  { timedOut: true, stdout: progress("one") }
]

describe("the answer of an entry of GitHub Copilot", () => {
  it("is exactly this for each end", async () => {
    const same = new Map<string, Array<string>>()
    const note = (what: string, event: EventName, answer: object) => {
      const line = `${what}: ${JSON.stringify(answer)}`
      same.set(line, [...same.get(line) ?? [], event])
    }
    for (const event of names) {
      for (const pascal of [false, true]) {
        for (const type of ["command", "http", "prompt"]) {
          for (const end of ends) {
            const answer = read({ point: event, pascal, work: { type } } as never, done(end))
            note(`${type}${pascal ? " in Pascal case" : ""} ${JSON.stringify(end)}`, event, answer)
          }
        }
      }
    }
    const lines = [...same].map(([line, events]) => `${line}\n  ${events.join(" ")}`)
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./everything/answers.txt")
  })
})
