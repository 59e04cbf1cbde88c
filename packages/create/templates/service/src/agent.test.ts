import { Host } from "@belay/server"
import assert from "node:assert/strict"
import { test } from "node:test"
import served from "./agent.ts"

test("a refund waits for a person, and goes on when somebody has approved it", async () => {
  const host = Host.make(served)
  const running = await host.start()
  const session = `test-${Date.now()}`
  const { key } = await host.send(session, "Refund the order 1001")
  const asked = await host.result(session, key)
  assert.equal(asked.status, "suspended")
  if (asked.status !== "suspended") return
  const [question] = asked.pending
  assert.equal(question?.tool, "refund_order")
  const decided = await host.decide(session, { [question!.callId]: { type: "approve" } })
  assert.equal((await host.result(session, decided.key)).status, "completed")
  await running.drain()
  await served.agent.close()
  served.store.close()
})
