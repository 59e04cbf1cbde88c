import { ConfigError } from "@belay/core/AgentError"
import type { AgentEvent } from "@belay/core/AgentEvent"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookChain from "@belay/core/HookChain"
import type { Json } from "@belay/core/Json"
import * as Tool from "@belay/core/Tool"
import * as ErrorKnowledge from "@belay/hooks/ErrorKnowledge"
import * as Scripted from "@belay/testing/Scripted"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { call } from "../../../../test/support/events.ts"

const stale: ErrorKnowledge.Known = {
  id: "stale-archive",
  signature: "archive \\S+ is older",
  scope: { tool: "bash", command: "^npm run package" },
  resolution: ["Remove dist/.", "Build again."]
}

const session = (options: ErrorKnowledge.Options = {}, turnNumber = 1) => {
  const injected: Array<string> = []
  const scope = TestScope.make({ turnNumber, inject: (text) => void injected.push(text) })
  const chain = HookChain.makeUnsafe([ErrorKnowledge.make(options)])
  const pre = (command: string, tool = "bash") => chain.run("preToolCall", call(tool, { command }), scope)
  const post = (command: Json, result: Tool.ToolResult, tool = "bash") => {
    const made = call(tool, typeof command === "string" ? { command } : command)
    return chain.run("postToolCall", { call: made, tool: made.tool, result, elapsedMs: 1, executed: true }, scope)
  }
  return { injected, scope, pre, post, fail: (command: string, error: string) => post(command, Tool.failure(error)) }
}

const stored = async (store: ErrorKnowledge.Store) => store.load() as ReadonlyArray<ErrorKnowledge.Entry>

