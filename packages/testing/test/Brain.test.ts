import type { JsonObject } from "@belay/core/Json"
import * as Brain from "@belay/testing/Brain"
import { assert, describe, it } from "@effect/vitest"

const tool = (
  name: string,
  properties: JsonObject,
  required: ReadonlyArray<string> = Object.keys(properties),
  description = ""
) => ({
  name,
  description,
  parameters: { type: "object", properties, required }
})
const text = { type: "string" }
const number = { type: "number" }

const ask = (task: string, tools: Brain.WireRequest["tools"], more: Partial<Brain.WireRequest> = {}) =>
  Brain.answer({
    model: "demo",
    messages: [{ role: "user", content: task }],
    tools,
    stream: false,
    includeUsage: false,
    ...more
  })

const first = (task: string, ...tools: Brain.WireRequest["tools"]) =>
  ask(task, tools).toolCalls?.map(({ args, name }) => [name, args])

describe("the model selects a tool and its arguments:", () => {
  const rows: ReadonlyArray<readonly [string, Brain.WireRequest["tools"], ReadonlyArray<unknown> | undefined]> = [
    ["What is the weather in Paris?", [tool("get_weather", { city: text })], [["get_weather", { city: "Paris" }]]],
    ["What's the temperature in New York in celsius?", [
      tool("get_weather", { city: text, unit: { type: "string", enum: ["fahrenheit", "celsius"] } })
    ], [["get_weather", { city: "New York", unit: "celsius" }]]],
    ["Please add 2 and 3.5", [tool("add", { a: number, b: number })], [["add", { a: 2, b: 3.5 }]]],
    ["Calculate (2 + 3) * 4", [tool("calculator", { expression: text })], [["calculator", {
      expression: "(2 + 3) * 4"
    }]]],
    ["Search for otters in Norway", [tool("search", { query: text })], [["search", { query: "otters in Norway" }]]],
    ["Run \"ls -la, and more\"", [tool("bash", { command: text })], [["bash", { command: "ls -la, and more" }]]],
    ["Delete src/tmp/a.log", [tool("read_file", { path: text }), tool("delete_file", { path: text })], [[
      "delete_file",
      {
        path: "src/tmp/a.log"
      }
    ]]],
    ["Refund order #4711", [tool("refundOrder", { orderId: text })], [["refundOrder", { orderId: "#4711" }]]],
    ["Email bob@example.com that \"lunch is at noon\"", [tool("send_email", { to: text, body: text })], [[
      "send_email",
      {
        to: "bob@example.com",
        body: "lunch is at noon"
      }
    ]]],
    ["List the files recursively", [
      tool("list_files", { path: { type: "string", default: "." }, recursive: { type: "boolean" } }, ["path"])
    ], [["list_files", { path: ".", recursive: true }]]],
    ["Sum 1, 2 and 3", [tool("sum", { numbers: { type: "array", items: number } })], [["sum", { numbers: [1, 2, 3] }]]],
    ["Do not delete anything", [tool("delete_file", { path: text })], undefined],
    ["Tell me a joke", [tool("delete_file", { path: text })], undefined]
  ]
  for (const [task, tools, expected] of rows) {
    it(task, () => assert.deepStrictEqual(first(task, ...tools), expected))
  }
})

describe("the model", () => {
  const add = tool("add", { a: number, b: number })
  const weather = tool("get_weather", { city: text })
  const called = (id: string, name: string): Brain.WireMessage => ({
    role: "assistant",
    content: null,
    toolCalls: [{ id, name, args: "{}" }]
  })
  const result = (id: string, content: string): Brain.WireMessage => ({ role: "tool", content, toolCallId: id })
  const user = (content: string): Brain.WireMessage => ({ role: "user", content })
  const names = (answer: Brain.Answer) => answer.toolCalls?.map(({ name }) => name)

  it("continues with the next tool of the task, and answers from the results", () => {
    const task = "Add 1 and 2, then tell me the weather in Oslo"
    assert.deepStrictEqual(names(ask(task, [add, weather])), ["add"])
    const messages = [user(task), called("1", "add"), result("1", "3")]
    assert.deepStrictEqual(names(ask(task, [add, weather], { messages })), ["get_weather"])
    const all = [...messages, called("2", "get_weather"), result("2", "cold")]
    assert.strictEqual(
      ask(task, [add, weather], { messages: all }).text,
      "Done, in 2 steps.\n- add: 3\n- get_weather: cold"
    )
  })

  it("requests all tools at once if the task says so", () => {
    assert.deepStrictEqual(names(ask("In parallel: add 1 and 2, get the weather in Oslo", [add, weather])), [
      "add",
      "get_weather"
    ])
  })

  it("is not confused by a reminder during its work", () => {
    const messages = [
      user("Add 1 and 2, then get the weather in Oslo"),
      called("1", "add"),
      result("1", "3"),
      user("Mind the budget.")
    ]
    assert.deepStrictEqual(names(ask("", [add, weather], { messages })), ["get_weather"])
  })

  it("starts a new task when there is one", () => {
    const messages = [
      user("Add 1 and 2"),
      called("1", "add"),
      result("1", "3"),
      { role: "assistant", content: "3" } as const,
      user("Hello")
    ]
    assert.match(ask("", [add], { messages }).text ?? "", /^Hello!/)
  })

  it("follows tool_choice", () => {
    assert.isUndefined(names(ask("Add 1 and 2", [add], { toolChoice: "none" })))
    assert.deepStrictEqual(names(ask("Tell me a joke", [weather, add], { toolChoice: "required" })), ["get_weather"])
    assert.deepStrictEqual(names(ask("Tell me a joke", [weather, add], { toolChoice: { tool: "add" } })), ["add"])
  })

  it("fills nested schemas, references and unions", () => {
    const schema = {
      type: "object",
      $defs: { Address: { type: "object", properties: { city: text }, required: ["city"] } },
      properties: {
        address: { $ref: "#/$defs/Address" },
        count: { anyOf: [{ type: "null" }, { type: "integer" }] },
        kind: { const: "order" }
      },
      required: ["address", "count", "kind"]
    }
    assert.deepStrictEqual(JSON.parse(ask("Ship 3 boxes to Oslo", [], { schema }).text ?? ""), {
      address: { city: "Oslo" },
      count: 3,
      kind: "order"
    })
  })

  it("remembers a name and makes a summary", () => {
    assert.strictEqual(
      ask("", [], {
        messages: [user("My name is Ada"), { role: "assistant", content: "Hi" }, user("What is my name?")]
      }).text,
      "Your name is Ada."
    )
    assert.match(ask("Summarise the conversation", []).text ?? "", /^Summary: /)
  })
})
