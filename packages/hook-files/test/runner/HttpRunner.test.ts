import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type * as Command from "@belay/hook-files/Command"
import * as Http from "@belay/hook-files/Http"
import * as Outcome from "@belay/hook-files/Outcome"
import * as Runners from "@belay/hook-files/Runners"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterEach, vi } from "vitest"
import { answer, type Handler, home, loopback, network, v4, v6 } from "../../../../test/support/http.ts"
import { until } from "../support/processes.ts"

afterEach(() => void vi.unstubAllEnvs())

const warnings: Array<string> = []
const ctx = { warn: (message: string) => void warnings.push(message) } as unknown as HookContext
const event: JsonObject = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "echo é" } }

const task = (url: string, more: Partial<Runners.HttpWork> = {}, about: Partial<Runners.Task> = {}): Runners.Task => ({
  work: { type: "http", url, ...more },
  input: event,
  cwd: "/",
  timeoutMs: 30_000,
  trusted: "user",
  ...about
})

/** What a server on loopback was sent, and what came of its answer. */
const posted = (
  handler: Handler,
  more: Partial<Runners.HttpWork> = {},
  options: Runners.Options = {},
  about: Partial<Runners.Task> = {}
) =>
  Effect.scoped(Effect.gen(function*() {
    const heads: Array<string> = []
    const { host } = yield* loopback((head, socket) => {
      heads.push(Buffer.from(head, "latin1").toString("utf8"))
      handler(head, socket)
    })
    const finished = yield* Runners.make(options)(task(`http://${host}/audit?a=1`, more, about), ctx)
    return { finished, heads, host }
  }))

const json = (value: unknown) => answer(200, { "content-type": "application/json" }, JSON.stringify(value))
const reason = ({ exitCode, stderr, stdout }: Command.Finished): string => {
  assert.deepEqual([exitCode, stdout], [1, ""])
  return stderr
}

describe("a hook of type http", () => {
  // rows: C-02, C-56
  it.live("posts the event as JSON, and its answer is the hook's", () =>
    Effect.gen(function*() {
      const says = {
        hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no" }
      }
      const { finished, heads, host } = yield* posted(json(says))
      assert.match(heads[0]!, /^POST \/audit\?a=1 HTTP\/1\.1\r\n/)
      assert.match(heads[0]!, /content-type: application\/json\r\n/i)
      assert.include(heads[0]!, `host: ${host}`)
      assert.deepEqual(JSON.parse(heads[0]!.split("\r\n\r\n")[1]!), event)
      assert.deepInclude(finished, {
        exitCode: 0,
        stdout: JSON.stringify(says),
        stderr: "",
        timedOut: false,
        overflowed: false
      })
      assert.deepInclude(Outcome.read(finished, "PreToolUse"), { outcome: "blocking", blocked: "no" })
    }))

  it.live("has nothing to say when the answer is empty, whatever its status of 2xx", () =>
    Effect.gen(function*() {
      for (const status of [200, 202, 204]) {
        const { finished } = yield* posted(answer(status, {}, status === 204 ? "" : " \n"))
        assert.deepInclude(finished, { exitCode: 0, stdout: "", stderr: "" })
      }
    }))

  // rows: C-30
  it.live("is an error that blocks nothing for every other answer", () =>
    Effect.gen(function*() {
      const block = JSON.stringify({ decision: "block", reason: "no" })
      const deep = `{"a":${"[".repeat(200)}${"]".repeat(200)}}`
      for (
        const [handler, why] of [
          [answer(403, {}, block), /status 403/],
          [answer(500, {}, block), /status 500/],
          [answer(302, { location: "https://example.com/" }, block), /redirect/],
          [answer(200, {}, "[]"), /no JSON object/],
          [answer(200, {}, "\"text\""), /no JSON object/],
          [answer(200, {}, "fine"), /no JSON object/],
          [answer(200, {}, "{\"a\":"), /no JSON object/],
          [answer(200, {}, deep), /no JSON object/],
          [((_head, socket) => void socket.end()) as Handler, /failed/],
          [((_head, socket) => void socket.end("no http\r\n\r\n")) as Handler, /failed/]
        ] as const
      ) {
        const { finished } = yield* posted(handler)
        assert.match(reason(finished), why)
        assert.strictEqual(Outcome.read(finished, "PreToolUse").outcome, "nonBlockingError")
      }
      assert.match(reason(yield* Runners.make()(task("http://127.0.0.1:1/"), ctx)), /failed/)
    }))

  // rows: C-36
  it.live("bears a server that says too much", () =>
    Effect.gen(function*() {
      const { finished } = yield* posted(answer(200, {}, `{"a":"${"x".repeat(1_100_000)}"}`))
      assert.deepInclude(finished, { overflowed: true, stdout: "" })
      const endless = yield* posted(answer(200, {}, "x".repeat(20_000_000)))
      assert.match(reason(endless.finished), /failed/)
    }))

  it.live("takes no longer than it may, and leaves no connection", () =>
    Effect.scoped(Effect.gen(function*() {
      const { host, sockets } = yield* loopback(() => {})
      const finished = yield* Runners.make()(task(`http://${host}/`, {}, { timeoutMs: 50 }), ctx)
      assert.deepInclude(finished, { timedOut: true, stdout: "" })
      assert.deepInclude(Outcome.read(finished, "PreToolUse"), {
        outcome: "cancelled",
        problem: "took too long and was ended"
      })
      yield* Effect.promise(() => until(() => sockets.size === 0))
    })))

  it.live("ends with whoever waits for it", () =>
    Effect.scoped(Effect.gen(function*() {
      const { host, sockets } = yield* loopback(() => {})
      const fiber = yield* Effect.forkChild(Runners.make()(task(`http://${host}/`), ctx))
      yield* Effect.promise(() => until(() => sockets.size === 1))
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => until(() => sockets.size === 0))
    })))
})

