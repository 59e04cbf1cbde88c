/** Sends messages to sessions whose processes are killed at given moments, and checks what became of them. */
import type { Message } from "@belay/core/Message"
import { text, whyInvalid } from "@belay/core/Message"
import * as Host from "@belay/host/Host"
import { random } from "@belay/testing/SeededRandom"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"
import { pollMs } from "./hosted.ts"
import { openStore } from "./openStore.ts"

const worker = fileURLToPath(new URL("./worker.ts", import.meta.url))

/** When a process kills itself: at the moment with this number, or before it reports an outcome. 0 is never. */
export type Kill = number | "report"

const start = (where: string, log: string, dieAt: Kill) => {
  const child = spawn(process.execPath, ["--conditions=@belay/source", worker, where, log, String(dieAt)], {
    stdio: ["ignore", "ignore", "pipe"],
    env: process.env
  })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (words: string) => errors += words)
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>
  return { child, ended, errors: () => errors }
}

interface Sent {
  readonly sessionId: string
  readonly key: string
  readonly message: string
  readonly mode: "queue" | "steer"
}

export interface Storm {
  readonly where: string
  /** The file in which tools note what they do. */
  readonly log: string
  readonly seed: number
  readonly sessions: number
  readonly messages: number
  /** When each of the processes kills itself. */
  readonly kills: ReadonlyArray<Kill>
}

/** Sends everything, lets processes run and die, and lets the last one finish. Returns how many were killed. */
export const killStorm = async (storm: Storm): Promise<number> => {
  const { kills, log, where } = storm
  const store = openStore(where)
  const host = Host.make({ agent: { session: () => Promise.reject(new Error("it only sends")) }, store, pollMs })
  const sent = plan(storm)
  for (const { key, message, mode, sessionId } of sent) await host.send(sessionId, message, { key, mode })
  const finished = new Map<string, number>()
  let killed = 0
  let isDone = false
  for (const dieAt of [...kills, 0]) {
    const { child, ended, errors } = start(where, log, dieAt)
    let isDead = false
    void ended.then(() => isDead = true)
    while (!isDead && !isDone) {
      isDone = await decideAll(host, sent)
      await Effect.runPromise(Effect.sleep(pollMs))
    }
    if (isDead) killed++
    else child.kill("SIGKILL")
    const [, signal] = await ended
    assert.strictEqual(signal, "SIGKILL", errors())
    assert.strictEqual(errors(), "")
    if (isDone) break
    for (const [id, begins] of await finishedCalls(storm, store, log)) if (!finished.has(id)) finished.set(id, begins)
  }
  assert.isTrue(isDone)
  await inspect(storm, store, host, sent)
  for (const [id, begins] of finished) {
    assert.strictEqual(beginsOf(log).get(id) ?? 0, begins, `a finished call ran again: ${id}`)
  }
  if (Symbol.dispose in store) store.close()
  else await store.close()
  return killed
}

const plan = ({ messages, seed, sessions }: Storm): ReadonlyArray<Sent> => {
  const { below, pick } = random(seed)
  return Array.from({ length: sessions * messages }, (_, index): Sent => {
    const tools = Array.from({ length: 1 + below(4) }, () => pick(["work", "work", "safe", "danger"]))
    const isSteer = index >= sessions && below(4) === 0
    return {
      sessionId: `s${index % sessions}`,
      key: `k${index}`,
      message: isSteer ? `note ${index}` : `do ${tools.join(", ")}`,
      mode: isSteer ? "steer" : "queue"
    }
  })
}

/** Approves what asks. Returns whether everything is done. */
const decideAll = async (host: Host.Host, sent: ReadonlyArray<Sent>): Promise<boolean> => {
  let open = 0
  for (const { key, sessionId } of sent) {
    const found = await host.status(sessionId, key)
    if (found?.status !== "done") open++
    if (found?.status !== "suspended" || found.outcome?.status !== "suspended") continue
    for (const { callId } of found.outcome.pending) {
      await host.decide(sessionId, { [callId]: { type: "approve" } }, { key: `yes ${callId}` })
    }
  }
  return open === 0
}

