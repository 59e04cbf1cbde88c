/** How errors look to the developer who meets them. */
import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { ConfigError, HookRejected } from "../../../src/data/AgentError.ts"
import { RateLimited } from "../../../src/data/ProviderError.ts"
import { withFramesAbove } from "../../../src/guard/internal/platform/callerFrames.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { scripted } from "../../support/model.ts"

const rejecting = { name: "h", preTurn: () => HookAction.reject("no money") }

/** The first frame of a stack. */
const firstFrame = (error: unknown): string => /\n {4}at (.*)/.exec((error as Error).stack ?? "")?.[1] ?? ""

describe("errors", () => {
  it("print their name, message and facts", () => {
    const text = inspect(new HookRejected({ hook: "h", point: "preTurn", reason: "no", message: "h rejected preTurn" }))
    assert.match(text, /^HookRejected: h rejected preTurn\n {4}at /)
    assert.include(text, "point: 'preTurn'")
    assert.match(inspect(new RateLimited({ provider: "p", message: "slow down", retryAfterMs: 5 })), /retryAfterMs: 5/)
  })

  it("have a stack that begins where the program called Belay", async () => {
    await using agent = createAgent({ provider: scripted([]).provider, hooks: [rejecting], log: false })
    const session = await agent.session()
    const calls = {
      runAgent: async () => await agent.run("hello"),
      runSession: async () => await session.run("hello"),
      readStream: async () => {
        for await (const _event of session.stream("hello")) continue
      }
    }
    for (const [name, call] of Object.entries(calls)) {
      const error = await call().catch((caught: unknown) => caught)
      assert.instanceOf(error, HookRejected)
      assert.include(firstFrame(error), name)
      assert.include(firstFrame(error), "TaggedError.test.ts")
    }
  })

  it("have a stack without frames of Effect, and with each caller once", () => {
    const error = new Error("late")
    const failing = () => {
      const caller = String(new Error().stack).split("\n")[2]!
      const frames = ["at run (/app/node_modules/effect/dist/fiber.js:1:1)", "at tool (/app/a.js:1:1)"]
      error.stack = ["Error: late", ...frames.map((frame) => `    ${frame}`), caller].join("\n")
      withFramesAbove(error, failing)
      return caller
    }
    const caller = failing()
    const [header, ...frames] = String(error.stack).split("\n")
    assert.strictEqual(header, "Error: late")
    assert.lengthOf(frames.filter((frame) => frame.includes("node_modules/effect")), 0)
    assert.include(frames, "    at tool (/app/a.js:1:1)")
    assert.lengthOf(frames.filter((frame) => frame === caller), 1)
  })

  it("of an agent that cannot be made have a stack that begins at createAgent", () => {
    const makeWrongAgent = () => createAgent({ provider: scripted([]).provider, ...{ hook: [] } })
    try {
      makeWrongAgent()
      assert.fail("it was made")
    } catch (error) {
      assert.instanceOf(error, ConfigError)
      assert.include(firstFrame(error), "makeWrongAgent")
    }
  })
})
