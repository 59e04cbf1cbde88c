/** The folder of the demonstration and what its model says, to the letter. */
import * as Result from "effect/Result"
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, expect, it } from "vitest"
import { takeFolder } from "../../src/internal/demo/folder.ts"
import { begin, placesIn, script, task } from "../../src/internal/demo/story.ts"

describe("the demonstration", () => {
  it("has exactly these files, in a folder of its own", async () => {
    const root = join(mkdtempSync(join(tmpdir(), "belay-cli-story-")), "demo")
    const places = placesIn(root)
    assert.strictEqual(Result.getOrThrow(takeFolder([root])), root)
    begin(places)
    writeFileSync(join(root, "left"), "over")
    begin(places)
    assert.isFalse(existsSync(join(root, "left")))
    const names = readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted()
    const files = names.filter((name) => statSync(join(root, name)).isFile())
    const lines = [
      task,
      ...Object.entries(places).map(([name, path]) => `${name}: ${path.replace(root, "ROOT")}`),
      ...files.flatMap((
        name
      ) => ["", `# ${name}`, readFileSync(join(root, name), "utf8").replace(`${process.pid}`, "PID").trimEnd()])
    ]
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../support/printed/story.txt")
  })

  it("has a model that says exactly this, step by step", async () => {
    const said: Array<unknown> = []
    const ask = (model: string, messages?: ReadonlyArray<object>) => {
      const entry = script[0] as unknown as (request: object) => unknown
      said.push(entry({ body: { model, ...(messages === undefined ? {} : { messages }) } }))
    }
    ask("demo-large")
    ask("demo-small")
    const messages: Array<object> = [{ role: "user", content: task }]
    for (let step = 0; step < 9; step++) {
      ask("demo-small", messages)
      messages.push({ role: "assistant", content: "" }, { role: "tool", content: "draft-1.tmp" })
    }
    ask("demo-large", messages.slice(0, 3))
    const deleted = [{ role: "tool", content: "deleted draft-1.tmp" }, { role: "user", content: "deleted draft-1.tmp" }]
    const steps = Array.from({ length: 8 }, () => ({ role: "assistant" }))
    ask("demo-small", [...steps, ...deleted])
    ask("demo-small", [...steps, deleted[1]!])
    ask("demo-small", [...steps, { role: "tool", content: "deleted" }])
    assert.lengthOf(script, 200)
    await expect(`${said.map((one) => JSON.stringify(one)).join("\n")}\n`)
      .toMatchFileSnapshot("../support/printed/steps.txt")
  })
})
