/** Many turns of one agent, and how much memory stays behind. */
import { assert } from "@effect/vitest"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { AgentConfig } from "../../src/agent/AgentConfig.ts"
import { createAgent } from "../../src/agent/createAgent.ts"
import { recording } from "./agent.ts"
import { asks, scripted } from "./model.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** The bytes of the heap that are in use after collections. */
export const heap = (): number => {
  for (let i = 0; i < 4; i++) collect()
  return process.memoryUsage().heapUsed
}

/** The bytes that a turn may leave behind, on average. A message alone has more. */
const maxBytes = 200

/**
 * Runs `turns` turns, ten in a session, with a tool call, an approval and an error each. Fails if the heap grows with
 * their number.
 */
export const soak = async (turns: number, hooks: NonNullable<AgentConfig["hooks"]>): Promise<void> => {
  const model = scripted([], {
    after: ({ messages }) =>
      messages.at(-1)!.role === "tool" ? "done" : asks(["act", { n: messages.length }, `c${messages.length}`])
  })
  const agent = createAgent({
    provider: {
      ...model.provider,
      complete: (request) => {
        model.requests.length = 0
        return model.provider.complete(request)
      }
    },
    tools: [recording("act", ({ n }) => Number(n) % 3 === 0 ? Promise.reject(new Error("no")) : "ok").tool],
    hooks,
    onAsk: () => ({ type: "approve" }),
    log: false
  })
  const run = async (count: number) => {
    for (let turn = 0; turn < count; turn += 10) {
      const session = await agent.session()
      for (let n = 0; n < 10; n++) await session.run("go")
      await session.close()
    }
  }
  await run(turns / 4)
  const before = heap()
  await run(turns)
  const slope = (heap() - before) / turns
  await agent.close()
  assert.isBelow(slope, maxBytes, "bytes a turn")
}
