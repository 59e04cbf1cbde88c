/** Random turns of a session, on a big sample. */
import { describe, it } from "vitest"
import { checkGates, checkTranscripts } from "./randomTurns.ts"

describe("the transcript", () => {
  it("is valid after every ending of 900 random turns with failures, decisions of hooks, cancellations and limits", () =>
    checkTranscripts(300))
})

describe("approve what you run", () => {
  it(
    "a tool runs only with arguments that every gate has seen, for 2,000 random chains",
    () => checkGates(2_000)
  )
})
