/** What a monitor shows of a host, and what a watchdog does when the event loop is blocked. */
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Monitor from "@belay/server/Monitor"
import * as Watchdog from "@belay/server/Watchdog"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert, describe, it, vi } from "vitest"
import { asking, failure, gate, hosted, newFile, tool } from "../support/hosted.ts"

const ask = async ({ handler }: Monitor.Monitor, path: string) => {
  const response = await handler(new Request(`http://127.0.0.1${path}`))
  return { status: response.status, text: await response.text(), type: response.headers.get("content-type") }
}

/** The values of a text of Prometheus, by name and labels. */
const valuesOf = (text: string) =>
  new Map(
    text.trim().split("\n").filter((line) => !line.startsWith("#")).map((line) => {
      const [name, value] = line.split(/ (?=[^ ]+$)/)
      return [name!, Number(value)]
    })
  )

describe("a monitor", () => {
  it("counts what waits, what runs, what people are asked, and what was spent", async () => {
    const { close, host } = hosted(newFile(), { tools: [tool("danger", [])], hooks: [asking] })
    const monitor = Monitor.make({ host })
    const running = await host.start()
    await host.result("a", (await host.send("a", "hello")).key)
    await host.result("b", (await host.send("b", "do danger", { key: "m" })).key)
    await host.send("c", "later", { at: Date.now() + 1e6 })
    const { status, text, type } = await ask(monitor, "/metrics")
    assert.strictEqual(status, 200)
    assert.match(type!, /^text\/plain; version=0\.0\.4/)
    const values = valuesOf(text)
    assert.strictEqual(values.get("belay_outcomes_total{status=\"completed\"}"), 1)
    assert.strictEqual(values.get("belay_outcomes_total{status=\"suspended\"}"), 1)
    assert.strictEqual(values.get("belay_messages{status=\"suspended\"}"), 1)
    assert.strictEqual(values.get("belay_messages{status=\"waiting\"}"), 1)
    assert.strictEqual(values.get("belay_sessions_due"), 0)
    assert.isAbove(values.get("belay_questions_age_seconds")!, 0)
    assert.strictEqual(values.get("belay_dead_total"), 0)
    assert.isAtLeast(values.get("belay_event_loop_delay_max_seconds")!, 0)
    for (const line of text.trim().split("\n")) {
      assert.match(line, /^(?:# (?:HELP|TYPE) belay_\w+ .+|belay_\w+(?:\{\w+="[^"]*"\})? [0-9.e+-]+)$/)
    }
    await running.drain()
    monitor.close()
    await close()
  })

  it("gives the same numbers to a meter of OpenTelemetry", async () => {
    const { close, host } = hosted(newFile())
    const running = await host.start()
    await host.result("a", (await host.send("a", "hello")).key)
    const monitor = Monitor.make({ host })
    const callbacks = new Map<string, (result: Monitor.ObservableResult) => void | Promise<void>>()
    const create = (kind: string) => (name: string) => ({
      addCallback: (callback: (result: Monitor.ObservableResult) => void | Promise<void>) =>
        void callbacks.set(`${kind} ${name}`, callback)
    })
    monitor.observe({ createObservableCounter: create("counter"), createObservableGauge: create("gauge") })
    const seen: Array<unknown> = []
    const result = { observe: (...values: ReadonlyArray<unknown>) => void seen.push(values) }
    await callbacks.get("counter belay_outcomes_total")!(result)
    await callbacks.get("gauge belay_sessions_due")!(result)
    assert.deepEqual(seen, [[1, { status: "completed" }], [0, undefined]])
    await running.drain()
    monitor.close()
    await close()
  })

  it("says that it is alive, and that it is not ready while the store does not answer", async () => {
    const store = SqliteStore.make({ path: ":memory:" })
    let isAway = false
    const inbox: typeof store.inbox = {
      ...store.inbox,
      due: (options) => isAway ? Effect.never : store.inbox.due(options)
    }
    const { close, host } = hosted(newFile(), { store: store.sessions }, { store: { sessions: store.sessions, inbox } })
    const monitor = Monitor.make({ host, withinMs: 50 })
    assert.deepInclude(await ask(monitor, "/readyz"), { status: 200, text: "ready\n" })
    isAway = true
    assert.deepInclude(await ask(monitor, "/readyz"), {
      status: 503,
      text: "not ready: the store has not answered within 50 ms\n"
    })
    assert.strictEqual((await ask(monitor, "/metrics")).status, 503)
    assert.deepInclude(await ask(monitor, "/healthz"), { status: 200, text: "ok\n" })
    assert.strictEqual((await ask(monitor, "/")).status, 404)
    monitor.close()
    await close()
  })

  it("refuses options that it cannot use", () => {
    assert.throws(() => Monitor.make({ host: {} as never }), /monitor\.host: expected what Host\.make returns/)
    assert.throws(() => Watchdog.make({ limitMs: 5 }), /watchdog\.limitMs/)
    assert.throws(() => Watchdog.make({ host: {} as never }), /watchdog\.host: expected what Host\.make returns/)
    assert.throws(() => Watchdog.make({ onBlocked: "panic" as never }), /watchdog\.onBlocked/)
  })
})

describe("a host that stops", () => {
  it("is alive and not ready, and the age of what is due is the time since it was sent", async () => {
    const go = gate()
    const { close, host } = hosted(newFile(), { tools: [tool("slow", [], () => go.opened)] })
    const monitor = Monitor.make({ host })
    const before = Date.now()
    await host.send("a", "hello")
    assert.isAtLeast((await host.activity()).oldest!, before - 1_000)
    const running = await host.start()
    await host.send("b", "do slow", { key: "m" })
    while (!host.running().includes("b")) await Effect.runPromise(Effect.sleep(5))
    const draining = Promise.resolve(running.drain())
    await vi.waitFor(
      async () =>
        assert.deepInclude(await ask(monitor, "/readyz"), { status: 503, text: "not ready: the host stops\n" }),
      60_000
    )
    assert.strictEqual((await ask(monitor, "/healthz")).status, 200)
    go.open()
    await draining
    monitor.close()
    await close()
  })
})

describe("dead messages", () => {
  it("are listed, and run again or go away when somebody says so", async () => {
    const { close, host, store } = hosted(newFile())
    for (const key of ["a", "b"]) {
      await host.send("s", `hello ${key}`, { key })
      await Effect.runPromise(store.inbox.report("s", key, "dead", { status: "dead", attempts: 5, reason: "poison" }))
    }
    const dead = await host.entries({ status: "dead" })
    assert.deepEqual(dead.map(({ key, outcome }) => [key, Object(outcome).reason]), [["a", "poison"], ["b", "poison"]])
    assert.isTrue(await host.retry("s", "a"))
    assert.isTrue(await host.drop("s", "b"))
    assert.isFalse(await host.retry("s", "b"))
    assert.deepEqual(await host.entries({ status: "dead" }), [])
    assert.isUndefined(await host.status("s", "b"))
    const running = await host.start()
    assert.deepInclude(await host.result("s", "a"), { status: "completed", text: "re: hello a" })
    await running.drain()
    const { care: _, ...inbox } = store.inbox
    const poor = hosted(newFile(), {}, { store: { sessions: store.sessions, inbox } })
    assert.include(await failure(poor.host.entries({ status: "dead" })), { problem: "store" })
    await close()
  })
})

describe("a watchdog", () => {
  const program = fileURLToPath(new URL("../support/blockedWorker.ts", import.meta.url))
  const run = async (...args: ReadonlyArray<string>) => {
    const child = spawn(process.execPath, ["--conditions=@belay/source", program, ...args], {
      stdio: ["pipe", "ignore", "pipe"]
    })
    // A process that has ended reads nothing.
    child.stdin.on("error", () => {})
    let said = ""
    child.stderr.on("data", (data) => {
      said += data
      if (/has been blocked.*\n|goes on.*\n/.test(String(data))) child.stdin.write("go on\n")
    })
    const [code, signal] = await once(child, "close")
    return { code, signal, said }
  }

  it("reports a blocked event loop with the sessions that run, and that it goes on", async () => {
    const { code, said } = await run("report", "300", "line")
    assert.strictEqual(code, 0)
    assert.match(
      said,
      /the event loop of process \d+ has been blocked for [\d.]+ s; sessions that ran here: ada, bob\?\[31m\n/
    )
    assert.match(said, /the event loop of process \d+ goes on after/)
    assert.strictEqual(said.match(/has been blocked/g)!.length, 1)
  })

  it("ends the process if that is asked for", async () => {
    const { said, signal } = await run("end", "300", "60000")
    assert.strictEqual(signal, "SIGKILL")
    assert.match(said, /has been blocked for .*The process ends now\n$/)
  })

  it("says nothing while the event loop goes round", async () => {
    const { code, said } = await run("end", "20000", "50")
    assert.strictEqual(code, 0)
    assert.strictEqual(said, "")
  })
})
