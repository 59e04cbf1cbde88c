import { testHook } from "@belay/testing"
import assert from "node:assert/strict"
import { test } from "node:test"
import agent, { rollDice } from "./agent.ts"
import { politeness } from "./politeness.ts"

test("the hook refuses what is not polite", async () => {
  await testHook(politeness)
    .given("preTurn", { message: "you idiot" }).expect("Reject", /polite/)
    .given("preTurn", { message: "good morning" }).expectContinue()
})

test("the agent has its tool and its hooks", () => {
  assert.deepEqual(agent.tools, [rollDice])
  assert.equal(agent.hooks.length, 2)
})
