/** Memory after many turns. The scoreboard runs more of them. */
import { describe, it } from "@effect/vitest"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { soak } from "../../support/soak.ts"

describe("an agent that runs for long", () => {
  it("leaves nothing behind after a turn with a question, a tool and an error", () =>
    soak(4_000, [{ name: "gate", tools: "act", preToolCall: () => HookAction.ask("?") }]))
})
