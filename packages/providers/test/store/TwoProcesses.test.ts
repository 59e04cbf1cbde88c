/** Two processes that share a SQLite file: they take turns in one session, and one is killed or parks. */
import { type Message, text, whyInvalid } from "@belay/core/Message"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Answer, Order } from "../support/sharedAgent.ts"

const program = fileURLToPath(new URL("../support/sharedAgent.ts", import.meta.url))

interface Seen {
  readonly messages: ReadonlyArray<Message>
  readonly waiting: string
  readonly pending: ReadonlyArray<string>
}

type Process = Awaited<ReturnType<typeof start>>

/** Starts a process. `ask` gives it an order and returns the answer. */
const start = async (name: string, folder: string) => {
  const child = spawn(process.execPath, ["--conditions=@belay/source", program, name, folder], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  const ready = new Promise<Answer>((resolve) => waiting.set(0, resolve))
  createInterface({ input: child.stdout }).on("line", (line) => {
    // The process writes answers.
    const answer = JSON.parse(line) as Answer
    waiting.get(answer.id)?.(answer)
  })
  let last = 0
  const ask = (deed: Order["do"], words?: string): Promise<Answer> => {
    const id = ++last
    const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    child.stdin.write(`${JSON.stringify({ id, do: deed, text: words })}\n`)
    return answer
  }
  await ready
  return {
    name,
    ask,
    see: async (deed: "open" | "read" | "reload", words?: string) => (await ask(deed, words)).ok as Seen,
    kill: async () => {
      const closed = once(child, "close")
      child.kill("SIGKILL")
      await closed
    },
    end: async () => {
      const closed = once(child, "close")
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await closed
    }
  }
}

const line = (messages: ReadonlyArray<Message>): string =>
  messages.map((message) => `${message.role}${message.role === "tool" && message.isError ? "!" : ""}: ${text(message)}`)
    .join(" | ")

describe("two processes that share a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "belay-two-"))
  let a: Process
  let b: Process
  beforeAll(async () => {
    a = await start("a", folder)
    b = await start("b", folder)
  })
  afterAll(async () => {
    await Promise.all([a.end(), b.end()])
    rmSync(folder, { recursive: true, force: true })
  })

  const log = (file: string): ReadonlyArray<string> => {
    const path = join(folder, file)
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []
  }
  const soon = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  /** Runs a plan in a process until `count` of its tools hold. */
  const untilHeld = async (one: Process, plan: string, count = 1) => {
    rmSync(join(folder, `open-${one.name}`), { force: true })
    const before = log("held.log").length
    const answer = one.ask("run", plan)
    await soon(() => log("held.log").length >= before + count)
    return { answer }
  }
  const letGo = (one: Process) => writeFileSync(join(folder, `open-${one.name}`), "")
  const open = async (id: string) => {
    await a.see("open", id)
    await b.see("open", id)
  }
  const paidFor = (id: string) =>
    log("tools.log").filter((entry) => entry.startsWith("pay") && entry.includes(` ${id}`))

  it("take turns: each sees what the other did", async () => {
    await open("turns")
    for (const [one, words] of [[a, "pay"], [b, "pay pay"], [a, "hello"], [a, "pay"], [b, ""]] as const) {
      assert.deepInclude((await one.ask("run", words)).ok as object, { status: "completed" })
    }
    const [left, right] = [await a.see("reload"), await b.see("read")]
    assert.deepStrictEqual(left.messages, right.messages)
    assert.isUndefined(whyInvalid(right.messages))
    assert.strictEqual(right.messages.filter(({ role }) => role === "user").length, 5)
    assert.deepStrictEqual([left.waiting, right.waiting], ["nothing", "nothing"])
  })

  it("hand a turn over: one parks in the middle of it, the other continues", async () => {
    await open("parked")
    await a.ask("run", "pay")
    const { answer } = await untilHeld(a, "pay hold pay")
    const parking = a.ask("park")
    // The answer shows that the process has also read the message before.
    await a.see("read")
    letGo(a)
    assert.strictEqual((await parking).ok, "process")
    assert.deepInclude((await answer).ok as object, { status: "parked" })
    assert.deepInclude((await b.ask("resume")).ok as object, { status: "completed", said: "done 3" })
    assert.strictEqual((await a.see("reload")).waiting, "nothing")
    assert.lengthOf(paidFor("parked"), 3)
    assert.deepInclude((await a.ask("run", "pay")).ok as object, { said: "done 1" })
    assert.isUndefined(whyInvalid((await a.see("read")).messages))
  })

  it("hand sub-agents over, three levels deep", async () => {
    await open("tree")
    const { answer } = await untilHeld(a, "lead[work(pay hold pay)] pay")
    const parking = a.ask("park")
    // The answer shows that the process has also read the message before.
    await a.see("read")
    letGo(a)
    assert.strictEqual((await parking).ok, "process")
    assert.deepInclude((await answer).ok as object, { status: "parked" })
    assert.strictEqual((await b.see("reload")).waiting, "process parked")
    assert.deepInclude((await b.ask("resume")).ok as object, { status: "completed", said: "done 2" })
    assert.deepStrictEqual(paidFor("tree").map((entry) => entry.split(" ")[1]), ["a", "b", "b"])
    assert.strictEqual((await a.see("reload")).messages.length, (await b.see("read")).messages.length)
  })

  it("ask in one and decide in the other, for a call of a sub-agent", async () => {
    await open("asked")
    await b.ask("run", "pay")
    assert.deepInclude((await a.ask("run", "lead[work(pay deploy)] pay")).ok as object, { status: "suspended" })
    const seen = await b.see("reload")
    assert.strictEqual(seen.waiting, "people")
    assert.deepStrictEqual(seen.pending, (await a.see("read")).pending)
    const both = await Promise.all([a, b].map((one) => one.ask("resume", seen.pending.join())))
    // One of the two decides. The other one says that it was too late.
    assert.lengthOf(both.filter(({ ok }) => ok !== undefined), 1)
    const [late] = both.flatMap(({ error }) => error === undefined ? [] : [error])
    assert.strictEqual(late?.cause, "SessionConflict", late?.message)
    assert.lengthOf(log("tools.log").filter((entry) => entry.startsWith("deploy")), 1)
    for (const one of [a, b]) assert.strictEqual((await one.see("reload")).waiting, "nothing")
  })

  it("run at once: turns of both are whole, and a turn that fails was not begun", async () => {
    await open("race")
    const said: Array<string> = []
    for (let round = 0; round < 12; round++) {
      const plans = [a, b].map(({ name }) => `pay ${name}${round}`)
      const answers = await Promise.all([a, b].map((one, index) => one.ask("run", plans[index])))
      for (const [index, { error, ok }] of answers.entries()) {
        if (ok !== undefined) said.push(plans[index]!)
        else assert.include(["busy", "SessionConflict"], error?.problem ?? error?.cause, error?.message)
      }
    }
    const [left, right] = [await a.see("reload"), await b.see("reload")]
    assert.deepStrictEqual(left.messages, right.messages)
    assert.isUndefined(whyInvalid(left.messages))
    const kept = left.messages.flatMap((message) => message.role === "user" ? [text(message)] : [])
    for (const plan of said) assert.include(kept, plan)
    assert.strictEqual(new Set(kept).size, kept.length)
    assert.isAtLeast(said.length, 12)
  })

  it("steer and run: only the process that runs the turn can steer it, and the other one learns that", async () => {
    await open("steer")
    const { answer } = await untilHeld(a, "hold pay")
    assert.deepStrictEqual((await b.ask("steer", "hello")).ok, { type: "notRunning" })
    assert.strictEqual((await b.see("read")).waiting, "process left")
    const steering = a.ask("steer", "pay twice")
    // Its answer shows that the message before it was read.
    await a.see("read")
    letGo(a)
    assert.deepStrictEqual((await steering).ok, { type: "delivered", turnNumber: 1, stepNumber: 2 })
    assert.deepInclude((await answer).ok as object, { status: "completed" })
    assert.include(line((await b.see("reload")).messages), "tool: held | user: pay twice")
    assert.deepInclude((await b.ask("run", "pay")).ok as object, { status: "completed" })
  })

  it("let a session out of memory, and none of this ended a session", async () => {
    assert.isUndefined((await a.ask("release")).error)
    assert.strictEqual((await a.ask("run", "pay")).error?.problem, "closed")
    await a.see("open", "steer")
    assert.deepInclude((await a.ask("run", "pay")).ok as object, { said: "done 1" })
    assert.deepStrictEqual(log("ends.log"), [])
  })

  it("survive a kill in a tool: the other knows what is done and what is unknown, also of sub-agents", async () => {
    await open("killed")
    const { answer } = await untilHeld(a, "pay work(pay hold pay) pay")
    void answer
    await a.kill()
    assert.strictEqual((await b.see("reload")).waiting, "process left")
    assert.deepInclude((await b.ask("resume")).ok as object, { status: "completed", said: "done 3" })
    assert.lengthOf(paidFor("killed"), 4)
    assert.strictEqual(new Set(paidFor("killed").map((entry) => entry.split(" ")[2])).size, 4)
    assert.lengthOf(log("tools.log").filter((entry) => entry.startsWith("hold") && entry.includes(" killed")), 1)
    assert.isUndefined(whyInvalid((await b.see("read")).messages))
  })

  it("never use the number of an event twice", () => {
    const numbers = log("events.log").map((entry) => entry.split(" ").slice(0, 2).join(" "))
    assert.isAbove(numbers.length, 200)
    assert.strictEqual(new Set(numbers).size, numbers.length)
  })
})
