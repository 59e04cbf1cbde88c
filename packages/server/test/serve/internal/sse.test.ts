/** How fast a stream is written. */
import * as NodeHttp from "@belay/server/NodeHttp"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { assert, describe, it } from "vitest"
import { type Frame, sseResponse } from "../../../src/serve/internal/sse.ts"

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
