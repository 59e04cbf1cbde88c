/** `node:net` for the bundle of the command: it loads the streams of Node, so it is loaded at its first use. */
import type * as net from "node:net"

const load = (): typeof net => process.getBuiltinModule("node:net")

export const isIP: typeof net.isIP = (text) => load().isIP(text)
export const isIPv4: typeof net.isIPv4 = (text) => load().isIPv4(text)
export const isIPv6: typeof net.isIPv6 = (text) => load().isIPv6(text)
export const connect = (options: net.NetConnectOpts): net.Socket => load().connect(options)

/** The constructor returns the list of Node. */
export const BlockList = function() {
  return new (load().BlockList)()
}