describe("its headers", () => {
  it.live("name variables of the host only where they are allowed to", () =>
    Effect.gen(function*() {
      vi.stubEnv("FAKE_TOKEN", "fake-0000")
      vi.stubEnv("FAKE_SECRET", "fake-1111")
      const headers = {
        "Authorization": "Bearer $FAKE_TOKEN",
        "x-a": "${FAKE_TOKEN}-$FAKE_SECRET-${FAKE_SECRET}-$5",
        "X-Plain": "$ {a}"
      }
      const { heads } = yield* posted(answer(200, {}), { headers, allowedEnvVars: ["FAKE_TOKEN"] })
      assert.include(heads[0]!, "authorization: Bearer fake-0000\r\n")
      assert.include(heads[0]!, "x-a: fake-0000---$5\r\n")
      assert.include(heads[0]!, "x-plain: $ {a}\r\n")
      const none = yield* posted(answer(200, {}), { headers })
      assert.include(none.heads[0]!, "authorization: Bearer\r\n")
      const both = { headers, allowedEnvVars: ["FAKE_TOKEN", "FAKE_SECRET"] }
      const host = yield* posted(answer(200, {}), both, { httpHookAllowedEnvVars: ["FAKE_SECRET"] })
      assert.include(host.heads[0]!, "x-a: -fake-1111-fake-1111-$5\r\n")
      for (const { heads: all } of [none, host]) assert.notInclude(all[0]!, "fake-0000")
    }))

  it.live("say what the body is, unless they say otherwise", () =>
    Effect.gen(function*() {
      const { heads } = yield* posted(answer(200, {}), { headers: { "Content-Type": "application/vnd.audit+json" } })
      assert.deepEqual(heads[0]!.match(/^content-type: .*$/gim), ["content-type: application/vnd.audit+json"])
    }))

  it.live("cannot change how the request is framed, or where it goes", () =>
    Effect.gen(function*() {
      vi.stubEnv("FAKE_TOKEN", "fake-0000\r\nx-other: 1")
      for (
        const [headers, why] of [
          [{ authorization: "$FAKE_TOKEN" }, /line break/],
          [{ a: "b\nc" }, /line break/],
          [{ "a\r\nb": "c" }, /line break/],
          [{ Host: "169.254.169.254" }, /header host is set by the guard/],
          [{ "Transfer-Encoding": "chunked" }, /set by the guard/],
          [{ a: "\u{1f600}" }, /not allowed/],
          [{ "": "x" }, /not the name of a header/]
        ] as const
      ) {
        const { finished, heads } = yield* posted(answer(200, {}), { headers, allowedEnvVars: ["FAKE_TOKEN"] })
        assert.match(reason(finished), why)
        assert.notInclude(finished.stderr, "fake-0000")
        assert.deepEqual(heads, [])
      }
    }))
})

