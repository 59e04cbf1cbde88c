/**
 * Watches the event loop of a process from a thread of its own. A tool or a hook that never gives the event loop back
 * stops every session of its process: nothing else there can notice it.
 *
 * @since 0.1.0
 */
import { checkKinds, checkOptions, oneOf, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { Worker } from "node:worker_threads"
import type { Host } from "./Host.ts"
import { part } from "./internal/optionChecks.ts"
import { program } from "./internal/watchdogThread.ts"

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  /** How long the event loop may be blocked, in milliseconds. Default 30,000. */
  readonly limitMs?: number
  /**
   * What happens then. `report`, the default: one line on standard error, and another one when it goes on. `end`: the
   * process ends at once with SIGKILL after the line. Its sessions are taken over by others, and the message whose turn
   * has blocked it runs out of attempts.
   */
  readonly onBlocked?: "report" | "end"
  /** The host whose running sessions the line names. */
  readonly host?: Pick<Host, "running">
}

/** A watchdog. @category models @since 0.1.0 */
export interface Watchdog extends AsyncDisposable {
  /** Stops watching. */
  readonly close: () => Promise<void>
}

const optionKinds: OptionKinds<Options> = { limitMs: "number", onBlocked: "text", host: "object" }

/** How many bytes the names of the running sessions may have. */
const maxNames = 4_096

/**
 * Starts watching this process. It does not keep the process running. Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import type { Host } from "@belay/server/Host"
 * import * as Watchdog from "@belay/server/Watchdog"
 *
 * export const watch = (host: Host) => Watchdog.make({ host, limitMs: 20_000, onBlocked: "end" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Watchdog => {
  Result.getOrThrow(checkKinds("watchdog", options, optionKinds, []))
  const { host, limitMs = 30_000, onBlocked = "report" } = options
  Result.getOrThrow(checkOptions(
    "watchdog",
    whole("limitMs", limitMs, 100),
    oneOf("onBlocked", onBlocked, ["report", "end"]),
    part("host", host ?? { running: isNaN }, ["running"], "what Host.make returns")
  ))
  const beats = new Int32Array(new SharedArrayBuffer(8))
  const names = new Uint8Array(new SharedArrayBuffer(maxNames))
  const worker = new Worker(program, {
    eval: true,
    workerData: { beats, names, limitMs, ends: onBlocked === "end", pid: process.pid }
  })
  worker.unref()
  worker.on("error", () => {})
  const encoder = new TextEncoder()
  const beat = () => {
    Atomics.add(beats, 0, 1)
    if (host !== undefined) Atomics.store(beats, 1, encoder.encodeInto(host.running().join(", "), names).written)
  }
  beat()
  const timer = setInterval(beat, Math.max(20, Math.min(1_000, limitMs / 10)))
  timer.unref()
  const close = async () => {
    clearInterval(timer)
    await worker.terminate()
  }
  return { close, [Symbol.asyncDispose]: close }
}
