/**
 * The SQLite store against the one in memory, and session files against states: whatever is done, they hold the same.
 */
import type { Message } from "@belay/core/Message"
import * as RunState from "@belay/core/RunState"
import * as SessionStore from "@belay/core/SessionStore"
import * as SessionFile from "@belay/providers/SessionFile"
import * as SqliteStore from "@belay/providers/SqliteStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"

const ids = ["a", "b", "A"] as const
const Id = Schema.Literals(ids)
const Key = Schema.Literals(["k", "l", "__proto__"])

const Act = Schema.Union([
  Schema.Struct({
    act: Schema.Literal("commit"),
    id: Id,
    /** How far from the revision that would be right. */
    off: Schema.Literals([0, 0, 0, 1, -1]),
    /** How many messages at the end are replaced. */
    drop: Schema.Literals([0, 0, 1, 2, 100]),
    texts: Schema.Array(Schema.String)
  }),
  Schema.Struct({ act: Schema.Literal("fork"), id: Id, to: Id }),
  Schema.Struct({ act: Schema.Literal("remove"), id: Id }),
  Schema.Struct({ act: Schema.Literals(["write", "append"]), id: Id, key: Key, text: Schema.String }),
  Schema.Struct({ act: Schema.Literal("copy"), id: Id, to: Id }),
  Schema.Struct({ act: Schema.Literal("drop"), id: Id, key: Key })
])

const blank = (sessionId: string): RunState.RunState => ({
  version: RunState.version,
  sessionId,
  revision: 0,
  turnNumber: 1,
  stepNumber: 1,
  coreType: "tool-loop",
  input: { message: "go" },
  phase: "ended",
  messages: [],
  calls: [],
  injections: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  counts: { llmCalls: 0, toolCalls: 0, followUps: 0, elapsedMs: 0 },
  hookState: {}
})

/** Does something to a store; what came of it, as far as stores may not differ in it. */
const does = Effect.fnUntraced(function*(store: Required<SessionStore.SessionStore>, one: typeof Act.Type) {
  if (one.act === "commit") {
    const before = (yield* store.load(one.id)) ?? blank(one.id)
    const from = Math.max(0, before.messages.length - one.drop)
    const messages = one.texts.map((content): Message => ({ role: "user", content }))
    const revision = before.revision + 1 + one.off
    const whole = {
      ...before,
      revision,
      messages: [...before.messages.slice(0, from), ...messages],
      hookState: { texts: one.texts }
    }
    const { messages: _messages, ...state } = whole
    return yield* store.commit({
      sessionId: one.id,
      revision,
      from,
      messages,
      state,
      records: one.texts,
      snapshot: () => whole
    })
  }
  if (one.act === "fork") return yield* store.fork(one.id, one.to)
  if (one.act === "remove") return yield* store.remove(one.id)
  if (one.act === "copy") return yield* store.artifacts.copy(one.id, one.to)
  if (one.act === "drop") return yield* store.artifacts.remove(one.id, one.key)
  const { size } = yield* store.artifacts[one.act](one.id, one.key, one.text, { by: "test" })
  return size
})

/** All that a store holds, but for the times. */
const contents = Effect.fnUntraced(function*(store: Required<SessionStore.SessionStore>) {
  const list = yield* store.list()
  const sessions: Array<unknown> = []
  for (const id of ids) {
    const artifacts = yield* store.artifacts.list(id)
    const texts: Array<unknown> = []
    for (const { key, size } of artifacts) texts.push([key, size, yield* store.artifacts.read(id, key)])
    sessions.push({ id, state: yield* store.load(id), records: yield* store.records(id), texts })
  }
  return {
    sessions,
    list: list.map(({ createdAt: _createdAt, updatedAt: _updatedAt, ...rest }) => rest).toSorted((a, b) =>
      a.id < b.id ? -1 : 1
    )
  }
})

describe("a SQLite store", () => {
  it.effect.prop(
    "has the same content as the store in memory after any operations",
    [Schema.Array(Act)],
    ([acts]) =>
      Effect.gen(function*() {
        using sqlite = SqliteStore.make({ path: ":memory:" })
        const memory = SessionStore.inMemory()
        for (const one of acts) {
          const [expected, found] = [
            yield* Effect.exit(does(memory, one)),
            yield* Effect.exit(does(sqlite.sessions, one))
          ]
          assert.deepStrictEqual(
            Exit.isSuccess(found) ? ["done", found.value] : ["failed"],
            Exit.isSuccess(expected) ? ["done", expected.value] : ["failed"],
            JSON.stringify(one)
          )
        }
        assert.deepStrictEqual(yield* contents(sqlite.sessions), yield* contents(memory))
        return true
      }),
    { arbitrary: { runs: 200 } }
  )
})

describe("a session file", () => {
  it.effect.prop(
    "is read back unchanged for every state",
    [RunState.RunState, Schema.Array(Schema.Json)],
    ([state, records]) =>
      Effect.gen(function*() {
        // A conversation of users is one, whatever they say; what a call delegated to is a state of its own.
        const whole = {
          ...state,
          messages: state.messages.filter(({ role }) => role === "user"),
          calls: state.calls.map(({ child: _child, ...call }) => call)
        }
        const text = SessionFile.exportJsonl(whole, records)
        if (!text.trimEnd().split("\n").every((line) => JSON.stringify(JSON.parse(line)) === line)) return true
        const imported = yield* SessionFile.importJsonl(text)
        assert.isUndefined(imported.torn)
        assert.deepStrictEqual(imported.state, yield* RunState.decode(RunState.encode(whole)))
        assert.deepStrictEqual(imported.records, JSON.parse(JSON.stringify(records)))
        return true
      }),
    { arbitrary: { runs: 100 } }
  )
})
