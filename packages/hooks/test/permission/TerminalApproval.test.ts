import type * as Approval from "@belay/hooks/Approval"
import * as TerminalApproval from "@belay/hooks/TerminalApproval"
import { assert, describe, it } from "@effect/vitest"
import { PassThrough } from "node:stream"

const terminal = (isTTY: boolean) => {
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = Object.assign(new PassThrough(), { isTTY })
  let shown = ""
  output.on("data", (data: Buffer) => shown += data.toString("utf8"))
  return { streams: { input, output } as never, type: (text: string) => input.write(text), shown: () => shown }
}

const request = (signal = new AbortController().signal): Approval.Request =>
  ({
    callId: "1",
    tool: "delete_files",
    args: { suffix: ".tmp\u001b[2J" },
    reason: "",
    fingerprint: "",
    signal
  }) as never

const answered = async (...typed: ReadonlyArray<string>) => {
  const { shown, streams, type } = terminal(true)
  const answer = TerminalApproval.ask({ terminal: streams, remember: true })(request())
  for (const text of typed) {
    await new Promise((resolve) => setImmediate(resolve))
    type(text)
  }
  return { answer: await answer, shown: shown() }
}

describe("TerminalApproval", () => {
  it("allows, denies, and edits", async () => {
    assert.deepStrictEqual((await answered("a\n")).answer, { type: "approve" })
    assert.strictEqual((await answered("d\n")).answer.type, "deny")
    assert.deepStrictEqual((await answered("e\n", "{\"suffix\":\".bak\"}\n")).answer, {
      type: "edit",
      args: { suffix: ".bak" }
    })
  })

  it("asks again after an unknown answer, and after arguments that are not JSON", async () => {
    const { answer, shown } = await answered("what?\n", "e\n", "{oops\n", "allow\n")
    assert.deepStrictEqual(answer, { type: "approve" })
    assert.include(shown, "not JSON")
  })

  it("approves for the rest of the session, if `remember` is set", async () => {
    assert.deepStrictEqual((await answered("w\n")).answer, {
      type: "approve",
      remember: { what: "tool", scope: "session" }
    })
  })

  it("escapes control characters in the arguments", async () => {
    const { shown } = await answered("d\n")
    assert.notInclude(shown, "\u001b[2J")
  })

  it("denies the call if there is no terminal", async () => {
    const { streams } = terminal(false)
    const answer = await TerminalApproval.ask({ terminal: streams })(request())
    assert.strictEqual(answer.type, "deny")
    assert.match(answer.type === "deny" ? answer.reason ?? "" : "", /nobody is at a terminal/)
  })
})
