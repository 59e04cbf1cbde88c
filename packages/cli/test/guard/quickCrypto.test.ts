import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as crypto from "node:crypto"
import { hash, randomUUID } from "../../src/internal/guard/run/quick/quickCrypto.ts"

it.effect.prop("the hash of the command is that of Node, for any text", [Schema.String], ([text]) =>
  Effect.sync(() => {
    for (const one of [text, text.repeat(7), `${text}${"x".repeat(64)}`]) {
      assert.strictEqual(hash("sha256", one), crypto.hash("sha256", one))
    }
  }))

it("the hash of the command is that of Node, around the ends of blocks and for long texts", () => {
  for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 16_384, 16_385, 100_000]) {
    const bytes = Buffer.alloc(length, "a")
    assert.strictEqual(hash("sha256", bytes), crypto.hash("sha256", bytes))
  }
  assert.strictEqual(hash("sha512", "a"), crypto.hash("sha512", "a"))
  assert.match(randomUUID(), /^[0-9a-f-]{36}$/)
})
