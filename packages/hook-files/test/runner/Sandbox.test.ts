import type { Json } from "@belay/core/Json"
import * as Sandbox from "@belay/hook-files/Sandbox"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { readdirSync } from "node:fs"
import { until } from "../support/processes.ts"

const run = (body: string, request: Partial<Sandbox.Request> = {}): Promise<Json | undefined> =>
  Effect.runPromise(
    Sandbox.run({
      code: body.includes("export default") ? body : `export default async (ctx) => { ${body} }`,
      context: {},
      ...request
    })
  )

const failure = (body: string, request: Partial<Sandbox.Request> = {}): Promise<Sandbox.SandboxError> =>
  run(body, request).then(
    (result) => assert.fail(`it came to ${JSON.stringify(result)}`),
    (error: Sandbox.SandboxError) => error
  )

/** Threads of this process. */
const threads = (): number => readdirSync("/proc/self/task").length

describe("Sandbox", () => {
  // rows: DEC-01, E-10
  it("runs stored code on what it is handed, in TypeScript too", async () => {
    assert.deepEqual(await run("return { sum: ctx.a + ctx.b }", { context: { a: 1, b: 2 } }), { sum: 3 })
    assert.strictEqual(
      await run("export default (ctx: { n: number }): number => ctx.n as number", { context: { n: 7 } }),
      7
    )
    assert.isUndefined(await run(""))
    assert.isNull(await run("return null"))
    assert.deepEqual(await run("const m = await Promise.all([1, 2].map(async (n) => n * 2)); return m"), [2, 4])
    assert.strictEqual(await run("const later = await Promise.resolve(5); export default () => later"), 5)
  })

  // rows: DEC-02
  it("has nothing of the host: no environment, files, network, process, timers or imports", async () => {
    const names = [
      "process",
      "require",
      "fetch",
      "Buffer",
      "setTimeout",
      "WebAssembly",
      "Worker",
      "module",
      "__dirname",
      "XMLHttpRequest",
      "std",
      "os"
    ]
    assert.deepEqual(
      await run(
        `return ${
          JSON.stringify(names)
        }.filter((name) => name in globalThis || typeof globalThis[name] !== "undefined")`
      ),
      []
    )
    for (const code of ["process.env", "fetch('http://127.0.0.1')", "require('fs')"]) {
      assert.match((await failure(`return ${code}`)).message, /is not defined/)
    }
    for (const name of ["fs", "node:fs", "std", "os", "./x.js", "data:text/javascript,1"]) {
      assert.strictEqual((await failure(`return await import(${JSON.stringify(name)})`)).reason, "code")
    }
    assert.strictEqual(
      (await failure(`import fs from "node:fs"; export default () => fs.readdirSync("/")`)).reason,
      "code"
    )
  })

  // rows: DEC-02
  it("constructors and prototypes lead nowhere, and what it does to them stays there", async () => {
    const escapes = [
      "ctx.constructor.constructor('return typeof process')()",
      "(async () => {}).constructor('return typeof process')()",
      "ctx.tool.read.constructor('return typeof globalThis.process')()",
      "new Error().stack.constructor.constructor('return typeof require')()",
      "Reflect.getPrototypeOf(ctx).constructor.constructor('return typeof fetch')()"
    ]
    for (const escape of escapes) {
      assert.strictEqual(await run(`return await ${escape}`, { capabilities: { "tool.read": () => 1 } }), "undefined")
    }
    const poisoned = await run(
      `Object.prototype.polluted = 1; Array.prototype.map = () => "x"; JSON.parse = () => "x"; JSON.stringify = () => "{"
       return JSON.constructor ? { __proto__: null, ["__proto__"]: { polluted: 1 }, constructor: { prototype: { polluted: 1 } }, ok: true } : 0`
    )
    assert.isFalse(Object.hasOwn(poisoned as object, "__proto__"))
    assert.strictEqual((poisoned as { ok: boolean }).ok, true)
    assert.isUndefined(({} as { polluted?: number }).polluted)
    assert.deepEqual(
      await run("return await ctx.echo({ __proto__: 1, ['__proto__']: { x: 1 }, a: 2 })", {
        capabilities: { echo: (value) => value ?? null }
      }),
      { a: 2 }
    )
  })

  it("ends loops, of code and of promises, at the deadline", async () => {
    for (
      const body of [
        "for (;;) {}",
        "const f = () => Promise.resolve().then(f); await f()",
        "try { for (;;) {} } catch { for (;;) {} }"
      ]
    ) {
      const { message, reason } = await failure(body, { timeoutMs: 150 })
      assert.strictEqual(reason, "timeout", message)
    }
    assert.strictEqual((await failure("for (;;) {}\nexport default () => 1", { timeoutMs: 150 })).reason, "timeout")
    assert.strictEqual(
      (await failure("await ctx.slow()", { timeoutMs: 150, capabilities: { slow: () => Effect.never } })).reason,
      "timeout"
    )
    const blocked = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"
    assert.match((await failure(blocked, { timeoutMs: 300 })).reason, /code|timeout/)
    assert.match((await failure("await new Promise(() => {})")).message, /waits for what never comes/)
  })

  it("has only so much memory and so deep a stack", async () => {
    const bomb = await failure("const all = []; for (;;) all.push('x'.repeat(100000) + all.length)")
    assert.strictEqual(bomb.reason, "memory", bomb.message)
    assert.strictEqual((await failure("return new Uint8Array(1e9).length")).reason, "memory")
    assert.match((await failure("const f = (n) => 1 + f(n + 1); return f(0)")).message, /stack/i)
    assert.match(
      (await failure("let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a", { timeoutMs: 60_000 })).reason,
      /code|result/
    )
    assert.match(
      (await failure("return /(a+)+$/.test('a'.repeat(40) + 'b')", { timeoutMs: 300 })).reason,
      /timeout|code|memory/
    )
  })

  it("takes JSON for a result, of a length, and nothing else", async () => {
    assert.match((await failure("return () => 1")).message, /no JSON/)
    assert.match((await failure("return Symbol()")).message, /no JSON/)
    assert.strictEqual((await failure("return 10n")).reason, "result")
    assert.strictEqual((await failure("const a = {}; a.a = a; return a")).reason, "result")
    assert.match((await failure("return 'x'.repeat(2000)", { maxText: 1_000 })).message, /too long/)
    assert.match(
      (await failure("let a = 1; for (let i = 0; i < 100; i++) a = [a]; return a")).message,
      /deeper than 64/
    )
    assert.deepEqual(await run("return { nan: NaN, toJSON: undefined, date: new Date(0) }"), {
      nan: null,
      date: "1970-01-01T00:00:00.000Z"
    })
    assert.match((await failure("return { toJSON() { throw new Error('sly') } }")).message, /sly/)
  })

  it("says what went wrong in the code", async () => {
    assert.match((await failure("throw new Error('out of ink')")).message, /Error: out of ink/)
    assert.match((await failure("throw null")).message, /null/)
    assert.match(
      (await failure("throw { get message() { for (;;) {} } }", { timeoutMs: 200 })).message,
      /cannot be said|took longer/
    )
    assert.match((await failure("return }")).message, /stored code: /)
    assert.match((await failure("export default 7")).message, /no function/)
    assert.match((await failure("x".repeat(300_000))).message, /longer than/)
  })

  it("calls the functions of the host, and sees why one failed and nothing else", async () => {
    const seen: Array<Json> = []
    const capabilities: NonNullable<Sandbox.Request["capabilities"]> = {
      "bag.get": (key) => {
        seen.push(key ?? null)
        return Promise.resolve({ of: key ?? null })
      },
      "bag.set": () => undefined,
      "http": () => Effect.fail("not allowed"),
      "big": () => "x".repeat(2_000)
    }
    assert.deepEqual(
      await run("await ctx.bag.set('a', 1); return [await ctx.bag.get('a'), await ctx.bag.set()]", { capabilities }),
      [{
        of: "a"
      }, null]
    )
    assert.deepEqual(seen, ["a"])
    assert.strictEqual(
      await run("try { await ctx.http() } catch (error) { return error.message }", { capabilities }),
      "not allowed"
    )
    assert.strictEqual(
      await run("try { await ctx.big() } catch (error) { return error.message }", { capabilities, maxText: 1_000 }),
      "the answer is too long"
    )
    assert.strictEqual(
      await run("try { await ctx.http('x'.repeat(2000)) } catch (error) { return error.message }", {
        capabilities,
        maxText: 1_000
      }),
      "the arguments are too long"
    )
    const many = "let n = 0; try { for (;;) { await ctx.bag.set(); n++ } } catch (error) { return [n, error.message] }"
    assert.deepEqual(await run(many, { capabilities, timeoutMs: 20_000 }), [1_000, "more than 1000 calls"])
  })

  it("prints to whoever listens, but not without end", async () => {
    const lines: Array<string> = []
    await run("for (let i = 0; i < 500; i++) console.log('line', { i }, 'x'.repeat(5000))", {
      onLog: (line) => lines.push(line)
    })
    assert.lengthOf(lines, 100)
    await run("String.prototype.slice = () => 'x'.repeat(1e6); Array.prototype.join = () => 'y'; console.log('a')", {
      onLog: (line) => lines.push(line)
    })
    assert.lengthOf(lines, 100)
    assert.match(lines[0]!, /^line \{"i":0\} x{900,}$/)
  })

  it("leaves no worker behind, whether it ends, fails, is too slow or is interrupted", async () => {
    await run("return 1")
    const before = threads()
    const ended: Array<string> = []
    const ways = [() => run("return 1"), () => failure("throw 1"), () => failure("for (;;) {}", { timeoutMs: 100 })]
    await Promise.all([...ways, ...ways].map((way) => way()))
    const program = Effect.gen(function*() {
      const waits = yield* Deferred.make<void>()
      const wait = Effect.andThen(Deferred.succeed(waits, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(
        Sandbox.run({
          code: "export default async (ctx) => { await ctx.wait() }",
          context: {},
          timeoutMs: 60_000,
          capabilities: {
            wait: () => Effect.onInterrupt(wait, () => Effect.sync(() => void ended.push("interrupted")))
          }
        })
      )
      yield* Deferred.await(waits)
      yield* Fiber.interrupt(fiber)
    })
    await Effect.runPromise(program)
    assert.deepEqual(ended, ["interrupted"])
    await until(() => threads() <= before)
  })
})
