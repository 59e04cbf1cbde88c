/** Answers that are data: decoded by a schema, sent back when they do not fit. */
import { assert, describe, it } from "@effect/vitest"
import { toJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as v from "valibot"
import { z } from "zod"
import type { AgentCore } from "../../../src/agent/AgentCore.ts"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import { OutputMismatch } from "../../../src/data/AgentError.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { JsonObject } from "../../../src/data/Json.ts"
import type { RunResult } from "../../../src/guard/RunResult.ts"
import { defineHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid } from "../../support/agent.ts"
import { asks, type Line, scripted } from "../../support/model.ts"

const weather = z.object({ city: z.string(), days: z.array(z.object({ degrees: z.number() })) })
const good = `{"city":"Bern","days":[{"degrees":21}]}`
const bad = `{"city":"Bern","days":[{"degrees":"warm"}]}`

const failing = async (run: Promise<RunResult>): Promise<OutputMismatch> => {
  const error: unknown = await run.then(
    (result) => assert.fail(`expected a failure, got ${result.status}`),
    (caught: unknown) => caught
  )
  assert.instanceOf(error, OutputMismatch)
  return error as OutputMismatch
}

describe("an agent with an output", () => {
  it("sends the schema to the model and returns the decoded answer", async () => {
    const model = scripted([good])
    await using agent = createAgent({
      provider: model.provider,
      parameters: { seed: 7 },
      output: { schema: weather, name: "weather", strict: true }
    })
    const result = await agent.run("How warm is it?")
    assert.strictEqual(result.status, "completed")
    if (result.status !== "completed") return
    const first: number | undefined = result.object.days[0]?.degrees
    assert.strictEqual(first, 21)
    assert.strictEqual(result.text, good)
    // @ts-expect-error -- the schema has no such field
    assert.isUndefined(result.object.country)
    const [{ parameters } = { parameters: {} }] = model.requests
    assert.deepStrictEqual(parameters, {
      seed: 7,
      responseFormat: {
        name: "weather",
        strict: true,
        schema: weather["~standard"].jsonSchema.input({ target: "draft-2020-12" }) as JsonObject
      }
    })
  })

  it("sends an answer that does not fit back to the model, with the places that do not fit", async () => {
    const model = scripted([bad, "It is 21 degrees.", good])
    await using agent = createAgent({ provider: model.provider, output: { schema: weather } })
    const result = await agent.run("How warm is it?")
    assert.strictEqual(result.status === "completed" && result.object.city, "Bern")
    assertValid(result.messages)
    assert.deepStrictEqual(result.messages.map(({ role }) => role), [
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant"
    ])
    const [, , wrong = "", , noJson = ""] = result.messages.map(({ content }) =>
      typeof content === "string" ? content : ""
    )
    assert.match(wrong, /days\.0\.degrees: .*expected number.*\n.*\n\{.*"degrees"/s)
    assert.match(noJson, /it is not JSON/)
  })

  it("takes back what was streamed of an answer that does not fit", async () => {
    const model = scripted([bad, good])
    await using agent = createAgent({ provider: model.provider, output: { schema: weather } })
    const events: Array<AgentEvent> = []
    const run = agent.stream("How warm is it?")
    for await (const event of run) events.push(event)
    const shown = events.flatMap((event) =>
      event.type === "text-delta" ? [event.text] : event.type === "retract" ? ["|"] : []
    ).join("")
    assert.strictEqual(shown, `${bad}|${good}`)
    assert.include(events.map((event) => event.type === "warning" ? event.hook : ""), "output")
    const result = await run.result
    assert.strictEqual(result.status === "completed" && result.object.city, "Bern")
  })

  it("fails with the paths that do not fit once the retries are used up", async () => {
    const model = scripted([bad, bad, good])
    const seen: Array<string> = []
    await using agent = createAgent({
      provider: model.provider,
      output: { schema: weather, retries: 1 },
      hooks: [{ name: "watch", onTurnError: ({ error }) => void seen.push(error._tag) }]
    })
    const error = await failing(agent.run("How warm is it?"))
    assert.deepStrictEqual(error.problems.map(({ path }) => path), ["days.0.degrees"])
    assert.match(error.message, /^the answer does not fit output "answer": days\.0\.degrees: /)
    assert.strictEqual(error.text, bad)
    assert.strictEqual(model.requests.length, 2)
    assert.deepStrictEqual(seen, ["OutputMismatch"])
  })

  it("continues in the same session after a failed turn", async () => {
    const model = scripted(["no", good])
    await using agent = createAgent({ provider: model.provider, output: { schema: weather, retries: 0 } })
    const session = await agent.session()
    assert.match((await failing(session.run("a"))).message, /not JSON/)
    const result = await session.run("b")
    assert.strictEqual(result.status === "completed" && result.object.days.length, 1)
  })

  it("runs tools and hooks as usual, and decodes the answer with the changes of the hooks", async () => {
    const model = scripted([asks(["look", { city: "Bern" }]), good])
    const log: Array<string> = []
    const look = defineTool({
      name: "look",
      description: "Looks",
      input: z.object({ city: z.string() }),
      execute: ({ city }) => `${city}: 21`
    })
    await using agent = createAgent({
      provider: model.provider,
      tools: [look],
      output: { schema: weather },
      hooks: [{
        name: "watch",
        preToolCall: ({ name }) => void log.push(name),
        postLlmCall: () => void log.push("answered"),
        postTurn: ({ output }) => HookAction.transform({ ...output, text: output.text.replace("Bern", "Basel") })
      }]
    })
    const result = await agent.run("How warm is it?")
    assert.deepStrictEqual(log, ["answered", "look", "answered"])
    assert.strictEqual(result.status === "completed" && result.object.city, "Basel")
  })

  it("finishes a suspended run with the object", async () => {
    const model = scripted([asks(["look"]), bad, good])
    const look = defineTool({ name: "look", description: "Looks", input: z.object({}), execute: () => "21" })
    await using agent = createAgent({
      provider: model.provider,
      tools: [look],
      output: { schema: weather },
      hooks: [{ name: "gate", kind: "policy", preToolCall: () => HookAction.ask("may it look?") }]
    })
    const asked = await agent.run("How warm is it?")
    if (asked.status !== "suspended") return assert.fail(asked.status)
    // @ts-expect-error -- only a completed run has an object
    assert.isUndefined(asked.object)
    const { pending: [ask], snapshot } = asked
    const result = await agent.resume(JSON.stringify(snapshot), { [ask!.callId]: { type: "approve" } })
    assert.strictEqual(result.status === "completed" && result.object.city, "Bern")
  })

  it("counts every answer as a step", async () => {
    const model = scripted([bad, bad, bad])
    await using agent = createAgent({
      provider: model.provider,
      output: { schema: weather, retries: 9 },
      limits: { steps: 2 }
    })
    const result = await agent.run("How warm is it?")
    assert.deepStrictEqual([result.status, result.steps], ["limited", 2])
  })

  it("is recovered by a hook whose answer fits", async () => {
    await using agent = createAgent({
      provider: scripted([bad]).provider,
      output: { schema: weather, retries: 0 },
      hooks: [{ name: "sorry", onTurnError: () => HookAction.replace({ text: `{"city":"","days":[]}` }) }]
    })
    const result = await agent.run("How warm is it?")
    assert.deepStrictEqual(result.status === "completed" && result.object, { city: "", days: [] })
  })

  it("may have a custom core", async () => {
    class Slow implements AgentCore {
      readonly coreType = "slow"
      readonly #log: Array<string> = []
      init(id: string) {
        return Effect.sync(() => void this.#log.push(`init ${id}`))
      }
      shutdown(id: string) {
        return Effect.sync(() => void this.#log.push(`shutdown ${id}`))
      }
      runTurn() {
        const text = this.#log.push("turn") === 2 ? bad : good
        return Effect.succeed({ text, finishReason: "stop" as const })
      }
      get log() {
        return this.#log
      }
    }
    const core = new Slow()
    await using agent = createAgent({ provider: scripted([]).provider, core, output: { schema: weather } })
    const session = await agent.session({ id: "one" })
    const result = await session.run("How warm is it?")
    await session.close()
    assert.strictEqual(result.status === "completed" && result.object.city, "Bern")
    assert.deepStrictEqual(core.log, ["init one", "turn", "turn", "shutdown one"])
  })

  it("fails when a hook answers with something else", async () => {
    await using agent = createAgent({
      provider: scripted([]).provider,
      output: { schema: weather },
      hooks: [{ name: "answer", preTurn: () => HookAction.respond({ text: "" }) }]
    })
    assert.match((await failing(agent.run("How warm is it?"))).message, /it is empty/)
  })
})

const objectOf = async <R extends RunResult>(run: Promise<R>) => {
  const result = await run
  if (result.status !== "completed") return assert.fail(result.status)
  return result as Extract<R, { readonly status: "completed" }>
}

describe("the schema of an output may come from", () => {
  const provider = (line: Line = `{"n":1}`) => scripted([line]).provider

  it("valibot, with its JSON Schema", async () => {
    const schema = v.object({ n: v.number() })
    await using agent = createAgent({
      provider: provider(),
      output: { schema, jsonSchema: toJsonSchema(schema) as JsonObject }
    })
    const { object } = await objectOf(agent.run("go"))
    const n: number = object.n
    assert.strictEqual(n, 1)
  })

  it("arktype", async () => {
    await using agent = createAgent({ provider: provider(), output: { schema: type({ n: "number" }) } })
    const { object } = await objectOf(agent.run("go"))
    const n: number = object.n
    assert.strictEqual(n, 1)
  })

  it("Effect Schema, with values that are not JSON", async () => {
    const schema = Schema.Struct({ at: Schema.DateFromString })
    await using agent = createAgent({ provider: provider(`{"at":"2026-01-02T00:00:00.000Z"}`), output: { schema } })
    const { object } = await objectOf(agent.run("go"))
    const at: Date = object.at
    assert.strictEqual(at.getUTCFullYear(), 2026)
  })

  it("plain JSON Schema", async () => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const
    await using agent = createAgent({ provider: provider(), output: { schema } })
    const { object } = await objectOf(agent.run("go"))
    const found: JsonObject = object
    assert.deepStrictEqual(found, { n: 1 })
    await using strict = createAgent({ provider: provider(`{"n":1.5}`), output: { schema, retries: 0 } })
    assert.deepStrictEqual((await failing(strict.run("go"))).problems.map(({ path }) => path), ["n"])
  })

  it("rejects a schema that is not an object when the agent is made", () => {
    const homemade = {
      "~standard": { version: 1, vendor: "homemade", validate: (value: unknown) => ({ value }) }
    } as const
    assert.throws(
      () => createAgent({ provider: provider(), output: { schema: z.array(z.string()) } }),
      /the answer must be an object, found array/
    )
    assert.throws(
      () => createAgent({ provider: provider(), output: { schema: homemade } }),
      /output: its schema \(homemade\).*pass jsonSchema/
    )
    assert.throws(
      () => createAgent({ provider: provider(), output: { schema: weather, name: "the answer" } }),
      /output: name "the answer"/
    )
    assert.throws(
      () => createAgent({ provider: provider(), output: { schema: weather, retries: -1 } }),
      /retries must be 0 or more/
    )
  })
})

describe("hooks with services", () => {
  it("leave the object its type", async () => {
    class Unit extends Context.Service<Unit, { readonly name: string }>()("test/Object/Unit") {}
    const needs = defineHook({
      name: "needs",
      *preTurn() {
        yield* Unit
      }
    })
    const provider = scripted([good]).provider
    await using agent = createAgent({
      provider,
      hooks: [needs],
      layer: Layer.succeed(Unit, { name: "C" }),
      output: { schema: weather }
    })
    const { object } = await objectOf(agent.run("How warm is it?"))
    const city: string = object.city
    assert.strictEqual(city, "Bern")
  })
})

describe("the Effect API", () => {
  it.live("also has the object and the error", () =>
    Effect.scoped(Effect.gen(function*() {
      const runtime = yield* AgentRuntime.make({
        provider: scripted([good, bad]).provider,
        output: { schema: weather, retries: 0 }
      })
      const result = yield* runtime.run("How warm is it?")
      assert.deepStrictEqual(result.status === "completed" && result.object, JSON.parse(good))
      const error = yield* Effect.flip(runtime.run("And now?"))
      assert.strictEqual(error._tag, "OutputMismatch")
    })))
})

describe("an agent without an output", () => {
  it("has no object", async () => {
    await using agent = createAgent({ provider: scripted([good]).provider })
    const result: RunResult = await agent.run("How warm is it?")
    assert.notProperty(result, "object")
  })
})
