import { Endpoint } from "@belay/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { runProgram } from "./run.ts"

let endpoint: Endpoint.Endpoint
beforeAll(async () => {
  endpoint = await Endpoint.start()
})
afterAll(() => endpoint.close())

describe("the examples of requests", () => {
  it("http-guard: a hook reaches the server that is named, and nothing inside the network", async () => {
    const finished = await runProgram("http-guard.ts", {
      env: { OPENAI_BASE_URL: endpoint.url, OPENAI_API_KEY: "test-key", OPENAI_MODEL: "demo-large" }
    })
    assert.strictEqual(finished.stderr, "")
    assert.strictEqual(finished.code, 0)
    assert.deepStrictEqual(finished.stdout.trimEnd().split("\n"), [
      "POST /answers: noted",
      "http for report: http://127.0.0.1 may not be requested: it is a loopback address",
      "http for report: https://169.254.169.254 may not be requested: it is a metadata address",
      "http for report: a URL may not be requested: the scheme file is not allowed",
      "completed"
    ])
  })
})
