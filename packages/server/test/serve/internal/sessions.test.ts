/** What the page of sessions asks of the host, and what it answers. */
import { assert, describe, it } from "vitest"
import { answerSessions } from "../../../src/serve/internal/sessions.ts"

/** A host that notes its calls and answers what a test wants. */
const noting = (answers: { readonly [method: string]: unknown } = {}) => {
  const calls: Array<string> = []
  const host = new Proxy({}, {
    get: (_, name: string) => async (...args: ReadonlyArray<unknown>) => {
      calls.push(`${name} ${args.map((arg) => JSON.stringify(arg) ?? "nothing").join(" ")}`)
      return answers[name]
    }
  })
  const ask = async (path: string, method = "GET", body?: unknown, principal = "ops") => {
    const answer = answerSessions({ host } as never, "/api/s", async (given) => given === "ops")
    const call = {
      body: async () => body,
      principal,
      request: { method },
      url: new URL(`http://h${path}`)
    }
    return answer(call as never).then(
      (response) => response.json() as Promise<unknown>,
      (error: unknown) => `${Object(error).kind ?? Object(error).code}: ${Object(error).message}`
    )
  }
  return { ask, calls }
}

const post = async (body: unknown, answers: { readonly [method: string]: unknown } = {}) => {
  const { ask, calls } = noting(answers)
  return [await ask("/api/s/a", "POST", body), ...calls]
}

describe("the handler of the page of sessions", () => {
  it("reads the overview and one session, wherever it is", async () => {
    const { ask, calls } = noting({ overview: [], conversation: undefined })
    for (const path of ["/api/s", "/api/s/", "/", ""]) assert.deepEqual(await ask(path), { sessions: [] })
    for (const state of ["dead", "stuck", "busy", "waiting"]) await ask(`/api/s?state=${state}`)
    assert.deepEqual(calls.splice(0), [
      "overview {}",
      "overview {}",
      "overview {}",
      "overview {}",
      ...["dead", "stuck", "busy", "waiting"].map((state) => `overview {"state":"${state}"}`)
    ])
    assert.include(await ask("/api/s?state="), "state: expected one of dead, stuck, busy, waiting")
    assert.include(await ask("/api/s/a"), "there is no session a")
    assert.include(await ask("/a"), "there is no session a")
    assert.deepEqual(calls.splice(0), ["conversation \"a\"", "conversation \"a\""])
    assert.include(await ask("/api/s/a/b"), "there is nothing at this path")
    assert.include(await ask("/api/s", "POST", {}), "there are GET, and POST for one session")
    assert.include(await ask("/api/s/a", "PUT", {}), "there are GET, and POST for one session")
    for (const method of ["GET", "POST", "PUT"]) {
      assert.include(await ask("/api/s/a", method, {}, "eve"), "only operators may see the sessions of everybody")
    }
    assert.deepEqual(calls, [])
  })

  it("shows the texts of messages up to a length, and their calls", async () => {
    const messages = [
      { role: "user", content: "x".repeat(20_001), key: "k" },
      { role: "user", content: [{ type: "image" }] },
      { role: "assistant", content: "", toolCalls: [{ id: "c", name: "t", args: { a: 1 }, more: 1 }] }
    ]
    const { ask } = noting({ conversation: { messages, turnNumber: 1, open: [] } })
    assert.deepEqual(await ask("/api/s/a"), {
      messages: [
        { role: "user", text: "x".repeat(20_000) },
        { role: "user", text: "[{\"type\":\"image\"}]" },
        { role: "assistant", text: "", calls: [{ name: "t", args: { a: 1 } }] }
      ],
      turnNumber: 1,
      open: []
    })
  })

  it("does what a person wants, when it is confirmed where nobody can undo it", async () => {
    const [key, confirmed, done] = ["k", true, { done: true }]
    assert.deepEqual(await post({ act: "retry", key }, { retry: true }), [done, "retry \"a\" \"k\""])
    assert.deepEqual(await post({ act: "drop", key, confirmed }, { drop: true }), [done, "drop \"a\" \"k\""])
    assert.deepEqual(await post({ act: "cancel", key, confirmed }, { cancel: { key: "cancel k", type: "added" } }), [
      { done: true, key: "cancel k" },
      "cancel \"a\" \"k\""
    ])
    assert.deepEqual(await post({ act: "release" }), [done, "move \"a\" nothing"])
    assert.deepEqual(await post({ act: "move", release: "v2" }), [done, "move \"a\" \"v2\""])
    assert.deepEqual(await post({ act: "erase", confirmed }, { erase: { at: 7 } }), [
      { done: true, receipt: { at: 7 } },
      "erase {\"session\":\"a\"}"
    ])
  })

  it.each<readonly [body: unknown, wrong: string]>([
    [{ act: "explode" }, "act: expected one of retry, drop, cancel, release, move, erase"],
    [{ act: "toString" }, "act: expected one of"],
    [{ act: 1 }, "act: expected one of"],
    [null, "act: expected one of"],
    [{ act: "retry", key: "" }, "key: expected a text"],
    [{ act: "retry", key: null }, "key: expected a text"],
    [{ act: "retry" }, "key: retry needs the key of a message"],
    [{ act: "drop", confirmed: true }, "key: drop needs the key of a message"],
    [{ act: "cancel", confirmed: true }, "key: cancel needs the key of a message"],
    [{ act: "move" }, "release: move needs the name of a release"],
    [{ act: "move", release: "" }, "release: expected a text"],
    [{ act: "move", release: 2 }, "release: expected a text"],
    [{ act: "drop", key: "k" }, "nobody can undo drop: send `confirmed: true` to do it"],
    [{ act: "cancel", key: "k", confirmed: "true" }, "nobody can undo cancel: "],
    [{ act: "erase", confirmed: 1 }, "nobody can undo erase: "]
  ])("does nothing for %j: %s", async (body, wrong) => {
    const [answer, ...calls] = await post(body, { retry: true, drop: true })
    assert.include(answer, wrong)
    assert.deepEqual(calls, [])
  })

  it("says that there is no dead message", async () => {
    const missing = "session a has no dead message k"
    assert.include((await post({ act: "retry", key: "k" }, { retry: false }))[0], missing)
    assert.include((await post({ act: "drop", key: "k", confirmed: true }, { drop: false }))[0], missing)
  })
})
