import { Endpoint } from "@belay/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { runProgram } from "./run.ts"

let endpoint: Endpoint.Endpoint
beforeAll(async () => {
  endpoint = await Endpoint.start()
})
afterAll(() => endpoint.close())

const run = async (name: string, env: NodeJS.ProcessEnv = {}) => {
  const finished = await runProgram(name, {
    env: { OPENAI_BASE_URL: endpoint.url, OPENAI_API_KEY: "test-key", OPENAI_MODEL: "demo-large", ...env }
  })
  assert.strictEqual(finished.stderr, "")
  assert.strictEqual(finished.code, 0)
  return finished.stdout.trimEnd().split("\n")
}

describe("the examples of limits, resilience and memory", () => {
  it("loop-detector: a model that goes in circles is advised and then stopped", async () => {
    const lines = await run("loop-detector.ts")
    assert.match(lines[0]!, /^advice: Loop detected: the same call of search 2 times/)
    assert.strictEqual(lines.at(-1), "aborted: Loop detected: the same call of search 4 times without a new result. The turn was stopped.")
  })
})
