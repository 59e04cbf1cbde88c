/** Sends messages to sessions whose processes are killed at given moments, and checks what became of them. */
import type { Message } from "@belay/core/Message"
import { text, whyInvalid } from "@belay/core/Message"
import * as Host from "@belay/server/Host"
import { random } from "@belay/testing/SeededRandom"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"
import { pollMs } from "./hosted.ts"
import { type EngineName, openHost, openStore } from "./openStore.ts"
import { accountsOf } from "./storedBudget.ts"

const worker = fileURLToPath(new URL("./worker.ts", import.meta.url))
const jumpingClock = new URL("./jumpingClock.ts", import.meta.url).href

/**
 * When a process kills itself: at the moment with this number, or before it reports an outcome. 0 is never. With a minus
 * it freezes for longer than an engine waits for it.
 */
export type Kill = number | "report"

interface Sent {
  readonly sessionId: string
  readonly key: string
  readonly message: string
  readonly mode: "queue" | "steer"
}

export interface Storm {
  readonly where: string
  readonly engine: EngineName
  /** How many processes run at the same time. */
  readonly runners: number
  /** The file in which tools note what they do. */
  readonly log: string
  readonly seed: number
  readonly sessions: number
  /** How many messages each session gets. */
  readonly messages: number
  /** When each of the processes kills itself. */
  readonly kills: ReadonlyArray<Kill>
  /** How the clocks of the processes jump, as `jumpingClock.ts` reads it. */
  readonly clockJumps?: string
  /** Restarts the database when so many messages have an outcome. */
  readonly outage?: { readonly after: number; readonly restart: () => Promise<void> }
}

/** What happened in a storm. */
export interface Report {
  readonly killed: number
  readonly frozen: number
  readonly seconds: number
}

const pause = (ms: number) => Effect.runPromise(Effect.sleep(ms))

/** How long a process is frozen, in milliseconds. Each engine has given its sessions away before. */
const frozenMs = 5_000

/** How long it runs after that before it is killed, in milliseconds. */
const awakeMs = 1_000

/** The processes of a storm. A killed one is replaced. */
class Runners {
  private readonly storm: Storm
  private readonly left: Array<Kill>
  private readonly children = new Set<ChildProcess>()
  private readonly faults: Array<string> = []
  killed = 0
  frozen = 0
  isClosing = false

  constructor(storm: Storm) {
    this.storm = storm
    this.left = [...storm.kills]
    for (let index = 0; index < storm.runners; index++) this.start()
  }

  private start(): void {
    const { clockJumps, engine, log, where } = this.storm
    const dieAt = this.left.shift() ?? 0
    const clock = clockJumps === undefined ? [] : ["--import", jumpingClock]
    const program = ["--conditions=@belay/source", ...clock, worker, where, engine, log, String(dieAt)]
    const child = spawn(process.execPath, program, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, CLOCK_JUMPS: clockJumps ?? "" }
    })
    this.children.add(child)
    let errors = ""
    child.stderr.setEncoding("utf8").on("data", (words: string) => errors += words)
    child.stdout.setEncoding("utf8").on("data", (words: string) => {
      if (words.includes("frozen")) void this.wake(child)
    })
    void once(child, "close").then(([code, signal]) => {
      this.children.delete(child)
      if (signal !== "SIGKILL" || errors !== "") this.faults.push(`ended with ${code ?? signal}: ${errors}`)
      if (this.isClosing) return
      this.killed++
      this.start()
    })
  }

  private async wake(child: ChildProcess): Promise<void> {
    this.frozen++
    await pause(frozenMs)
    child.kill("SIGCONT")
    await pause(awakeMs)
    child.kill("SIGKILL")
  }

  check(): void {
    assert.deepStrictEqual(this.faults, [])
  }

  async close(): Promise<void> {
    this.isClosing = true
    const ends = [...this.children].map((child) => once(child, "close"))
    for (const child of this.children) child.kill("SIGKILL")
    await Promise.all(ends)
  }
}

/** Sends everything, lets processes run and die, and lets the last ones finish. */
export const killStorm = async (storm: Storm): Promise<Report> => {
  const { log, outage, where } = storm
  const begun = performance.now()
  const { store, ...rest } = openHost(where, storm.engine)
  const host = Host.make({ agent: { session: () => Promise.reject(new Error("it only sends")) }, store, ...rest })
  const sent = plan(storm)
  for (const { key, message, mode, sessionId } of sent) await host.send(sessionId, message, { key, mode })
  const runners = new Runners(storm)
  const finished = new Map<string, number>()
  let restarted: Promise<void> | undefined
  const open = new Set(sent)
  try {
    for (let round = 0; open.size > 0; round++) {
      await decideAll(host, open)
      if (outage !== undefined && sent.length - open.size >= outage.after) restarted ??= outage.restart()
      await unlessAway(async () => {
        const calls = await finishedCalls(`s${round % storm.sessions}`, store, log)
        for (const [id, begins] of calls) if (!finished.has(id)) finished.set(id, begins)
      })
      await pause(3 * pollMs)
      runners.check()
    }
    await restarted
  } finally {
    await runners.close()
  }
  await inspect(storm, store, host, sent)
  for (const [id, begins] of finished) {
    // A frozen process may begin a call that it had announced before, and that is idempotent.
    if (runners.frozen > 0 && id.startsWith("safe ")) continue
    assert.strictEqual(beginsOf(log).get(id) ?? 0, begins, `a finished call ran again: ${id}`)
  }
  await inspectBudgets(storm, store)
  if (Symbol.dispose in store) store.close()
  else await store.close()
  return { killed: runners.killed, frozen: runners.frozen, seconds: (performance.now() - begun) / 1_000 }
}

