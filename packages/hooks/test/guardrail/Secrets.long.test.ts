/** The same streams as in the quick set, in pieces of more sizes. */
import { describe, it } from "@effect/vitest"
import { staySecret } from "../support/secrets.ts"

describe("Secrets", () => {
  it.effect("shows nothing of a secret in a stream of pieces of any size", () => staySecret([1, 4, 33, 300]))
})
