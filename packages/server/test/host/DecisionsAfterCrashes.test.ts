/** A process ends at any commit while it applies a decision. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import type { Json } from "@belay/core/Json"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise } from "@belay/core/LlmProvider"
import type { SessionStore } from "@belay/core/SessionStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { asking, gate, hosted, newFile, tool } from "./support/hosted.ts"

/** A helper asks people about the tool `danger`, which is not idempotent. */
const config = (log: Array<string>) => {
  const answering = (name: string, args: Json, words: string) =>
    fromPromise({
      name,
      complete: async ({ messages }) =>
        messages.at(-1)?.role === "tool" ? textResponse(words) : {
          ...textResponse(""),
          finishReason: "tool-calls",
          toolCalls: [{ id: name, name, args }]
        }
    })
  const helper = createAgent({
    name: "helper",
    tools: [tool("danger", log)],
    provider: answering("danger", {}, "helped"),
    log: false
  })
  return {
    provider: answering("help", { message: "do it" }, "all done"),
    tools: [agentTool({ name: "help", description: "helps", agent: helper })],
    hooks: [asking]
  }
}

/** A store whose process ends at its `last` commit: before it, or after it. Then, it calls `ended`. */
const ending = (sessions: SessionStore, last: number, isStored: boolean, ended: () => void): SessionStore => {
  let commits = 0
  return {
    ...sessions,
    commit: (commit) =>
      Effect.suspend(() => {
        if (++commits < last) return sessions.commit(commit)
        const stored = commits === last && isStored ? sessions.commit(commit) : Effect.void
        return Effect.andThen(Effect.map(stored, ended), Effect.never)
      })
  }
}

describe("a decision about a call of a sub-agent", () => {
  const cases = [1, 2, 3, 4, 5, 6].flatMap((last) => [[last, "before"], [last, "after"]] as const)
  it.each(cases)("is applied once, also if its process ends at commit %i, %s it was stored", async (last, when) => {
    const path = newFile()
    const log: Array<string> = []
    const first = hosted(path, config(log))
    await first.host.send("s", "go", { key: "m" })
    await first.host.advance("s")
    const asked = await first.host.result("s", "m")
    assert.deepStrictEqual(asked.status === "suspended" ? asked.pending.map(({ callId }) => callId) : [], [
      "help/danger"
    ])
    await first.host.decide("s", { "help/danger": { type: "approve" } }, { key: "yes" })
    await first.close()

    const { close, inbox, sessions } = SqliteStore.make({ path })
    const ended = gate()
    const store = { sessions: ending(sessions, last, when === "after", ended.open), inbox }
    const dying = hosted(path, { ...config(log), store: store.sessions }, { store })
    void dying.host.advance("s").then(ended.open, ended.open)
    await ended.opened

    const second = hosted(path, config(log))
    await second.host.advance("s")
    assert.deepInclude(await second.host.result("s", "m"), { status: "completed", text: "all done" })
    assert.deepInclude(await second.host.status("s", "yes"), { status: "done" })
    assert.isAtMost(log.length, 1)
    await second.close()
    close()
  })
})