describe("where it goes", () => {
  // rows: C-40, C-42
  it.live("is a public server by https, and nothing of the network around it", () =>
    Effect.gen(function*() {
      const { connect, connected, resolve, resolved } = network({})
      const run = Runners.make({ http: { connect, resolve } })
      for (
        const host of [
          "10.0.0.1",
          "172.16.0.1",
          "192.168.0.1",
          "169.254.169.254",
          "100.64.0.1",
          "0.0.0.0",
          "[::ffff:10.0.0.1]",
          "[::ffff:a00:1]",
          "[fc00::1]",
          "[fe80::1]",
          "[::1]",
          "127.0.0.1",
          "2130706433",
          "0x7f.1",
          "localhost",
          "metadata.google.internal"
        ] // dprint-ignore
      ) {
        for (const [scheme, trusted] of [["https", "project"], ["http", "project"]] as const) {
          assert.match(reason(yield* run(task(`${scheme}://${host}/`, {}, { trusted }), ctx)), /may not be requested/)
        }
        if (/^(?:\[::1\]|127\.0\.0\.1|localhost)$/.test(host)) continue
        assert.match(reason(yield* run(task(`http://${host}/`), ctx)), /may not be requested/)
      }
      for (
        const url of [
          "http://example.com/",
          "https://user:pass@example.com/",
          "file:///etc/passwd",
          "https://example.com:22/",
          "",
          "nonsense"
        ]
      ) {
        assert.match(reason(yield* run(task(url), ctx)), /may not be requested/)
      }
      assert.deepEqual([connected, resolved], [[], []])
    }))

  it.live("is on this machine only for the user's own files", () =>
    Effect.gen(function*() {
      const { finished, heads } = yield* posted(json({ a: 1 }), {}, {}, { trusted: "project" })
      assert.match(reason(finished), /loopback/)
      assert.deepEqual(heads, [])
      const { trusted: _trusted, ...unsaid } = task("http://127.0.0.1:9/")
      assert.match(reason(yield* Runners.make()(unsaid, ctx)), /loopback/)
      const own = yield* posted(json({ a: 1 }), {}, {}, { trusted: "user" })
      assert.strictEqual(own.finished.exitCode, 0)
      for (
        const url of [
          "http://localhost:9000/a",
          "http://[::1]:9000/a",
          "http://LOCALHOST:9000",
          "https://127.0.0.1?x",
          "http://localhost"
        ]
      ) {
        assert.match(
          reason(yield* Runners.make({ http: { connect: () => Promise.reject(new Error("down")) } })(task(url), ctx)),
          /failed/
        )
      }
      for (
        const url of [
          "http://localhost.evil.example/",
          "http://localhost@10.0.0.1/",
          "http://127.0.0.2:9000/",
          "http://localhost:0/"
        ]
      ) {
        assert.match(reason(yield* Runners.make()(task(url), ctx)), /may not be requested/)
      }
    }))

  // rows: C-41
  it.live("is the address that was checked, also when the name leads elsewhere afterwards", () =>
    Effect.gen(function*() {
      const { connect, connected, resolve } = network({
        "a.example.com": [[v4(home)], [v4("127.0.0.1")]],
        "b.example.com": [[v4(home), v6("::ffff:10.0.0.1")]]
      })
      const run = Runners.make({ http: { connect, resolve } })
      yield* run(task("https://a.example.com/"), ctx)
      assert.match(reason(yield* run(task("https://a.example.com/"), ctx)), /may not be requested|failed/)
      assert.match(reason(yield* run(task("https://b.example.com/"), ctx)), /may not be requested|failed/)
      assert.deepEqual(connected, [`${home}:443`])
    }))

  it.live("is one of the allowed URLs, read and not as they are written", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const client = {
        request: ({ url }: { readonly url: string }) =>
          Effect.sync(() => ({ status: asked.push(url) > 0 ? 200 : 0, headers: {}, body: "", url }))
      }
      const sent = (url: string, allowedUrls: ReadonlyArray<string>) =>
        Effect.map(Http.run({ url, body: {}, timeoutMs: 1_000, allowedUrls }, client), ({ exitCode }) => exitCode === 0)
      const audit = ["https://hooks.example.com/audit/*"]
      assert.isTrue(yield* sent("https://hooks.example.com/audit/1", audit))
      assert.isTrue(yield* sent("https://hooks.example.com", ["https://hooks.example.com"]))
      assert.isTrue(yield* sent("https://hooks.example.com/", ["https://*.example.com/"]))
      assert.isTrue(yield* sent("https://hooks.example.com?a=1", ["https://hooks.example.com?a=1"]))
      assert.isTrue(yield* sent("https://hooks.example.com/audit#part", ["https://hooks.example.com/audit"]))
      assert.isFalse(yield* sent("https://hooks.example.com/", ["https://other.example.com"]))
      for (
        const url of [
          "https://hooks.example.com/audit/../x",
          "https://hooks.example.com/other",
          "http://hooks.example.com/audit/1",
          "x"
        ]
      ) {
        assert.isFalse(yield* sent(url, audit), url)
      }
      assert.isFalse(yield* sent("https://hooks.example.com/", []))
      assert.lengthOf(asked, 5)
    }))

  // rows: C-43
  it.live("is not through a proxy of the environment, which is a warning, once", () =>
    Effect.gen(function*() {
      vi.stubEnv("HTTPS_PROXY", "http://10.0.0.9:3128")
      vi.stubEnv("NODE_USE_ENV_PROXY", "1")
      warnings.length = 0
      const { connect, connected, resolve } = network({ "a.example.com": [[v4(home)]] })
      const run = Runners.make({ http: { connect, resolve } })
      yield* run(task("https://a.example.com/"), ctx)
      yield* run(task("https://a.example.com/"), ctx)
      assert.deepEqual(connected, [`${home}:443`, `${home}:443`])
      assert.deepEqual(warnings, [
        "hooks of type http connect directly, so that every address is checked: they ignore HTTPS_PROXY"
      ])
      assert.match(
        reason(yield* Runners.make({ http: { trustProxy: false } })(task("https://a.example.com/"), ctx)),
        /proxies of the environment/
      )
      assert.match(
        reason(yield* Runners.make({ http: { policy: { hosts: ["10.0.0.1"] } } })(task("https://a.example.com/"), ctx)),
        /expected a public host/
      )
    }))

  it.live("is said by a client of the host's as well, whose failures are errors that block nothing", () =>
    Effect.gen(function*() {
      const sent = (request: () => Effect.Effect<never, unknown>) =>
        Effect.map(Http.run({ url: "https://a.example.com", body: {}, timeoutMs: 1_000 }, { request }), reason)
      assert.strictEqual(yield* sent(() => Effect.fail({ message: "down" })), "down")
      assert.strictEqual(yield* sent(() => Effect.die("a bug")), "a bug")
      assert.match(yield* sent(() => Effect.fail({})), /did not say why/)
      assert.match(yield* sent(() => (undefined as never as { readonly x: never }).x), /undefined/)
    }))
})
