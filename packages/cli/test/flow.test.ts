/** `belay flow`: what data flow takes the tools of an agent for. */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, expect, it } from "vitest"
import { run, runHere } from "./belay.ts"

const bin = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))
const core = new URL("../../core/src/index.ts", import.meta.url).href
const hooks = new URL("../../hooks/src/index.ts", import.meta.url).href

const agent = `
import { createAgent, defineTool } from ${JSON.stringify(core)}
import { DataFlow } from ${JSON.stringify(hooks)}
const input = (...names) => ({ type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) })
const tool = (name, ...names) => defineTool({ name, description: name, input: input(...names), execute: () => "x" })
export default {
  provider: { name: "none", complete: () => { throw new Error("not called") } },
  tools: [tool("find_person", "name"), tool("send_mail", "to", "body")],
  hooks: [DataFlow.make({ sources: { find_person: "directory" } })]
}
`

const belay = (...args: ReadonlyArray<string>) =>
  run(process.execPath, ["--conditions=@belay/source", bin, "flow", ...args], "", { NO_COLOR: "1" })

describe("belay flow", () => {
  const file = join(mkdtempSync(join(tmpdir(), "belay-flow-")), "agent.mjs")
  writeFileSync(file, agent)

  it("prints what each tool and argument was taken for, and why", async () => {
    const { code, stderr, stdout } = await belay(file)
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.match(stdout, /find_person {2}reads {2}"find" in its name\n +results: directory, private/)
    assert.match(stdout, /send_mail {2}acts {2}"send" in its name\n +results: untrusted, private/)
    assert.match(stdout, /checked {2}to {2}principal {2}name to/)
    assert.match(stdout, /free +body {2}content {2}name body/)
  })

  it("prints exactly this, with the labels of the agent's own hook and without any", async () => {
    const labels =
      "{ sources: { find_person: \"directory\" }, sinks: { send_mail: \"local\" }, arguments: { \"send_mail.body\": \"decisive\" } }"
    const ranked = "{ arguments: { \"send_mail.body\": \"decisive\" } }"
    const made = [
      agent.replace("{ sources: { find_person: \"directory\" } }", labels),
      agent.replace("{ sources: { find_person: \"directory\" } }", ranked),
      agent,
      agent.replace(/hooks: .*\n/, ""),
      agent.replace(/tools: .*\n/, "")
    ]
    const told: Array<string> = []
    for (const [index, text] of made.entries()) {
      const path = join(mkdtempSync(join(tmpdir(), "belay-flow-")), "agent.mjs")
      writeFileSync(path, text)
      const { code, stderr, stdout } = await runHere(["flow", path])
      told.push(`# ${index}: ${code}\n${stdout}${stderr}`.replaceAll(path, "PATH"))
    }
    await expect(told.join("\n")).toMatchFileSnapshot("./support/printed/flow.txt")
  })

  it("writes JSON", async () => {
    const { stdout } = await belay(file, "--json")
    assert.deepStrictEqual((JSON.parse(stdout) as ReadonlyArray<{ readonly kind: string }>).map(({ kind }) => kind), [
      "source",
      "sink"
    ])
  })

  it("says what is wrong with the module", async () => {
    const { code, stderr } = await belay(join(tmpdir(), "nothing-here.mjs"))
    assert.strictEqual(code, 2)
    assert.match(stderr, /there is no file/)
  })
})
