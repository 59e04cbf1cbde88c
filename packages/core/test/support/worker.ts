/**
 * A process that runs an agent and is killed, or continues the run of another process. Its arguments are the task and a
 * folder.
 */
import * as Effect from "effect/Effect"
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { argv, stdout } from "node:process"
import { createAgent } from "../../src/agent/createAgent.ts"
import * as RunState from "../../src/data/RunState.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import type { SessionStore } from "../../src/port/SessionStore.ts"
import { line, recording } from "./agent.ts"
import { asks, scripted } from "./model.ts"

const [deed = "", folder = ""] = argv.slice(2)
const snapshot = join(folder, "snapshot.json")
const note = (what: string) => appendFileSync(join(folder, "log.txt"), `${what}\n`)
const say = (what: string) => void stdout.write(`${what}\n`)
const hang = () => new Promise<never>(() => void setInterval(() => {}, 1_000))

const look = recording("look", () => {
  note("look")
  return "saw"
}).tool
const deploy = recording("deploy", ({ to }) => {
  note(`deploy ${JSON.stringify(to)}`)
  return "deployed"
}).tool

/** The crash is ripe when one tool is done and saved, and two run. */
let ripe = 0
let saved = false
const ripen = () => ++ripe === 3 ? say("hanging") : undefined
const first = deed === "suspend" || deed === "crash"
/** The first process hangs in these, the second does not. */
const pay = recording("pay", async (_, { idempotencyKey }) => {
  note(`pay ${idempotencyKey}`)
  ripen()
  return first ? hang() : "paid"
}).tool
const sync = recording("sync", async (_, { idempotencyKey }) => {
  note(`sync ${idempotencyKey}`)
  ripen()
  return first ? hang() : "synced"
}, { idempotent: true }).tool

const store: SessionStore = {
  commit: ({ snapshot: whole, state }) =>
    Effect.promise(async () => {
      writeFileSync(`${snapshot}.new`, RunState.encode(whole()))
      renameSync(`${snapshot}.new`, snapshot)
      if (!saved && state.calls.some(({ status }) => status === "done")) {
        saved = true
        ripen()
      }
    }),
  load: () => Effect.sync(() => existsSync(snapshot) ? JSON.parse(readFileSync(snapshot, "utf8")) : undefined)
}

if (deed === "suspend") {
  const model = scripted([asks(["look", {}, "l"], ["deploy", { to: "prod" }, "d"])])
  const agent = createAgent({
    provider: model.provider,
    tools: [look, deploy],
    hooks: [{ name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("really?") }]
  })
  const result = await agent.run("go")
  if (result.status === "suspended") writeFileSync(snapshot, JSON.stringify(result.snapshot))
  say("hanging")
  await hang()
}
if (deed === "resume") {
  await using agent = createAgent({
    provider: scripted(["done"]).provider,
    tools: [look, deploy],
    hooks: [{ name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("really?") }]
  })
  const result = await agent.resume(readFileSync(snapshot, "utf8"), { d: { type: "approve" } })
  say(`${result.status}: ${line(result.messages)}`)
}
if (deed === "crash") {
  const model = scripted([asks(["look", {}, "l"], ["pay", {}, "p"], ["sync", {}, "s"])])
  const agent = createAgent({ provider: model.provider, tools: [look, pay, sync], store })
  await agent.run("go")
}
if (deed === "recover") {
  await using agent = createAgent({ provider: scripted(["done"]).provider, tools: [look, pay, sync], store })
  const result = await agent.resume(await Effect.runPromise(store.load("")))
  say(`${result.status}: ${line(result.messages)}`)
}
