/** What Belay says about each system, to the letter: pages, checks and examples are made from it. */
import { builtIn } from "@belay/hook-files/Systems"
import { describe, expect, it } from "vitest"

const list = (rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> =>
  rows.map(([name, meaning]) => `  ${name} = ${meaning}`)

describe("the description of a system", () => {
  it.each(builtIn)("$dialect is exactly this", async ({ guide }) => {
    const { answers, codes, dialect, events, example, files, groupKeys, input, keys, name, script, timeout } = guide
    const lines = [
      `${dialect}: ${name}, ${timeout} s`,
      `files: ${files}`,
      `input: ${input.join(", ")}`,
      `keys: ${keys.join(", ")}`,
      `keys of a group: ${groupKeys.join(", ")}`,
      "codes:",
      ...list(codes),
      "answers:",
      ...list(answers)
    ]
    const seen = new Map<string, string>()
    /** A text that was there before is only named. */
    const once = (event: string, text: string): ReadonlyArray<string> => {
      const general = text.replaceAll(event, "EVENT")
      const before = seen.get(general)
      if (before !== undefined) return [`  as for ${before}`]
      seen.set(general, event)
      return text.split("\n").map((line) => line === "" ? "" : `  ${line}`)
    }
    for (const event of events) {
      const { answers, ...rest } = event
      lines.push("", ...Object.entries(rest).map(([key, value]) => `${key}: ${JSON.stringify(value)}`))
      lines.push("answers:", ...list(answers), "example:", ...once(event.name, example(event)))
      lines.push("script:", ...once(event.name, script(event)))
    }
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`./guides/${dialect}.txt`)
  })
})
