import { Endpoint } from "@belay/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { runProgram } from "./run.ts"

let endpoint: Endpoint.Endpoint
beforeAll(async () => {
  endpoint = await Endpoint.start()
})
afterAll(() => endpoint.close())

const run = async (name: string) => {
  const finished = await runProgram(name, {
    env: { OPENAI_BASE_URL: endpoint.url, OPENAI_API_KEY: "test-key", OPENAI_MODEL: "demo-large" }
  })
  assert.strictEqual(finished.stderr, "")
  assert.strictEqual(finished.code, 0)
  return finished.stdout.trimEnd().split("\n")
}

describe("the examples of hooks as data", () => {
  it("hook-files: a settings file guards an agent, once it is trusted", async () => {
    assert.deepStrictEqual(await run("hook-files.ts"), [
      "trusting PreToolUse: echo 'pushing is for people' >&2; exit 2",
      "ran npm test",
      "pushing is for people"
    ])
  })
})
