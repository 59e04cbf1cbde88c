/** Wrong options of an agent, as programs without types can pass them. */
import { assert, describe, it } from "@effect/vitest"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { Plugin } from "../../../src/agent/Plugin.ts"
import { ChainError, ConfigError, SessionError } from "../../../src/data/AgentError.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { scripted } from "../../support/model.ts"

const errorOf = (options: object): ConfigError | ChainError => {
  try {
    createAgent({ provider: scripted(["hi"]).provider, ...options })
  } catch (error) {
    if (error instanceof ConfigError || error instanceof ChainError) return error
    throw error
  }
  return assert.fail("the options were accepted")
}

describe("options of an agent", () => {
  it("can have a layer that is undefined", async () => {
    await using agent = createAgent({ provider: scripted(["hi"]).provider, layer: undefined } as object as never)
    assert.strictEqual((await agent.run("hello")).status, "completed")
  })

  it.each<[object, key: string, message: RegExp]>([
    [{ hook: [] }, "agent.hook", /there is no option "hook"; did you mean "hooks"\?/],
    [{ instruction: "x" }, "agent.instruction", /did you mean "instructions"\?/],
    [{ qqqqqqqqqq: 1 }, "agent.qqqqqqqqqq", /the options are name, provider/],
    [{ name: 3 }, "agent.name", /expected a text, found 3/],
    [{ tools: {} }, "agent.tools", /expected a list/],
    [{ tools: [null] }, "agent.tools", /a list whose item 0 is null/],
    [{ policy: { decide: null } }, "agent.policy", /an object whose decide is null/],
    [{ hooks: {} }, "agent.hooks", /expected a list of hooks/],
    [{ onAsk: "me" }, "agent.onAsk", /expected a function, found "me"/],
    [{ streamMode: "again" }, "agent.streamMode", /expected one of restart, beforeFirstToken/],
    [{ window: { token: 5 } }, "agent.window.token", /did you mean "tokens"\?/],
    [{ window: {} }, "agent.window.tokens", /required/],
    [{ breaker: { failure: 5 } }, "agent.breaker.failure", /did you mean "failures"\?/],
    [{ approvals: { key: [] } }, "agent.approvals.key", /did you mean "keys"\?/],
    [{ output: { shema: {} } }, "agent.output.shema", /did you mean "schema"\?/],
    [{ output: {} }, "agent.output.schema", /required/],
    [{ hookSources: [{ name: "x" }] }, "agent.hookSources[0].load", /required/],
    [
      { tools: [{ ...recording("look").tool, readonly: true }] },
      "tools.look.readonly",
      /did you mean "readOnly"\?/
    ],
    [{ tools: [{ ...recording("look").tool, execute: "run" }] }, "tools.look.execute", /expected a function/],
    [
      { store: { sessions: SessionStore.inMemory() } },
      "agent.store",
      /without load; did you mean its property "sessions"\?/
    ],
    [{ layer: null }, "agent.layer", /expected a Layer, found/],
    [{ layer: {} }, "agent.layer", /expected a Layer/],
    [{ policy: {} }, "agent.policy", /expected an object with check, found one without check/],
    [{ plugins: [{ name: "p", mcp: {} }] }, "plugins.p.mcp", /without callTool/],
    [{ plugins: [{}] }, "agent.plugins[0].name", /required/],
    [{ plugins: [{ name: "" }] }, "agent.plugins[0].name", /is empty/],
    [{ plugins: [{ name: "a" }, { name: "a" }] }, "agent.plugins[1].name", /two plugins have the name "a"/],
    [{ plugins: [{ name: "a", hook: [] }] }, "agent.plugins[0].hook", /did you mean "hooks"\?/],
    [{ plugins: [null] }, "agent.plugins", /item 0 is null/]
  ])("that are wrong are errors that name them: %j", (options, key, message) => {
    const error = errorOf(options)
    assert.match(error.message, message)
    assert.strictEqual("key" in error ? error.key : error.hook, key)
  })

  it("may be undefined, and a class may have fields of its own", async () => {
    class Policy {
      checks = 0
      check() {
        this.checks++
        return { type: "deny", reason: "no" } as const
      }
    }
    const options: object = { hoks: undefined, hooks: undefined, policy: new Policy() }
    await using agent = createAgent({ provider: scripted(["hi"]).provider, ...options })
    assert.strictEqual((await agent.run("hello")).text, "hi")
  })

  it.each([
    ["priorty", "priority"],
    ["fail_open", "failOpen"],
    ["tool", "tools"]
  ])("of a hook object that are misspelt are errors: %s", (misspelt, option) => {
    const error = errorOf({ hooks: [{ name: "h", [misspelt]: 1 }] })
    assert.include(error.message, `hook "h": there is no option "${misspelt}"; did you mean "${option}"?`)
  })

  it("of a hook object may be joined by fields of its own", async () => {
    const hook = { name: "counting", count: 0, model: "m", preTurn: () => void hook.count++ }
    await using agent = createAgent({ provider: scripted(["hi"]).provider, hooks: [hook] })
    await agent.run("hello")
    assert.strictEqual(hook.count, 1)
  })
})

describe("options of a session", () => {
  it.each([
    [{ ID: "s" }, /there is no option "ID"; did you mean "id"\?/],
    [{ id: 3 }, /session\.id: expected a text, found 3/],
    [{ id: "a/b" }, /must be 1 to 128 letters/],
    [{ messages: {} }, /session\.messages: expected a list/]
  ])("that are wrong are errors: %j", async (options, message) => {
    await using agent = createAgent({ provider: scripted(["hi"]).provider })
    const error = await agent.session(options as never).catch((caught: unknown) => caught)
    assert.instanceOf(error, SessionError)
    assert.strictEqual(error.problem, "wrong-options")
    assert.match(error.message, message)
  })
})

