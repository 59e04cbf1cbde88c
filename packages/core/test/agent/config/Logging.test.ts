/** The option `log`: where the log lines of an agent go. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig, LogLine } from "../../../src/agent/AgentConfig.ts"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as Message from "../../../src/data/Message.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import { scripted } from "../../support/model.ts"

const failing = {
  name: "failing",
  preTurn: () => {
    throw new Error("a bug in the hook")
  }
}

/** Runs one turn with a hook that fails. Returns what was written to standard error meanwhile. */
const stderrOf = async (log?: AgentConfig["log"]): Promise<string> => {
  const { error } = console
  let written = ""
  console.error = (...parts: ReadonlyArray<unknown>) => void (written += parts.join(" "))
  try {
    const options = { provider: scripted(["hi"]).provider, hooks: [failing] }
    await using agent = createAgent(log === undefined ? options : { ...options, log })
    await agent.run("hello")
    // The lines are written beside the turn.
    await new Promise((resolve) => setTimeout(resolve, 5))
  } finally {
    console.error = error
  }
  return written
}

describe("the option log", () => {
  it("gets every line, with its level and its time; standard error gets none", async () => {
    const lines: Array<LogLine> = []
    const stderr = await stderrOf((line) => lines.push(line))
    assert.strictEqual(stderr, "")
    assert.lengthOf(lines, 1)
    assert.strictEqual(lines[0]!.level, "warning")
    assert.match(lines[0]!.message, /hook failing failed at preTurn .*a bug in the hook/)
    assert.instanceOf(lines[0]!.time, Date)
  })

  it("gets the lines of hooks that fail between turns and at the end of a session", async () => {
    const { error } = console
    let stderr = ""
    console.error = (...parts: ReadonlyArray<unknown>) => void (stderr += parts.join(" "))
    const lines: Array<string> = []
    const fail = () => {
      throw new Error("a bug in the hook")
    }
    try {
      const hooks = [{ name: "failing", preCompaction: fail, onSignal: fail, onSessionEnd: fail }]
      const log = ({ message }: LogLine) => void lines.push(/ at (\w+) /.exec(message)?.[1] ?? message)
      await using agent = createAgent({ provider: scripted(["hi"]).provider, hooks, log })
      const messages = Array.from({ length: 40 }, (_, index) => Message.user(`message ${index}`))
      const session = await agent.session({ messages })
      await session.run("hello")
      await session.signal({ name: "changed", payload: {}, blockable: false })
      await session.compact()
      await session.close()
      await new Promise((resolve) => setTimeout(resolve, 5))
    } finally {
      console.error = error
    }
    assert.deepStrictEqual(lines, ["onSignal", "preCompaction", "onSessionEnd"])
    assert.strictEqual(stderr, "")
  })

  it("says what a hook still did after its turn was cancelled", async () => {
    const lines: Array<string> = []
    const gate = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const waiting: AgentHook = {
      name: "waiting",
      preTurn: async (_event, ctx) => {
        reached.resolve()
        await gate.promise
        ctx.inject("too late")
      }
    }
    const log = ({ message }: LogLine) => void lines.push(message)
    await using agent = createAgent({ provider: scripted([]).provider, hooks: [waiting], log })
    const controller = new AbortController()
    const running = agent.run("hello", { signal: controller.signal }).catch(() => {})
    await reached.promise
    controller.abort()
    await running
    gate.resolve()
    await new Promise((resolve) => setTimeout(resolve, 5))
    const start = "hook waiting was late, after its timeout or a cancelled turn:"
    assert.deepStrictEqual(lines, [`${start} injection dropped`, `${start} answer dropped`])
  })

  it("silences the log with false", async () => assert.strictEqual(await stderrOf(false), ""))

  it("may throw, which disturbs nothing", async () => {
    const stderr = await stderrOf(() => {
      throw new Error("no disk")
    })
    assert.strictEqual(stderr, "")
  })

  it("is standard error by default", async () => assert.include(await stderrOf(), "a bug in the hook"))

  it.effect("also works in an Effect program", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const agent = yield* AgentRuntime.make({
        provider: scripted(["hi"]).provider,
        hooks: [failing],
        log: ({ message }) => void lines.push(message)
      })
      yield* agent.run("hello")
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      assert.lengthOf(lines, 1)
    }))
})
