import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const runAtEndpoint = atEndpoint()
const run = async (name: string) => (await runAtEndpoint(name)).filter((line) => !line.includes("WARN"))

describe("the examples of guardrails", () => {
  it("redaction: the tool and the user get the address, the model a placeholder", async () => {
    const lines = await run("guardrail/redaction.ts")
    assert.includeMembers(lines, [
      "1 x email in input",
      "1 x card in input",
      "the tool sends to ada@example.com",
      "the model read: My card is ****1111. Send a mail to <EMAIL_1>",
      "the user reads: - send_mail: sent to ada@example.com"
    ])
  })

  it("secrets: a key that a tool finds appears nowhere", async () => {
    const lines = await run("guardrail/secrets.ts")
    assert.include(lines.join("\n"), "OPENAI_API_KEY=[OPENAI_KEY]")
    assert.strictEqual(lines.at(-1), "the key is nowhere")
  })

  it("prompt-injection: orders are removed from a page, and a tainted agent asks", async () => {
    const lines = await run("guardrail/prompt-injection.ts")
    assert.include(lines, "found: override, exfiltration")
    assert.include(lines.join("\n"), "We open at nine. [removed: it looked like an instruction]")
    assert.strictEqual(lines.at(-1), "asked: the agent has read something suspicious")
  })

  it("regex-filter: some words are redacted, others stop the turn", async () => {
    const lines = await run("guardrail/regex-filter.ts")
    assert.include(lines[0], "Tell me about [a project]")
    assert.strictEqual(lines[1], "regex-filter rejected preTurn: insult is not allowed in a message")
  })

  it("text-normalizer: the model reads what a person sees", async () => {
    assert.deepStrictEqual(await run("guardrail/text-normalizer.ts"), [
      "How warm is it? 👩‍🚀",
      "text-normalizer rejected preTurn: the message is longer than 100 characters"
    ])
  })

  it("egress-guard: one host can be reached, and nothing in the private network", async () => {
    assert.deepStrictEqual(await run("permission/egress-guard.ts"), [
      "the page at https://docs.example.com/a",
      "http://0x7f.1/admin may not be reached: 127.0.0.1 is a loopback address",
      "http://169.254.169.254/latest may not be reached: 169.254.169.254 is a metadata address",
      "https://example.org/ may not be reached: example.org is not allowed"
    ])
  })

  it("argument-schema: a value that is too large is rejected with the allowed range", async () => {
    assert.deepStrictEqual(await run("guardrail/argument-schema.ts"), [
      "refunded 20",
      "these arguments of refund_order are not allowed: amount: expected a number up to 100. Ask a colleague for more."
    ])
  })
})
