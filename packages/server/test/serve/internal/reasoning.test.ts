/** What clients get of the thoughts of a model. */
import * as AgUi from "@belay/server/AgUi"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import type * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { chatBody, request, uiBody } from "../support/requests.ts"
import { served, talker } from "../support/served.ts"

/** A model that thinks in two pieces before it answers, if it is asked to. */
const thinker = (thoughts: ReadonlyArray<string>) => {
  const plain = talker()
  return {
    ...plain,
    stream: (...[asked, sink]: Parameters<NonNullable<typeof plain.stream>>) =>
      Effect.gen(function*() {
        for (const text of thoughts) yield* Effect.promise(async () => sink({ type: "reasoning", text }))
        return yield* plain.stream!(asked, sink)
      })
  }
}

const answered = async (
  handlerOf: (serve: Serve.Serve) => Serve.Handler,
  path: string,
  body: object,
  thoughts: ReadonlyArray<string> = ["let me ", "think"]
): Promise<string> => {
  await using server = await served(handlerOf, {}, { provider: thinker(thoughts) })
  return await (await handlerOf(server.serve)(request(path, body))).text()
}

const events = (text: string) =>
  text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)))

describe("the thoughts of a model", () => {
  it("are beside the answer of chat completions, and nothing is if it has none", async () => {
    const whole = JSON.parse(await answered(OpenAiChat.handler, "/v1/chat/completions", chatBody("hello")))
    assert.deepStrictEqual(whole.choices[0].message, {
      role: "assistant",
      content: "You said: hello (1)",
      refusal: null,
      reasoning_content: "let me think"
    })
    const none = JSON.parse(await answered(OpenAiChat.handler, "/v1/chat/completions", chatBody("hello"), []))
    assert.notProperty(none.choices[0].message, "reasoning_content")
    const body = { ...chatBody("hello"), stream: true }
    const chunks = events(await answered(OpenAiChat.handler, "/v1/chat/completions", body))
    const thoughts = chunks.flatMap(({ choices }) => choices[0]?.delta.reasoning_content ?? [])
    assert.strictEqual(thoughts.join(""), "let me think")
    assert.notInclude(chunks.flatMap(({ choices }) => choices[0]?.delta.content ?? []).join(""), "think")
  })

  it("are parts of their own in the other protocols", async () => {
    const kinds = async (handlerOf: (serve: Serve.Serve) => Serve.Handler, path: string, body: object) =>
      events(await answered(handlerOf, path, body)).filter((event) => JSON.stringify(event).includes("think"))
        .map(({ type }) => type)
    assert.include(await kinds(UiStream.handler, "/api/chat", uiBody("c1", "hello")), "reasoning-delta")
    const run = { threadId: "t1", runId: "r1", messages: [{ id: "m", role: "user", content: "hello" }] }
    assert.include((await kinds(AgUi.handler, "/ag-ui", run)).join(), "REASONING_MESSAGE_CONTENT")
    const told = await kinds(OpenAiResponses.handler, "/v1/responses", { input: "hello", stream: true })
    assert.match(told.join(), /reasoning/)
  })
})
