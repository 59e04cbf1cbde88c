/** What is read in the end of an entry of Cursor, for every event, letter by letter. */
import type { Finished } from "@belay/hook-files/Command"
import { describe, expect, it } from "vitest"
import { type EventName, names } from "../../../src/dialect/cursor/events.ts"
import { read } from "../../../src/dialect/cursor/readAnswer.ts"

const done = (more: Partial<Finished>): Finished =>
  ({ exitCode: 0, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 1, ...more }) as Finished

const ends: ReadonlyArray<Partial<Finished>> = [
  {},
  { stdout: " \n" },
  { stdout: "some text" },
  { stdout: "{\"permission\":" },
  { stdout: "[]" },
  { exitCode: 1 },
  { exitCode: 1, stderr: " first \nsecond" },
  { exitCode: undefined as never },
  { exitCode: 2 },
  { exitCode: 2, stderr: " why " },
  { exitCode: 2, stdout: " own " },
  { exitCode: 2, stdout: "{\"user_message\":\"u\"}", stderr: "why" },
  { exitCode: 2, stdout: "{\"user_message\":\"u\",\"agent_message\":\"a\"}" },
  { exitCode: 2, stdout: "{}" },
  { timedOut: true },
  { overflowed: true, stdout: "{" }
]
const judged = [{ ok: true, reason: "r" }, {}, { ok: false }, { ok: false, reason: "r" }, { ok: false, reason: " " }, {
  ok: false,
  reason: 1
}]
const idle = { permission: "allow", continue: true, updated_input: null, additional_context: "", env: {} }

describe("the answer of an entry of Cursor", () => {
  it("is exactly this for each end", async () => {
    const lines: Array<string> = []
    const same = new Map<string, Array<string>>()
    const note = (what: string, event: EventName, answer: object) => {
      const line = `${what}: ${JSON.stringify(answer)}`
      same.set(line, [...same.get(line) ?? [], event])
    }
    for (const event of names) {
      for (const failClosed of [false, true]) {
        const entry = { event, failClosed, work: { type: "command", command: "c" } } as never
        for (const end of ends) {
          note(`${JSON.stringify(end)}${failClosed ? " closed" : ""}`, event, read(entry, done(end)))
        }
      }
      const prompt = { event, failClosed: false, work: { type: "prompt", prompt: "p" } } as never
      for (const json of judged) {
        const text = JSON.stringify(json)
        note(`a model: ${text}`, event, read(prompt, done({ stdout: text })))
      }
      const entry = { event, failClosed: false, work: { type: "command", command: "c" } } as never
      note("nothing that counts", event, read(entry, done({ stdout: JSON.stringify(idle) })))
    }
    lines.push(...[...same].map(([line, events]) => `${line}\n  ${events.join(" ")}`))
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./everything/answers.txt")
  })
})
