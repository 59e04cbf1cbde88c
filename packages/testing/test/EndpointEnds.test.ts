/** A program with an endpoint that may end does end when its work is done. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const program = `
import * as Endpoint from ${JSON.stringify(new URL("../src/Endpoint.ts", import.meta.url).href)}
import { createAgent } from "@belay/core"
import { OpenAiCompatible } from "@belay/providers"
const { url } = await Endpoint.start({ unref: true })
const provider = OpenAiCompatible.make({ baseUrl: url, apiKey: "none", model: "demo" })
const { text } = await createAgent({ provider, log: false }).run("hello")
console.log(text)
`

describe("an endpoint that does not hold the process", () => {
  it("lets a program end at once, although its client keeps a connection open", async () => {
    const child = spawn(
      process.execPath,
      ["--conditions=@belay/source", "--input-type=module", "-e", program],
      { cwd: fileURLToPath(new URL("../../examples", import.meta.url)), stdio: ["ignore", "pipe", "inherit"] }
    )
    let shown = ""
    let answeredAt = 0
    child.stdout.on("data", (data) => {
      shown += String(data)
      answeredAt = performance.now()
    })
    const [code] = await once(child, "exit")
    assert.strictEqual(code, 0)
    assert.notStrictEqual(shown, "")
    // The server would close an idle connection after five seconds.
    assert.isBelow(performance.now() - answeredAt, 4_000)
  })
})