describe("the input of a turn", () => {
  it.each([
    [42, /expected an object with options, found 42; a turn takes a text/],
    [undefined, /found nothing/],
    [null, /found nothing/],
    [{}, /input\.message: is missing/],
    [{ mesage: "hi" }, /did you mean "message"\?/],
    [{ message: 3 }, /input\.message: expected a text, found 3/],
    [{ message: "hi", attachments: ["a.png"] }, /attachments/],
    [{ message: "hi", metadata: { at: new Date() } }, /metadata/]
  ])("that is wrong is an error, and nothing of it is kept: %j", async (input, message) => {
    await using agent = createAgent({ provider: scripted(["hi"]).provider })
    const session = await agent.session()
    for (const call of [() => agent.run(input as never), () => session.run(input as never)]) {
      const error = await call().catch((caught: unknown) => caught)
      assert.instanceOf(error, SessionError)
      assert.strictEqual(error.problem, "wrong-input")
      assert.match(error.message, message)
    }
    assert.lengthOf(session.messages, 0)
    assert.strictEqual((await session.run("hello")).text, "hi")
  })
})

describe("options of a run", () => {
  it.each([
    [{ signl: new AbortController().signal }, /run\.signl: there is no option "signl"; did you mean "signal"/],
    [{ signal: {} }, /run\.signal: expected an AbortSignal/],
    [{ signal: "now" }, /run\.signal: expected an object, found "now"/],
    [3, /expected an object with options, found 3/]
  ])("that are wrong are errors: %j", async (options, message) => {
    await using agent = createAgent({ provider: scripted(["hi"]).provider })
    const session = await agent.session()
    const calls = [
      () => agent.run("go", options as never),
      () => agent.stream("go", options as never).result,
      () => session.run("go", options as never),
      () => session.resume({}, options as never)
    ]
    for (const call of calls) {
      const error = await call().catch((caught: unknown) => caught)
      assert.instanceOf(error, ConfigError)
      assert.match(error.message, message)
    }
  })
})

describe("a listener", () => {
  it.each([["text-delta", "\"text-delta\""], [undefined, "nothing"], [{}, "a value of type object"]])(
    "that is not a function is an error at once: %j",
    async (listener, found) => {
      await using agent = createAgent({ provider: scripted(["hi"]).provider })
      const session = await agent.session()
      for (const { on } of [{ on: agent.on }, { on: session.on.bind(session) }]) {
        assert.throws(() => on(listener as never), `on.listener: expected a function, found ${found}`)
      }
    }
  )
})

describe("options of agentTool", () => {
  it("are checked", () => {
    const agent = createAgent({ provider: scripted(["hi"]).provider })
    const make = (options: object) => () => agentTool({ name: "a", description: "a", agent, ...options })
    assert.throws(make({ typ: "transfer" }), /did you mean "type"\?/)
    assert.throws(make({ type: "handoff" }), /expected one of delegate, transfer, found "handoff"/)
    assert.throws(make({ agent: undefined }), /agentTool\.agent: is missing/)
  })
})

describe("the parts that plugins bring", () => {
  it("include hook sources, MCP servers and a store", async () => {
    const loaded: Array<string> = []
    const saved: Array<string> = []
    const stored = SessionStore.inMemory()
    const plugin: Plugin = {
      name: "all",
      hookSources: [{
        name: "files",
        load: () => ({ hooks: [{ name: "sourced", preTurn: () => void loaded.push("ran") }] })
      }],
      mcp: { callTool: () => assert.fail("unused"), listTools: () => assert.fail("unused") },
      store: {
        ...stored,
        load: (id) => {
          saved.push(id)
          return stored.load(id)
        }
      }
    }
    await using agent = createAgent({ provider: scripted(["hi"]).provider, plugins: [plugin] })
    const session = await agent.session({ id: "s" })
    await session.run("hello")
    assert.deepStrictEqual({ loaded, saved }, { loaded: ["ran"], saved: ["s"] })
  })

  const fails = () => assert.fail("unused")
  it.each<[string, object]>([
    ["memory", {}],
    ["policy", { check: fails }],
    ["mcp", { callTool: fails, listTools: fails }],
    ["store", SessionStore.inMemory()]
  ])("must not come from two places: %s", (part, value) => {
    const error = errorOf({ plugins: [{ name: "a", [part]: value }, { name: "b", [part]: value }] })
    assert.include(error.message, "comes from a and b")
  })
})

describe("values that cannot be written as a text", () => {
  it.each(["name", "priority", "tier", "failOpen", "timeout", "kind", "mode", "tools", "reinvoke", "close", "preTurn"])(
    "are errors that name the option of a hook: %s",
    (option) => {
      for (const value of [Symbol("s"), Object.create(null), {}, null]) {
        assert.include(errorOf({ hooks: [{ name: "h", [option]: value }] }).message, option)
      }
    }
  )

  it.each([null, { withinMs: "5" }, { withinMS: 5 }])("are errors of `park`: %j", async (options) => {
    await using agent = createAgent({ provider: scripted([]).provider })
    const session = await agent.session()
    const error = await session.park(options as never).catch((caught: unknown) => caught)
    assert.instanceOf(error, ConfigError)
    assert.match(error.message, /^park/)
  })
})
