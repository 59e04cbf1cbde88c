/** What a stream sends, and how fast it is written. */
import * as NodeHttp from "@belay/server/NodeHttp"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { assert, describe, it, vi } from "vitest"
import { endOf, type Frame, sseResponse } from "../../../src/serve/internal/sse.ts"

const size = 64 * 1_024

/** Frames without end. */
const endless = () => {
  const state = { made: 0, hasEnded: false, hasLeft: false }
  const frames = (async function*(): AsyncGenerator<Frame> {
    try {
      while (state.made < 10_000) {
        state.made++
        yield { data: "x".repeat(size) }
      }
    } finally {
      state.hasEnded = true
    }
  })()
  return { state, response: () => sseResponse(frames, { onLeave: () => void (state.hasLeft = true) }) }
}
const until = async (is: () => boolean) => {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe("a stream", () => {
  it("makes the next event when the reader wants it", async () => {
    const { response, state } = endless()
    const reader = response().body!.getReader()
    for (let n = 1; n <= 3; n++) {
      await reader.read()
      assert.strictEqual(state.made, n)
    }
    await reader.cancel()
    assert.isTrue(state.hasEnded && state.hasLeft)
  })

  it("waits for a client that does not read, and ends when it goes away", async () => {
    const { response, state } = endless()
    const server = createServer(NodeHttp.toNode(async () => response()))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
    socket.pause()
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    let before = -1
    await until(() => state.made > 2)
    while (before !== state.made) {
      before = state.made
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    // What the buffers of both sockets hold is a few megabytes.
    assert.isBelow(state.made * size, 32 * 1_024 * 1_024)
    socket.destroy()
    await until(() => state.hasEnded)
    assert.isTrue(state.hasLeft)
    await new Promise((resolve) => server.close(resolve))
  })
})

describe("a response", () => {
  it("has one frame after another, and then its last text", async () => {
    const frames = async function*(): AsyncGenerator<Frame> {
      yield { data: 1 }
      yield { data: { a: "b" }, event: "e", id: "7" }
    }
    let hasLeft = false
    const onLeave = () => void (hasLeft = true)
    const plain = "data: 1\n\nid: 7\nevent: e\ndata: {\"a\":\"b\"}\n\n"
    const response = sseResponse(frames(), { onLeave, done: "[DONE]", headers: { "x-a": "b" } })
    assert.deepEqual(Object.fromEntries(response.headers), {
      "cache-control": "no-cache, no-transform",
      "content-type": "text/event-stream; charset=utf-8",
      "x-a": "b"
    })
    assert.strictEqual(await response.text(), `${plain}data: [DONE]\n\n`)
    await endOf(response)
    assert.strictEqual(await sseResponse(frames(), { onLeave }).text(), plain)
    assert.isFalse(hasLeft)
  })

  it("has ended when its reader has gone, and a response without a stream has no end", async () => {
    const response = endless().response()
    await response.body!.cancel()
    await endOf(response)
    assert.isUndefined(endOf(new Response("text")))
  })

  it("has a comment for every 15 seconds in which nothing happens", async () => {
    vi.useFakeTimers()
    let started = 0
    const faked = globalThis.setTimeout
    // Other tests of this process may have timers too.
    globalThis.setTimeout = new Proxy(faked, {
      apply: (target, self, args) => {
        if (args[1] === 7_500) started++
        return Reflect.apply(target, self, args)
      }
    })
    try {
      let happen = (): void => {}
      const frames = async function*(): AsyncGenerator<Frame> {
        await new Promise<void>((resolve) => happen = resolve)
        yield { data: "now" }
      }
      const reader = sseResponse(frames(), { onLeave: () => {} }).body!.getReader()
      let text = ""
      const read = async () => {
        const { value } = await reader.read()
        text += new TextDecoder().decode(value)
      }
      const first = read()
      await vi.advanceTimersByTimeAsync(14_999)
      assert.strictEqual(text, "")
      await vi.advanceTimersByTimeAsync(1)
      await first
      const second = read()
      await vi.advanceTimersByTimeAsync(15_000)
      await second
      assert.strictEqual(text, ": idle\n\n: idle\n\n")
      happen()
      await read()
      assert.strictEqual(text, ": idle\n\n: idle\n\ndata: \"now\"\n\n")
      // One timer serves many frames, and ends when nobody reads.
      const before = started
      await vi.advanceTimersByTimeAsync(60_000)
      assert.isAbove(before, 1)
      assert.strictEqual(started, before)
    } finally {
      globalThis.setTimeout = faked
      vi.useRealTimers()
    }
  })
})
