/** Streams and handoffs of the OpenAI Agents SDK: what is shown, what is kept, and when a turn begins. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { ToolCallLimit } from "@belay/hooks"
import { assert, describe, it } from "@effect/vitest"
import { Agent, handoff, setTracingDisabled, tool } from "@openai/agents"
import * as z from "zod"
import { calls, kit, says, ScriptedModel } from "./support/openAiAgents.ts"

setTracingDisabled(true)

type Filter = NonNullable<NonNullable<Parameters<typeof handoff>[1]>["inputFilter"]>

/** As the filter `removeAllTools` of the SDK. */
const withoutCalls: Filter = (data) => {
  const messages = <Item extends { readonly type?: string | undefined }>(items: ReadonlyArray<Item>) =>
    items.filter(({ type = "message" }) => type.startsWith("message"))
  const { inputHistory, newItems, preHandoffItems } = data
  return {
    ...data,
    inputHistory: typeof inputHistory === "string" ? inputHistory : messages(inputHistory),
    preHandoffItems: messages(preHandoffItems),
    newItems: messages(newItems)
  }
}

/** Runs an agent as a stream. Returns the text that was shown, and the result. */
const streamed = async (parts: ReturnType<typeof kit>, model: ScriptedModel) => {
  const result = await parts.guarded.runner().run(parts.agent(model), "go", { stream: true })
  let shown = ""
  for await (const event of result) {
    if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") shown += event.data.delta
  }
  await result.completed
  return { result, shown }
}

describe("a stream of the OpenAI Agents SDK", () => {
  const hides = defineHook({
    name: "hides",
    onLlmDelta: (delta) =>
      delta.type === "text"
        ? HookAction.transform({ ...delta, text: delta.text.replaceAll("4711", "[pin]") })
        : undefined
  })

  it("ends with the answer that was shown, if a hook changes pieces", async () => {
    const { result, shown } = await streamed(kit([hides]), new ScriptedModel(says("the pin is 4711 ok")))
    assert.strictEqual(shown, "the pin is [pin] ok")
    assert.strictEqual(result.finalOutput, shown)
    assert.notInclude(JSON.stringify(result.history), "4711")
  })

  it("passes on to the model what was shown, if the answer has calls", async () => {
    const model = new ScriptedModel([...says("pin 4711 "), ...calls(["send_mail", { to: "ann" }])])
    const { shown } = await streamed(kit([hides]), model)
    assert.include(shown, "pin [pin] ")
    assert.notInclude(model.lastInput, "4711")
  })

  it("passes a text through the hooks that was only in the whole answer", async () => {
    class Silent extends ScriptedModel {
      override async *getStreamedResponse(...given: Parameters<ScriptedModel["getStreamedResponse"]>) {
        for await (const event of super.getStreamedResponse(...given)) {
          if (event.type !== "output_text_delta") yield event
        }
      }
    }
    const { result } = await streamed(kit([hides]), new Silent(says("the pin is 4711")))
    assert.strictEqual(result.finalOutput, "the pin is [pin]")
  })

  it("shows each of several messages once, if a hook decides about the whole answer", async () => {
    const decides = defineHook({ name: "decides", postTurn: () => undefined })
    const { shown } = await streamed(kit([decides]), new ScriptedModel([...says("one "), ...says("two")]))
    assert.strictEqual(shown, "one two")
  })
})

describe("a handoff whose filter removes the calls", () => {
  const start = () => {
    const turns: Array<string> = []
    const notes = defineHook({ name: "notes", preTurn: ({ message }) => void turns.push(message) })
    const parts = kit([notes, ToolCallLimit.make({ tools: "send_mail", perTurn: 1 })])
    const { guarded, tools } = parts
    const lead = (next: ScriptedModel) => {
      const model = new ScriptedModel(calls(["send_mail", { to: "ann" }]), calls(["transfer_to_next", {}]))
      const handoffs = [handoff(new Agent({ name: "next", model: next, tools }), { inputFilter: withoutCalls })]
      return guarded.agent(new Agent({ name: "lead", model, tools, handoffs }))
    }
    return { ...parts, lead, turns }
  }

  it("does not begin another turn: limits of the turn go on", async () => {
    const { guarded, lead, ran, turns } = start()
    const next = new ScriptedModel(calls(["send_mail", { to: "bob" }]), says("the end"))
    const result = await guarded.runner().run(lead(next), "go")
    assert.strictEqual(result.finalOutput, "the end")
    assert.deepStrictEqual([turns, ran], [["go"], ["ann"]])
  })

  it("does not let another message in without the hooks, if the other agent has failed", async () => {
    const { guarded, lead, turns } = start()
    class Fails extends ScriptedModel {
      override getResponse() {
        return Promise.reject(new Error("no model"))
      }
    }
    const error: unknown = await guarded.runner().run(lead(new Fails()), "go").catch((cause: unknown) => cause)
    assert.include(String(error), "no model")
    await guarded.runner().run(lead(new ScriptedModel()), "another")
    assert.deepStrictEqual(turns, ["go", "another"])
  })
})

describe("a result with a bigint", () => {
  it("is read as without the guard, and by hooks as its digits", async () => {
    const seen: Array<unknown> = []
    const reads = defineHook({ name: "reads", postToolCall: ({ result }) => void seen.push(result) })
    const { guarded } = kit([reads])
    const count = tool({ name: "count", description: "Counts", parameters: z.object({}), execute: () => 12n })
    const model = new ScriptedModel(calls(["count", {}]))
    await guarded.runner().run(guarded.agent(new Agent({ name: "lead", model, tools: [count] })), "go")
    assert.deepStrictEqual(seen, [{ ok: true, output: "12" }])
    assert.include(model.lastInput, "\"text\":\"12\"")
  })
})
