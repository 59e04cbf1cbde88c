/** Attachments of a message: names, URLs and data. */
import * as HookChain from "@belay/core/HookChain"
import * as Redaction from "@belay/hooks/Redaction"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const mail = "ada@example.com"

describe("Redaction of attachments", () => {
  it.effect("searches names, URLs, and text data", () =>
    Effect.gen(function*() {
      const data = (text: string) => `data:text/plain;base64,${Buffer.from(text).toString("base64")}`
      const attachments = [
        { type: "file" as const, mediaType: "text/plain", url: data(`to ${mail}`), filename: `${mail}.txt` },
        { type: "file" as const, mediaType: "text/plain", url: "data:text/plain,to%20ada%40example.com%20é%" },
        { type: "file" as const, mediaType: "image/png", url: "data:image/png;base64,QUJD" },
        { type: "file" as const, mediaType: "image/png", url: `https://example.com/?of=${mail}` }
      ]
      const chain = HookChain.makeUnsafe([Redaction.make({ strategy: "redact" })])
      const { event } = yield* chain.run("preTurn", { message: "look", attachments }, TestScope.make())
      assert.deepEqual<unknown>(event.attachments, [
        { type: "file", mediaType: "text/plain", url: data("to [EMAIL]"), filename: "[EMAIL]" },
        { type: "file", mediaType: "text/plain", url: `data:text/plain,${encodeURIComponent("to [EMAIL] é%")}` },
        attachments[2],
        { type: "file", mediaType: "image/png", url: "https://example.com/?of=[EMAIL]" }
      ])
    }))

  it.effect("leaves data that is not text as it is, and what else belongs to the message", () =>
    Effect.gen(function*() {
      const bytes = `data:image/png;base64,${Buffer.from(mail).toString("base64")}`
      const attachments = [
        { type: "file" as const, mediaType: "image/png", url: bytes },
        { type: "file" as const, mediaType: "text/plain", url: "https://example.com/a", filename: mail }
      ]
      const metadata = { from: "the terminal" }
      const chain = HookChain.makeUnsafe([Redaction.make({ strategy: "redact" })])
      const { event } = yield* chain.run("preTurn", { message: mail, attachments, metadata }, TestScope.make())
      assert.deepEqual<unknown>(event, {
        message: "[EMAIL]",
        attachments: [attachments[0], { ...attachments[1], filename: "[EMAIL]" }],
        metadata
      })
      const alone = yield* chain.run("preTurn", { message: mail, metadata }, TestScope.make())
      assert.deepEqual<unknown>(alone.event, { message: "[EMAIL]", metadata })
    }))
})