describe("ErrorKnowledge", () => {
  // rows: B-41
  it.effect("informs the model about known failures before a matching call, once in a turn", () =>
    Effect.gen(function*() {
      const { injected, pre } = session({ entries: [stale] })
      yield* pre("npm test")
      yield* pre("npm run package", "other")
      assert.deepEqual(injected, [])
      yield* pre("npm run package --all")
      yield* pre("npm run package --all")
      assert.deepEqual(injected, [
        "Known trouble with such calls of bash: stale-archive. What helps: 1. Remove dist/. 2. Build again."
      ])
    }))

  it.effect("gives the model the resolution after a failure, and learns whether it helped", () =>
    Effect.gen(function*() {
      const store = ErrorKnowledge.memory()
      const { fail, injected, post, scope } = session({ entries: [stale], store, window: 0 })
      yield* TestClock.adjust("1 hour")
      yield* fail("npm run package", "Error: archive dist/a.tgz is older than its sources")
      assert.deepEqual(injected, ["This failure of bash is known. What helps: 1. Remove dist/. 2. Build again."])
      assert.deepEqual(scope.warnings, [
        "known-fix failure of bash, the first: Error: archive <path> is older than its sources"
      ])
      yield* post("npm test", Tool.success("ok"))
      yield* post("npm run package", Tool.success("ok"))
      yield* fail("npm run package", "archive b is older")
      yield* fail("npm run package", "archive c is older")
      const [entry] = yield* Effect.promise(() => stored(store))
      assert.deepInclude(entry, {
        id: "stale-archive",
        attempts: 2,
        successRate: 0.5,
        occurrences: 3,
        lastMatchedAt: 3_600_000
      })
      assert.include(injected.at(-1), "(helped in 50 % of 2 attempts)")
    }))

  // rows: B-08
  it.effect("adds a new failure with its normalized text, and recognizes it again", () =>
    Effect.gen(function*() {
      const store = ErrorKnowledge.memory()
      const { fail, scope } = session({ store, window: 0 })
      yield* fail("git push origin main", "fatal: unable to read \"a b\" at /srv/x/17.pack (deadbeef01, 42 ms)")
      yield* fail("git pull", "fatal: unable to read 'c' at /other/y.pack   (cafebabe77, 7.5 ms)")
      yield* fail("npm ci", "fatal: unable to read 'c' at /other/y.pack (cafebabe77, 7.5 ms)")
      const entries = yield* Effect.promise(() => stored(store))
      assert.deepEqual(
        entries.map(({ category, occurrences, scope: { command, tool } }) => [category, occurrences, tool, command]),
        [
          ["novel", 2, "bash", "^\\s*git(\\s|$)"],
          ["novel", 1, "bash", "^\\s*npm(\\s|$)"]
        ]
      )
      assert.strictEqual(
        scope.warnings[1],
        "novel failure of bash, number 2: fatal: unable to read <quoted> at <path> (<hex>, <n> ms)"
      )
    }))

  // rows: B-08
  it.effect("does not alert again about a failure that repeats soon", () =>
    Effect.gen(function*() {
      const { fail, injected, scope } = session({ entries: [{ ...stale, scope: { tool: "*" } }] })
      for (const wait of [0, 20_000, 20_000, 19_999, 1]) {
        yield* TestClock.adjust(wait)
        yield* fail("build", "archive x is older")
      }
      assert.deepEqual(scope.warnings, [
        "known-fix failure of bash, the first: archive x is older",
        "known-fix failure of bash, number 5 (3 more since the last alert): archive x is older"
      ])
      assert.lengthOf(injected, 2)
    }))

  it.effect("prefers entries of a person to novel entries", () =>
    Effect.gen(function*() {
      const store = ErrorKnowledge.memory()
      yield* session({ store }).fail("npm run package", "archive x is older")
      const next = session({ store, entries: [stale] })
      yield* next.fail("npm run package", "archive x is older")
      assert.match(next.injected[0]!, /Remove dist/)
      const entries = yield* Effect.promise(() => stored(store))
      assert.deepEqual(entries.map(({ id, occurrences }) => [id.replace(/-[0-9a-f]{14}$/, ""), occurrences]), [[
        "stale-archive",
        1
      ], [
        "novel",
        1
      ]])
    }))

  it.effect("drops the oldest novel failures, but no entry of a person", () =>
    Effect.gen(function*() {
      const store = ErrorKnowledge.memory()
      const { fail } = session({ entries: [stale], store, maxEntries: 3 })
      for (const word of ["one", "two", "three", "four"]) {
        yield* TestClock.adjust(1_000)
        yield* fail("build", `no ${word}`)
      }
      const entries = yield* Effect.promise(() => stored(store))
      assert.deepEqual(entries.map(({ signature }) => signature), [stale.signature, "^no three", "^no four"])
    }))

  const hostile = [
    "__proto__",
    "constructor",
    "x".repeat(200_000),
    "((((",
    "\\",
    "$&",
    "\u0000",
    "'".repeat(50_000),
    "/".repeat(50_000),
    "1.".repeat(50_000)
  ]
  it.effect("accepts any error and any arguments", () =>
    Effect.gen(function*() {
      const store = ErrorKnowledge.memory()
      const { post, scope } = session({ store, window: 0 })
      const deep = Array.from({ length: 60 }).reduce<Json>((inner) => ({ inner }), "x")
      for (const error of hostile) {
        for (
          const args of [{ command: error }, { command: [error, error] }, [], null, deep, {
            command: { a: 1 }
          }] as ReadonlyArray<Json>
        ) {
          yield* post(args, Tool.failure(error), error.slice(0, 20))
          yield* post(args, Tool.failure(error), error.slice(0, 20))
        }
      }
      assert.deepEqual(scope.failures, [])
      const entries = yield* Effect.promise(() => stored(store))
      assert.isAbove(entries.length, 8)
      assert.isTrue(entries.every(({ occurrences }) => occurrences >= 2))
      assert.isBelow(JSON.stringify(scope.state.snapshot()).length, 30_000)
    }))

  it.effect.prop(
    "recognizes every error that it has added",
    [Schema.String],
    ([error]) =>
      Effect.gen(function*() {
        const store = ErrorKnowledge.memory()
        const { fail } = session({ store })
        yield* fail("build", `failed: ${error}`)
        yield* fail("build", `failed: ${error}`)
        const entries = yield* Effect.promise(() => stored(store))
        assert.deepEqual(entries.map(({ occurrences }) => occurrences), [2])
      })
  )

  it.effect("adds no entries if the option is false, nor for calls that were not executed", () =>
    Effect.gen(function*() {
      const store = ErrorKnowledge.memory()
      const { fail, scope } = session({ record: false, store })
      yield* fail("build", "no")
      assert.deepEqual([yield* Effect.promise(() => stored(store)), scope.warnings], [[], []])
    }))

  it("rejects invalid patterns", () => {
    assert.throws(
      () => ErrorKnowledge.make({ entries: [{ ...stale, signature: "(?=x)" }] }),
      ConfigError,
      /error-knowledge\.entries\[0\]\.signature/
    )
    assert.throws(
      () => ErrorKnowledge.make({ entries: [{ ...stale, scope: { tool: "*", command: "(" } }] }),
      ConfigError,
      /scope\.command/
    )
    assert.throws(() => ErrorKnowledge.make({ maxEntries: 0 }), ConfigError, /maxEntries/)
  })
})