type Store = ReturnType<typeof openStore>

/** The ids of calls whose result is stored, and how often they had begun. No process runs meanwhile. */
const finishedCalls = async (storm: Storm, store: Store, log: string): Promise<ReadonlyMap<string, number>> => {
  const begins = beginsOf(log)
  const found = new Map<string, number>()
  for (let index = 0; index < storm.sessions; index++) {
    const state = await Effect.runPromise(store.sessions.load(`s${index}`))
    const ids = [
      ...(state?.messages ?? []).flatMap((message) => message.role === "tool" ? [message.toolCallId] : []),
      ...(state?.calls ?? []).flatMap(({ call, status }) => status === "done" ? [call.id] : [])
    ]
    for (const id of ids) {
      for (const [key, count] of begins) {
        if (key.includes(` s${index}/`) && key.endsWith(`/${id}`)) found.set(key, count)
      }
    }
  }
  return found
}

const linesOf = (log: string): ReadonlyArray<string> =>
  existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []

/** How often each call has begun, by tool and idempotency key. */
const beginsOf = (log: string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const line of linesOf(log)) {
    if (line.startsWith("begin ")) counts.set(line.slice(6), (counts.get(line.slice(6)) ?? 0) + 1)
  }
  return counts
}

const inspect = async (storm: Storm, store: Store, host: Host.Host, sent: ReadonlyArray<Sent>): Promise<void> => {
  const begins = beginsOf(storm.log)
  for (const [call, count] of begins) {
    if (!call.startsWith("safe ")) assert.strictEqual(count, 1, `a call began twice: ${call}`)
  }
  const all: Array<Message> = []
  for (let index = 0; index < storm.sessions; index++) {
    const id = `s${index}`
    const own = sent.filter(({ sessionId }) => sessionId === id)
    const { messages = [] } = await Effect.runPromise(store.sessions.load(id)) ?? {}
    all.push(...messages)
    assert.isUndefined(whyInvalid(messages), `seed ${storm.seed}, session ${id}`)
    const keys = messages.flatMap((message) => message.role === "user" ? [message.key ?? "none"] : [])
    assert.deepStrictEqual(keys.toSorted(), own.map(({ key }) => key).toSorted(), `messages of ${id}`)
    const queued = own.flatMap(({ key, mode }) => mode === "queue" ? [key] : [])
    assert.deepStrictEqual(keys.filter((key) => queued.includes(key)), queued, `order of ${id}`)
    for (const { key, message, mode } of own) {
      const outcome = await host.result(id, key)
      if (mode === "queue" || outcome.status !== "delivered") {
        assert.strictEqual(outcome.status, "completed", `${id} ${key}: ${JSON.stringify(outcome)}`)
      }
      if (mode === "queue") {
        const words = outcome.status === "completed" ? outcome.text : ""
        const answer = `did ${message.slice(3).replaceAll(", ", " ")}`
        // What was delivered to the turn may have got an answer of its own, which is then the last one.
        assert.isTrue(words.startsWith(answer) || words.includes("note"), `${id} ${key}: ${words}`)
      }
      const answers = messages.filter((one) => one.role === "assistant" && one.toolCalls === undefined)
      assert.isTrue(answers.some((one) => text(one) !== ""), `answers of ${id}`)
    }
  }
  const results = all.flatMap((message) => message.role === "tool" ? [message] : [])
  for (const { content, isError, toolName } of results) {
    if (isError === true) assert.match(JSON.stringify(content), /unknown/, toolName)
    else assert.strictEqual(content, `${toolName} done`)
  }
  for (const name of ["work", "danger"]) {
    const of = results.filter(({ toolName }) => toolName === name)
    const ends = linesOf(storm.log).filter((line) => line === `end ${name}`).length
    assert.isAtMost(of.filter(({ isError }) => isError !== true).length, ends, `results of ${name}`)
    assert.isAtMost([...begins.keys()].filter((call) => call.startsWith(`${name} `)).length, of.length)
  }
}
