/** What the file of the guard has in place of `node:net`. */
import { assert, describe, it } from "@effect/vitest"
import * as net from "node:net"
import * as quick from "../../src/internal/guard/run/quick/quickNet.ts"

describe("node:net of the guard's file", () => {
  it.each(["127.0.0.1", "::1", "::ffff:10.0.0.1", "10.0.0.256", "example.com", ""])("reads %j as Node does", (text) => {
    assert.deepEqual(
      [quick.isIP(text), quick.isIPv4(text), quick.isIPv6(text)],
      [net.isIP(text), net.isIPv4(text), net.isIPv6(text)]
    )
  })

  it("has the lists of Node", () => {
    const List = quick.BlockList as unknown as typeof net.BlockList
    const list = new List()
    list.addSubnet("10.0.0.0", 8, "ipv4")
    assert.instanceOf(list, net.BlockList)
    assert.deepEqual([list.check("10.1.2.3", "ipv4"), list.check("11.1.2.3", "ipv4")], [true, false])
  })

  it("connects as Node does", async () => {
    const server = net.createServer((socket) => socket.end("hello"))
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const { port } = server.address() as net.AddressInfo
    const text = await quick.connect({ port, host: "127.0.0.1" }).setEncoding("utf8").toArray()
    server.close()
    assert.deepEqual(text, ["hello"])
  })
})
