import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const runAtEndpoint = atEndpoint()
// Warnings are logged beside what the program says.
const run = async (name: string) => (await runAtEndpoint(name)).filter((line) => !/^\[[\d:.]+\] WARN/.test(line))

describe("the examples of the catalogue", () => {
  it("budget: a team shares its calls, and the call above the limit is not made", async () => {
    const lines = await run("limit/budget.ts")
    assert.strictEqual(lines[0], "left after the clerk: 0")
    assert.match(lines.at(-1)!, /the run budget of 3 calls is used up: 3/)
  })

  it("approval: two people sign, and the tool runs once both have", async () => {
    const lines = await run("permission/approval.ts")
    assert.deepStrictEqual(lines.slice(0, 2), [
      "deploy_service needs 2, approved by nobody: ada approves",
      "deploy_service needs 2, approved by ada: bob approves"
    ])
    assert.match(lines.join("\n"), /completed: [\s\S]*deployed/)
  })

  it("data-flow: the account of the mail is asked about, the one of the person is paid", async () => {
    const lines = await run("permission/data-flow.ts")
    assert.match(
      lines[0]!,
      /^asked: pay wants iban "DE89370400440532013000", which stands only in the result of read_mail "m-7"/
    )
    assert.deepStrictEqual(lines.slice(1), [
      "paid 180 to DE02120300000000202051",
      "amount 180: the person said it",
      "iban \"DE89370400440532013000\": nothing",
      "iban \"DE02120300000000202051\": the person said it",
      "amount 180: the person said it"
    ])
  })

  it("session-rotation: the turn continues in a fresh session with a handoff", async () => {
    const lines = await run("context/session-rotation.ts")
    assert.deepStrictEqual(lines.slice(0, 5), [
      "session-start",
      "rotation: loads-refused",
      "rotation: handoff",
      "session-end",
      "session-start"
    ])
    assert.include(lines, "work-r2")
    assert.include(lines, "the handoff names issue #42")
  })

  it("safe-defaults: the harmless command runs, the others are asked about or refused", async () => {
    const lines = await run("safe-defaults.ts")
    assert.deepStrictEqual(lines.filter((line) => line.startsWith("ran")), ["ran: ls -la"])
    assert.strictEqual(lines.filter((line) => line.startsWith("asked")).length, 1)
    assert.strictEqual(lines.filter((line) => line.startsWith("refused")).length, 3)
    assert.strictEqual(lines.at(-1), "That was all.")
  })
})
