/** Who receives an event, and what an event consists of. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentEvent, AgentEventBody } from "../../../src/data/AgentEvent.ts"
import { EventHub, makeEvent } from "../../../src/guard/internal/event/eventHub.ts"

const session = () => ({ id: "s", root: { id: "root", lastEvent: 4 } })
const moment = { turnNumber: 1, stepNumber: 2, time: 3 }
const place = { agentPath: ["top", "helper"] }
const eventOf = (body: AgentEventBody, parent?: { readonly sessionId: string; readonly callId: string }) =>
  makeEvent(
    { agent: { name: "helper" }, session: session(), place: parent === undefined ? place : { ...place, parent } },
    moment,
    body
  )
const notice: AgentEvent = eventOf({ type: "notice", hook: "h", message: "hello" })

const silent = { log: () => {} }

describe("an event", () => {
  it("goes to those who listened when it was sent", () => {
    const hub = new EventHub()
    const seen: Array<string> = []
    const stopFirst = hub.listen(() => {
      seen.push("first")
      hub.listen(() => seen.push("late"))
      stopSecond()
      stopFirst()
    })
    const stopSecond = hub.listen(() => seen.push("second"))
    hub.send(notice, silent)
    assert.deepStrictEqual(seen, ["first", "second"])
    hub.send(notice, silent)
    assert.deepStrictEqual(seen, ["first", "second", "late"])
  })

  it("goes twice to a function that listens twice, and once when one of them has stopped", () => {
    const hub = new EventHub()
    let count = 0
    const listener = () => count++
    const stop = hub.listen(listener)
    hub.listen(listener)
    hub.send(notice, silent)
    stop()
    stop()
    hub.send(notice, silent)
    assert.strictEqual(count, 3)
  })

  it("goes to no listener that threw before, and to the others", () => {
    const hub = new EventHub()
    let failed = 0
    let heard = 0
    hub.listen(() => {
      failed++
      throw new Error("broken")
    })
    hub.listen(() => heard++)
    hub.send(notice, silent)
    hub.send(notice, silent)
    assert.deepStrictEqual([failed, heard], [1, 2])
  })

  it("has the same fields in the same order, whatever its type", () => {
    const fields = "seq sessionId rootSessionId turnNumber stepNumber time agent agentPath".split(" ")
    const text = eventOf({ type: "text-delta", text: "a" })
    assert.deepStrictEqual(Object.keys(text), [...fields, "type", "text"])
    assert.deepStrictEqual(Object.keys(eventOf({ type: "reasoning-delta", text: "a" })), [...fields, "type", "text"])
    assert.deepStrictEqual(
      text,
      { ...eventOf({ type: "reasoning-delta", text: "a" }), type: "text-delta" } as AgentEvent
    )
    assert.ok(Object.isFrozen(text))
    const parent = { sessionId: "p", callId: "c" }
    assert.deepStrictEqual(eventOf({ type: "text-delta", text: "a" }, parent), { ...text, parent } as AgentEvent)
  })
})
