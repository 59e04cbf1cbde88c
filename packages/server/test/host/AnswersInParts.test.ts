/** Decisions about several questions come one after the other, and a cancellation counts whatever happens to its process. */
import * as HookAction from "@belay/core/HookAction"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise } from "@belay/core/LlmProvider"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { gate, hosted, newFile, pollMs, tool } from "./support/hosted.ts"

/** Calls `first` and `second` in one step. */
const twoCalls = fromPromise({
  name: "two-calls",
  complete: async ({ messages }) =>
    messages.at(-1)?.role === "tool" ? textResponse("done") : {
      ...textResponse(""),
      finishReason: "tool-calls",
      toolCalls: ["first", "second"].map((name) => ({ id: name, name, args: {} }))
    }
})

const asks = { name: "gate", preToolCall: () => HookAction.ask("really?") }
const approve = { type: "approve" } as const

describe("decisions about two questions", () => {
  const open = async () => {
    const log: Array<string> = []
    const { close, host } = hosted(newFile(), {
      provider: twoCalls,
      tools: [tool("first", log), tool("second", log)],
      hooks: [asks]
    })
    const running = await host.start()
    await host.send("s", "go", { key: "m" })
    assert.strictEqual((await host.result("s", "m")).status, "suspended")
    return { log, host, close: () => running.drain().then(close) }
  }

  it("count for the question that is left when an earlier one has answered the other", async () => {
    const { close, host, log } = await open()
    await host.decide("s", { first: approve }, { key: "a" })
    await host.decide("s", { first: { type: "deny", reason: "too late" }, second: approve }, { key: "b" })
    assert.deepInclude(await host.result("s", "b"), { status: "completed", text: "done" })
    assert.deepInclude(await host.result("s", "m"), { status: "completed", text: "done" })
    assert.deepEqual(log.map((line) => line.split(" ")[0]), ["first", "second"])
    await close()
  })

  it("are refused whole when one is about a call that there never was", async () => {
    const { close, host, log } = await open()
    await host.decide("s", { first: approve, other: approve }, { key: "a" })
    const outcome = await host.result("s", "a")
    assert.include(outcome.status === "failed" ? outcome.error.message : "", "\"other\"")
    assert.strictEqual((await host.result("s", "m")).status, "suspended")
    assert.deepEqual(log, [])
    await close()
  })

  it("are refused when all of them were answered before", async () => {
    const { close, host } = await open()
    await host.decide("s", { first: approve }, { key: "a" })
    await host.result("s", "a")
    await host.decide("s", { first: approve }, { key: "again" })
    const outcome = await host.result("s", "again")
    assert.include(outcome.status === "failed" ? outcome.error.message : "", "no open question")
    await close()
  })
})

describe("a cancellation whose process ends", () => {
  it("counts, also if the turn has ended and its outcome was not stored", async () => {
    const path = newFile()
    const [begun, dead] = [gate(), gate()]
    const work = tool("work", [], () => {
      begun.open()
      return new Promise(() => {})
    })
    const { inbox, sessions } = SqliteStore.make({ path })
    let isEnding = false
    // The process ends where the outcome would be stored.
    const dying: typeof inbox = {
      ...inbox,
      report: (id, key, status, outcome) => {
        if (!isEnding || status !== "done") return inbox.report(id, key, status, outcome)
        dead.open()
        return Effect.never
      }
    }
    const first = hosted(path, { tools: [work], store: sessions }, { store: { sessions, inbox: dying } })
    await first.host.send("s", "do work", { key: "m" })
    void first.host.advance("s").then(() => {}, () => {})
    await begun.opened
    isEnding = true
    await first.host.cancel("s", "m")
    await dead.opened
    await Effect.runPromise(Effect.sleep(pollMs))

    const second = hosted(path, { tools: [work] })
    await second.host.advance("s")
    assert.deepEqual(await second.host.result("s", "m"), { status: "cancelled" })
    assert.deepEqual(await second.host.result("s", "cancel m"), { status: "cancelled" })
    await second.close()
  })
})
