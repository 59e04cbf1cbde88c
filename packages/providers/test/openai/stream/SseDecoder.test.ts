/** The decoder of server-sent events, piece by piece. */
import { assert, describe, it } from "@effect/vitest"
import * as Sse from "../../../src/openai/internal/response/sse.ts"

const decoder = () => {
  const events: Array<string> = []
  const made = Sse.make({ onData: (data) => events.push(data), onTooLong: () => events.push("too long") }, 1_000)
  return { events, push: (text: string) => made.push(Buffer.from(text)) }
}

describe("a stream that arrives in pieces", () => {
  it("makes no progress with comments, wherever they are cut, so that a silent server times out", () => {
    const { push } = decoder()
    const pieces = [":", " pi", "ng", "\n", "\n", ": ping\n\n: pi", "ng\r\n\r\n"]
    assert.deepStrictEqual(pieces.map(push), pieces.map(() => false))
    assert.isTrue(push("da"))
    assert.isTrue(push("ta: x\n"))
  })

  it("has one line end where CR and LF are in two pieces", () => {
    const { events, push } = decoder()
    for (const piece of ["data: a\r", "\n", "data: b\r", "\ndata: c\r\n", "\r", "\n", "data: d\n\n"]) push(piece)
    assert.deepStrictEqual(events, ["a\nb\nc", "d"])
  })

  it("has an error after the data before it", () => {
    const { events, push } = decoder()
    push("data: a\nerror: {}\ndata: b\n\n")
    assert.deepStrictEqual(events, ["a", "{}", "b"])
  })

  it("loses a byte order mark at its beginning, and no other", () => {
    const { events, push } = decoder()
    for (const piece of ["\uFEFFdata: a\n\ndata: b", "\uFEFFc\n\n"]) push(piece)
    assert.deepStrictEqual(events, ["a", "b\uFEFFc"])
  })

  it("has two line ends where CR is followed by a piece that begins with CR", () => {
    const { events, push } = decoder()
    for (const piece of ["data: a\r", "\rdata: b\r", "\r"]) push(piece)
    assert.deepStrictEqual(events, ["a", "b"])
  })
})
