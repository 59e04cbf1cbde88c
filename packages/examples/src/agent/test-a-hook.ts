/** A hook is tried without an agent, as part of a chain, against the laws of hooks, and in an agent that is watched. */
import { createAgent, defineHook, HookAction, OpenAiCompatible, ToolArguments } from "@belay/sdk"
import { dryRun, HookLaws, recordingHook, testHook } from "@belay/testing"

const guard = defineHook({
  name: "no-production",
  kind: "policy",
  tools: "deploy",
  reinvoke: "ifChanged",
  preToolCall: ({ args }) =>
    JSON.stringify(args).includes("production") ? HookAction.reject("not to production") : undefined
})

const { verdicts } = await testHook(guard)
  .given("preToolCall", { name: "deploy", args: { to: "production" } }).expect("Reject", /production/)
  .given("preToolCall", { name: "deploy", args: { to: "staging" } }).expectContinue()
console.log(verdicts.map(({ answer }) => answer).join(", "))

const toProduction = ToolArguments.make({ tools: "deploy", rewrite: () => ({ to: "production" }) })
const { answer, by } = await dryRun([guard, toProduction], "preToolCall", { name: "deploy", args: { to: "staging" } })
console.log(`${answer} by ${by}`)

const laws = HookLaws.cases(() => guard, { deterministic: true, perSession: true })
for (const { run } of laws) await run()
console.log(`${laws.length} laws hold`)

const recorder = recordingHook({ points: ["preTurn", "postLlmCall", "postTurn"] })
const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), hooks: [guard, recorder] })
await agent.run("Say hello")
console.log(recorder.points().join(" "))
await agent.close()