describe("ErrorKnowledge in a file", () => {
  const folder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
    const made = await mkdtemp(join(tmpdir(), "belay-knowledge-"))
    const used = await use(made)
    await rm(made, { recursive: true })
    return used
  }
  const bash = (answers: ReadonlyArray<string>) => {
    let n = 0
    return defineTool({
      name: "bash",
      description: "Runs a command",
      input: Schema.Struct({ command: Schema.String }),
      execute: () => {
        const answer = answers[n++] ?? "ok"
        if (answer === "ok") return answer
        throw new Error(answer)
      }
    })
  }
  const build = () => Scripted.toolCalls({ name: "bash", args: { command: "npm run package" } })
  const run = async (path: string, answers: ReadonlyArray<string>, options: ErrorKnowledge.Options = {}) => {
    const provider = Scripted.make([...Array.from({ length: answers.length }, () => build), "done"])
    const hook = ErrorKnowledge.make({ store: ErrorKnowledge.file(path), ...options })
    const events: Array<AgentEvent> = []
    await using agent = createAgent({ provider, tools: [bash(answers)], hooks: [hook] })
    agent.on((event) => void events.push(event))
    const ended = await agent.run("go").catch((error: unknown) => error as Error)
    return { ended, events, provider }
  }

  it("reads the counts and resolutions of an earlier process", () =>
    folder(async (at) => {
      const path = join(at, "deep", "knowledge.json")
      const first = await run(path, ["archive x is older", "ok"], { entries: [stale] })
      assert.deepInclude(first.ended, { status: "completed" })
      assert.include(JSON.stringify(first.provider.requests[1]?.messages), "Remove dist/.")
      const told = first.events.flatMap((event) => event.type === "custom" ? [[event.name, event.payload]] : [])
      assert.deepEqual(told, [["error-knowledge", {
        id: "stale-archive",
        category: "known-fix",
        tool: "bash",
        occurrences: 1
      }]])
      const second = await run(path, ["ok"])
      assert.include(JSON.stringify(second.provider.requests[1]?.messages), "(helped in 100 % of 1 attempt)")
      assert.deepEqual(await readdir(join(at, "deep")), ["knowledge.json"])
      assert.strictEqual((await stat(path)).mode & 0o777, 0o600)
    }))

  for (
    const [what, text] of Object.entries({
      "no JSON": "{ not json",
      "of another shape": "[{}]",
      "with a bad pattern": "bad"
    })
  ) {
    it(`never overwrites a file that is ${what}, and reports the problem`, () =>
      folder(async (at) => {
        const path = join(at, "knowledge.json")
        const bad = {
          ...stale,
          category: "known-fix",
          successRate: 0,
          attempts: 0,
          occurrences: 0,
          lastMatchedAt: 0,
          signature: "("
        }
        const content = text === "bad" ? JSON.stringify([bad]) : text
        await writeFile(path, content)
        const { ended, events } = await run(path, ["archive x is older"])
        assert.deepInclude(ended, { status: "completed" })
        const failures = events.flatMap((event) => event.type === "hook-failed" ? [event.message] : [])
        assert.lengthOf(failures, 1)
        assert.match(
          failures[0]!,
          text === "bad" ? /stale-archive\.signature/ : /knowledge\.json is broken, and stays as it is/
        )
        assert.strictEqual(await readFile(path, "utf8"), content)
        const strict = await run(path, [], { failOpen: false })
        assert.match((strict.ended as Error).message, /failed at onSessionStart/)
      }))
  }

  it("does not overwrite a file that became broken after it was read", () =>
    folder(async (at) => {
      const path = join(at, "knowledge.json")
      const store = ErrorKnowledge.file(path)
      const saved = async (entries: ReadonlyArray<ErrorKnowledge.Entry>) =>
        Effect.runPromise(store.save(entries) as Effect.Effect<void, Error>)
      await saved([])
      await writeFile(path, "broken")
      assert.match(String(await saved([]).catch((error: unknown) => error)), /stays as it is/)
      assert.strictEqual(await readFile(path, "utf8"), "broken")
    }))
})
