/** What is read in the end of an entry of Gemini CLI, for every event, letter by letter. */
import type { Finished } from "@belay/hook-files/Command"
import { describe, expect, it } from "vitest"
import { type EventName, events } from "../../../src/dialect/gemini/events.ts"
import { read } from "../../../src/dialect/gemini/readAnswer.ts"

const done = (more: Partial<Finished>): Finished =>
  ({ exitCode: 0, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 1, ...more }) as Finished

const deny = "{\"decision\":\"deny\",\"reason\":\"r\"}"
const texts = ["", " \n", "some text", "{\"decision\": \"deny\"", "[]", JSON.stringify(deny), "\"text\"", deny, "{}"]

const ends: ReadonlyArray<Partial<Finished>> = [
  ...texts.map((stdout) => ({ stdout })),
  ...texts.map((stderr) => ({ stderr })),
  ...[1, 2, 3].flatMap((exitCode) => [
    { exitCode },
    { exitCode, stderr: " first \nsecond" },
    { exitCode, stdout: " own " },
    { exitCode, stdout: " own ", stderr: "why" },
    { exitCode, stdout: "{}" },
    { exitCode, stdout: "{}", stderr: "why" },
    { exitCode, stdout: "{\"reason\":\"r\"}", stderr: "why" },
    { exitCode, stderr: "{\"systemMessage\":\"m\"}" },
    { exitCode, stdout: deny, stderr: "why" },
    { exitCode, stdout: "{\"continue\":false}" },
    { exitCode, overflowed: true, stdout: deny, stderr: "why" }
  ]),
  { stdout: "{\"decision\":\"ask\"}" },
  { stdout: "{\"systemMessage\":\"m\"}" },
  { overflowed: true, stdout: deny },
  { exitCode: undefined as never },
  { exitCode: undefined as never, overflowed: true },
  { timedOut: true, stdout: deny }
]

describe("the answer of an entry of Gemini CLI", () => {
  it("is exactly this for each end", async () => {
    const same = new Map<string, Array<string>>()
    for (const event of Object.keys(events) as ReadonlyArray<EventName>) {
      for (const end of ends) {
        const line = `${JSON.stringify(end)}: ${JSON.stringify(read(done(end), event))}`
        same.set(line, [...same.get(line) ?? [], event])
      }
    }
    const lines = [...same].map(([line, all]) => `${line}\n  ${all.join(" ")}`)
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./everything/answers.txt")
  })
})
