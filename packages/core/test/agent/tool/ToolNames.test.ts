/** The names of tools, and what a model reads about wrong arguments. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import { line } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const named = (name: string) => () =>
  createAgent({
    provider: scripted([]).provider,
    tools: [defineTool({ name, description: "d", input: { type: "object" }, execute: () => "ok" })],
    log: false
  })

describe("the name of a tool", () => {
  it("has at most 64 characters, because vendors refuse longer ones", () => {
    assert.doesNotThrow(named("a".repeat(64)))
    assert.throws(named("a".repeat(65)), /must be 1 to 64 letters/)
    assert.throws(named(""), /must be 1 to 64 letters/)
  })
})

describe("wrong arguments", () => {
  it("are described with up to five mistakes, so that the model can mend them at once", async () => {
    const fields = ["a", "b", "c", "d", "e", "f", "g"]
    const size = defineTool({
      name: "size",
      description: "d",
      input: Schema.Struct(Object.fromEntries(fields.map((field) => [field, Schema.Finite]))),
      execute: () => "ok"
    })
    const { provider } = scripted([asks(["size", Object.fromEntries(fields.map((field) => [field, "x"]))]), "done"])
    await using agent = createAgent({ provider, tools: [size], log: false })
    const said = line((await agent.run("go")).messages)
    assert.strictEqual(said.split("; ").length, 5, said)
  })
})
