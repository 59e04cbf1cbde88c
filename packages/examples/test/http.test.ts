import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const run = atEndpoint()

describe("the examples of requests", () => {
  it("http-guard: a hook reaches the named server, and nothing in the private network", async () => {
    assert.deepStrictEqual(await run("http/http-guard.ts"), [
      "POST /answers: noted",
      "http for report: http://127.0.0.1 may not be requested: it is a loopback address",
      "http for report: https://169.254.169.254 may not be requested: it is a metadata address",
      "http for report: a URL may not be requested: the scheme file is not allowed",
      "completed"
    ])
  })
})
