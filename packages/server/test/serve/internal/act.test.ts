/** What a client may bring: instructions and tools. */
import { assert, describe, it } from "vitest"
import { checkInstructions, checkTools, isClientCall, pendingOf } from "../../../src/serve/internal/act.ts"

/** The kind, the text and the field of a refusal, or what was returned. */
const told = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    const { field, kind, message } = Object(error)
    return `${kind} ${field}: ${message}`
  }
}

describe("a client", () => {
  const tool = (name: string, description = "") => ({ name, description, parameters: {} })
  const tools = (clientTools: boolean, ...given: ReadonlyArray<object>) =>
    told(() => checkTools({ clientTools } as never, given as never))

  it("brings tools only if it may", () => {
    assert.strictEqual(tools(false, tool("a")), "invalid tools: this server takes no tools of clients")
    assert.deepEqual(tools(false), [])
    assert.deepEqual(tools(true, tool("a"), tool("b")), [tool("a"), tool("b")])
  })

  it("brings tools with names for a model, each once", () => {
    const wrong = "invalid tools: the name of a tool must be 1 to 64 letters, digits, \"_\" or \"-\""
    assert.deepEqual(tools(true, tool(`aZ09_-${"a".repeat(58)}`)), [tool(`aZ09_-${"a".repeat(58)}`)])
    for (const name of ["", "a.b", "a b", "\u00e4", "a".repeat(65)]) {
      assert.strictEqual(tools(true, tool("a"), tool(name)), wrong, name)
    }
    assert.strictEqual(tools(true, tool("a"), tool("b"), tool("a")), "invalid tools: two tools have the same name")
  })

  it("brings tools of at most 60000 characters", () => {
    const room = 60_000 - JSON.stringify([tool("a")]).length
    assert.deepEqual(tools(true, tool("a", "x".repeat(room))), [tool("a", "x".repeat(room))])
    assert.strictEqual(tools(true, tool("a", "x".repeat(room + 1))), "too-large tools: the tools are too large")
  })

  it("brings instructions only if it may, which are joined", () => {
    const check = (clientInstructions: boolean, ...texts: ReadonlyArray<string>) =>
      told(() => checkInstructions({ clientInstructions } as never, texts, "messages"))
    assert.isUndefined(check(false))
    assert.isUndefined(check(true))
    assert.strictEqual(check(true, "a", "b"), "a\n\nb")
    assert.match(String(check(false, "a")), /^invalid messages: messages: .*`clientInstructions` of Serve\.make$/)
  })

  it("is asked what is open, and only its own tools are its calls", () => {
    const pending = [{ callId: "c" }]
    assert.deepEqual(pendingOf({ waiting: { type: "people", pending } } as never), pending as never)
    assert.deepEqual(pendingOf({ waiting: { type: "nothing", pending } } as never), [])
    assert.deepEqual(pendingOf(undefined), [])
    assert.deepEqual([{ client: true }, { client: false }, {}].map((ask) => isClientCall(ask as never)), [
      true,
      false,
      false
    ])
  })
})
