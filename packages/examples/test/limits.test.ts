import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const run = atEndpoint()

describe("the examples of limits, resilience and memory", () => {
  it("loop-detector: a model that repeats itself is advised and then stopped", async () => {
    const lines = await run("limit/loop-detector.ts")
    assert.match(lines[0]!, /^advice: Loop detected: the same call of search 2 times/)
    assert.strictEqual(
      lines.at(-1),
      "aborted: Loop detected: the same call of search 4 times without a new result. The turn was stopped."
    )
  })

  it("tool-call-limit: the second mail is not sent", async () => {
    const lines = await run("limit/tool-call-limit.ts")
    assert.include(lines.join("\n"), "sent to ada@example.com")
    assert.notInclude(lines.join("\n"), "sent to bob@example.com")
    assert.include(lines.join("\n"), "tool call limit of 1 per turn reached")
  })

  it("model-call-limit: retries count", async () => {
    assert.deepStrictEqual(await run("limit/model-call-limit.ts", { OPENAI_MODEL: "demo:overloaded" }), [
      "aborted: model call limit of 3 per turn reached"
    ])
  })

  it("token-limit: a request that is too long is not sent", async () => {
    const [hello, tooLong] = await run("limit/token-limit.ts")
    assert.strictEqual(hello, "completed true")
    assert.match(tooLong!, /^aborted: limit of 1000 input tokens per request reached: about \d+ more to send$/)
  })

  it("timeouts: a tool that hangs is stopped, and the model reads that", async () => {
    const lines = await run("limit/timeouts.ts")
    assert.strictEqual(lines[0], "the search was told to stop")
    assert.include(lines.join("\n"), "search_orders did not answer within 50 ms and was stopped")
  })

  it("usage-report: reports the use by model, tool and agent", async () => {
    const text = (await run("limit/usage-report.ts")).join("\n")
    assert.match(text, /^model +calls +failed[^\n]*\n\S+ +3 +0 /)
    assert.match(text, /search_orders +1 +0 +0 /)
    assert.match(text, /clerk +2 +3 +1 /)
    assert.match(text, /it cost something$/)
  })

  it("model-retry: three retries, and then a text", async () => {
    assert.deepStrictEqual(await run("resilience/model-retry.ts", { OPENAI_MODEL: "demo:overloaded" }), [
      "attempt 1: retry",
      "attempt 2: retry",
      "attempt 3: retry",
      "attempt 4: fail",
      "Sorry, the model cannot be reached (Overloaded)."
    ])
  })

  it("tool-retry: a reading tool that fails is run again", async () => {
    const lines = await run("resilience/tool-retry.ts")
    assert.deepStrictEqual(lines.slice(0, 3), ["try 1", "try 2", "try 3"])
    assert.match(lines.join("\n"), /2 orders for/)
  })

  it("tool-errors: the model reads an error without stack and path", async () => {
    const text = (await run("resilience/tool-errors.ts")).join("\n")
    assert.include(text, "search_orders failed: cannot open .../index.db")
    assert.notInclude(text, "opt/app")
  })

  it("shadow: the stricter limit is reported, and both mails are sent", async () => {
    const lines = await run("resilience/shadow.ts")
    assert.strictEqual(lines[0], "send_mail: stricter, Reject instead of Continue")
    assert.include(lines.join("\n"), "sent to bob@example.com")
    assert.match(lines.at(-1)!, /^preToolCall +2 +1 +1 /)
  })

  it("error-knowledge: the model reads the resolution, and the file records its success", async () => {
    const lines = await run("memory/error-knowledge.ts")
    assert.include(lines, "This failure of bash is known. What helps: Remove dist/")
    assert.strictEqual(lines.at(-1), "stale-archive: helped in 100 % of 1 attempt")
  })

  it("session-memory: the second agent starts with the notes of the first", async () => {
    const lines = await run("memory/session-memory.ts")
    assert.strictEqual(lines[0], "completed")
    assert.deepStrictEqual(lines.slice(-2), ["Blockers:", "- the staging key has expired"])
  })
})