const plan = ({ messages, seed, sessions }: Storm): ReadonlyArray<Sent> => {
  const { below, pick } = random(seed)
  return Array.from({ length: sessions * messages }, (_, index): Sent => {
    const tools = Array.from({ length: 1 + below(4) }, () => pick(["work", "work", "safe", "danger", "help"]))
    const isSteer = index >= sessions && below(4) === 0
    return {
      sessionId: `s${index % sessions}`,
      key: `k${index}`,
      message: isSteer ? `note ${index}` : `do ${tools.join(", ")}`,
      mode: isSteer ? "steer" : "queue"
    }
  })
}

/** How many messages of a session are looked at in a round. Messages are answered in order. */
const ahead = 3

/** Approves what asks, and removes from the list what is done. */
const decideAll = async (host: Host.Host, open: Set<Sent>): Promise<void> => {
  const looked = new Map<string, number>()
  for (const one of open) {
    const { key, sessionId } = one
    const count = looked.get(sessionId) ?? 0
    if (count === ahead) continue
    looked.set(sessionId, count + 1)
    await unlessAway(async () => {
      const found = await host.status(sessionId, key)
      if (found?.status === "done") open.delete(one)
      if (found?.status !== "suspended" || found.outcome?.status !== "suspended") return
      for (const { callId } of found.outcome.pending) {
        await host.decide(sessionId, { [callId]: { type: "approve" } }, { key: `yes ${callId}` })
      }
    })
  }
}

/** Does something that may fail while the database is away, but only with the error that says so. */
const unlessAway = (act: () => Promise<void>): Promise<void> =>
  act().catch((error: unknown) => {
    const { _tag, problem } = Object(error) as { readonly [field: string]: unknown }
    assert.isTrue(problem === "store" || _tag === "StoreError", String(error))
  })

type Store = ReturnType<typeof openStore>

/** How often calls of a session had begun whose result is stored. They do not begin again. */
const finishedCalls = async (id: string, store: Store, log: string): Promise<ReadonlyMap<string, number>> => {
  const state = await Effect.runPromise(store.sessions.load(id))
  const begins = beginsOf(log)
  const found = new Map<string, number>()
  const ids = [
    ...(state?.messages ?? []).flatMap((message) => message.role === "tool" ? [message.toolCallId] : []),
    ...(state?.calls ?? []).flatMap(({ call, status }) => status === "done" ? [call.id] : [])
  ]
  for (const call of ids) {
    for (const [key, count] of begins) if (key.includes(` ${id}/`) && key.endsWith(`/${call}`)) found.set(key, count)
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
  const commits = linesOf(storm.log).filter((line) => line.startsWith("commit "))
  assert.lengthOf(new Set(commits), commits.length, "two processes have stored the same revision")
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
    else assert.strictEqual(content, toolName === "help" ? "helped" : `${toolName} done`)
  }
  for (const name of ["work", "danger"]) {
    const of = results.filter(({ toolName }) => toolName === name)
    const ends = linesOf(storm.log).filter((line) => line === `end ${name}`).length
    assert.isAtMost(of.filter(({ isError }) => isError !== true).length, ends, `results of ${name}`)
    assert.isAtMost([...begins.keys()].filter((call) => call.startsWith(`${name} `)).length, of.length)
  }
}

/** Each model call costs 15 tokens. One whose process was killed may count or not. */
const inspectBudgets = async ({ log, sessions }: Storm, store: Store): Promise<void> => {
  const ids = Array.from({ length: sessions }, (_, index) => `s${index}`)
  const accounts = await accountsOf(store.sessions, ids)
  let calls = 0
  for (const [index, account] of accounts.entries()) {
    assert.deepStrictEqual(account?.holds, {}, `reservations of ${ids[index]}`)
    assert.strictEqual(account?.spent.tokens, 15 * account!.spent.calls, `tokens of ${ids[index]}`)
    const { messages = [] } = await Effect.runPromise(store.sessions.load(ids[index]!)) ?? {}
    assert.isAtLeast(account!.spent.calls, messages.filter(({ role }) => role === "assistant").length)
    calls += account!.spent.calls
  }
  assert.isAtMost(calls, linesOf(log).filter((line) => line === "model").length)
}
