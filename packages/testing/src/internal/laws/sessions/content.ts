/** Laws about the content of sessions: copies, texts, keys, sizes and ids. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { commitOf, state, talk, texts } from "../fixtures.ts"
import { holds, same } from "../law.ts"
import { law, type SessionLaw } from "./face.ts"

export const contentLaws: ReadonlyArray<SessionLaw> = [
  law("committed and loaded values are copies", async ({ commit, load }) => {
    const message = { role: "user" as const, content: [{ type: "text" as const, text: "original" }] }
    const whole = state({ messages: [message], hookState: { list: ["original"] } })
    const expected = structuredClone(whole)
    await commit(commitOf(whole))
    message.content[0]!.text = "changed"
    // Written above.
    const list = whole.hookState["list"] as Array<string>
    list[0] = "changed"
    same(await load("session-1"), expected, "load after the given state was changed")
    const loaded = await load("session-1") as
      | { messages: Array<unknown>; hookState: Record<string, unknown> }
      | undefined
    loaded?.messages.push("changed")
    if (loaded !== undefined) loaded.hookState["more"] = 1
    same(await load("session-1"), expected, "load after the loaded state was changed")
  }),
  law("texts are returned unchanged", async ({ commit, load }) => {
    const whole = state({
      messages: texts.map((content) => ({ role: "user", content })),
      hookState: { texts: [...texts] }
    })
    await commit(commitOf(whole))
    const found = await load("session-1")
    for (const [index, text] of texts.entries()) {
      holds(found?.messages[index]?.content === text, `text ${index} came back changed`)
    }
    same(found?.hookState, whole.hookState, "texts in the state")
  }),
  law("keys with the names of object members are only keys", async ({ commit, load }) => {
    const args = JSON.parse("{\"constructor\":1,\"toString\":{\"hasOwnProperty\":2},\"valueOf\":null}") as Record<
      string,
      never
    >
    const call = { id: "c1", name: "constructor", args }
    const whole = state({
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: "", toolCalls: [call] },
        { role: "tool", toolCallId: "c1", toolName: "constructor", content: args }
      ],
      hookState: args
    })
    await commit(commitOf(whole))
    same(await load("session-1"), whole, "load")
    const polluting = state({
      revision: 2,
      messages: whole.messages,
      hookState: JSON.parse("{\"__proto__\":{\"polluted\":true}}") as never
    })
    await commit(commitOf(polluting, 3))
    await load("session-1")
    // Shows whether a prototype was changed.
    holds(({} as { readonly polluted?: unknown }).polluted === undefined, "no prototype was touched")
  }),
  law("a session can be large", async ({ commit, load }) => {
    const long = "0123456789abcdef".repeat(2 ** 17)
    const whole = state({ messages: [{ role: "user", content: long }, ...talk(5000)] })
    await commit(commitOf(whole))
    const found = await load("session-1")
    holds(found?.messages[0]?.content === long, "a message of 2 MiB came back changed")
    same(found?.messages.length, 5001, "messages")
  }),
  law("large files of an input come back, wherever the conversation has them", async ({ commit, load }) => {
    const file = (letter: string) => ({ type: "file" as const, mediaType: "image/png", url: letter.repeat(100_000) })
    const attachments = [file("a"), { ...file("b"), filename: "b.png" }]
    const input = { message: "look", attachments, key: "k" }
    const content = [{ type: "text" as const, text: "look" }, ...attachments]
    const asked = [...talk(4), { role: "user" as const, content, key: "k" }]
    for (const [index, messages] of [talk(1), asked, [...asked, ...talk(2, 4)], asked.slice(3), talk(2)].entries()) {
      const whole = state({ revision: index + 1, input, messages })
      await commit(commitOf(whole, index === 2 ? asked.length : 0))
      same(await load("session-1"), whole, `load after commit ${index + 1}`)
    }
  }),
  law("adding to a long conversation costs as much as adding to a short one", async ({ commit, load }) => {
    const quickest = async (sessionId: string, length: number) => {
      const messages = [...talk(length)]
      await commit(commitOf(state({ sessionId, messages })))
      let best = Infinity
      for (let revision = 2; revision < 32; revision++) {
        messages.push({ role: "user", content: "one more" })
        const step = commitOf(state({ sessionId, revision, messages }), messages.length - 1)
        const began = performance.now()
        await commit(step)
        best = Math.min(best, performance.now() - began)
      }
      same((await load(sessionId))?.messages.length, length + 30, "messages")
      return best
    }
    const short = await quickest("short", 10)
    const long = await quickest("long", 100_000)
    holds(
      long < Math.max(short, 0.2) * 20,
      `one more message took ${long.toFixed(2)} ms after 100,000, ${short.toFixed(2)} ms after 10`
    )
  }, "append-cost"),
  law("an invalid id is refused or is only an id", async ({ commit, load, store }) => {
    const mine = state({ sessionId: "s", messages: talk(1) })
    await commit(commitOf(mine))
    await commit(commitOf(state({ sessionId: "S", messages: talk(1, 50) })))
    const hostile = [
      "__proto__",
      "constructor",
      "../s",
      "s/../s",
      "s/",
      "./s",
      "s\u0000",
      "%",
      "_",
      "*",
      "",
      " s",
      "s' OR '1'='1",
      "s\n",
      "\uFF53",
      "s.json",
      "x".repeat(5000)
    ]
    for (const id of hostile) {
      const name = JSON.stringify(id.slice(0, 40))
      const theirs = state({ sessionId: id, messages: talk(1, 99) })
      const exit = await Effect.runPromiseExit(store.commit(commitOf(theirs)))
      const found = await Effect.runPromiseExit(store.load(id))
      if (Exit.isSuccess(exit)) same(Exit.isSuccess(found) ? found.value : found, theirs, `load of ${name}`)
      else holds(Exit.isFailure(found) || found.value === undefined, `${name} was refused, and is there`)
      same(await load("s"), mine, `the session s, after ${name}`)
    }
    same((await load("S"))?.messages, talk(1, 50), "the session S")
  })
]
