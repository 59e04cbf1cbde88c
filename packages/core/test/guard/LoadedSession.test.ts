/** What a session that was loaded from a store knows before its turn continues. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as RunState from "../../src/data/RunState.ts"
import { randomGap, sessionOf } from "../../src/guard/internal/io/resumeSession.ts"

const golden = (name: string): Promise<RunState.RunState> =>
  Effect.runPromise(RunState.decode(readFileSync(new URL(`../golden/${name}.json`, import.meta.url), "utf8")))

const lastEventOf = (state: RunState.RunState): number => sessionOf(state).lastEvent

describe("a loaded session", () => {
  it("knows the ids of the calls whose step is still open", async () => {
    const state = await golden("run-state-v3-mid-tools")
    const open = state.open!.toolCalls!
    assert.isAbove(open.length, 0)
    const session = sessionOf(state)
    for (const call of open) {
      assert.isDefined(session.findIdClash([{ role: "assistant", content: "", toolCalls: [call] }]), call.id)
    }
    assert.isUndefined(
      session.findIdClash([{ role: "assistant", content: "", toolCalls: [{ ...open[0]!, id: "new" }] }])
    )
  })

  it("leaves out event numbers if its process ended in the middle of a turn that has sent events", async () => {
    const open = await golden("run-state-v3-mid-tools")
    const { lastEvent: _, ...silent } = open
    assert.isAtLeast(lastEventOf({ ...open, lastEvent: 7 }), 1_000_007)
    assert.strictEqual(lastEventOf({ ...open, lastEvent: 0 }), 0)
    assert.strictEqual(lastEventOf(silent), 0)
    assert.strictEqual(lastEventOf({ ...await golden("run-state-v3-suspended"), lastEvent: 7 }), 7)
    assert.strictEqual(lastEventOf({ ...await golden("run-state-v3-ended"), lastEvent: 7 }), 7)
  })

  it("leaves out other numbers than another process", () => {
    const gaps = new Set(Array.from({ length: 8 }, randomGap))
    assert.isAbove(gaps.size, 1)
    for (const gap of gaps) assert.isTrue(gap >= 1_000_000 && gap < 1_000_000_000)
  })
})
