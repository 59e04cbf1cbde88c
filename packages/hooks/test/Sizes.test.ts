/** What ready-made hooks cost when a model, a tool or a user says very much. */
import { assert, describe, it } from "vitest"
import { cpuMs } from "../../../test/support/cpu.ts"
import { callsOf, type Hostile, keys, list, take, words } from "./support/hostileTurns.ts"
import { lists, single } from "./support/readyHooks.ts"

/** Turns of a size. */
const growing: { readonly [what: string]: (size: number) => Hostile } = {
  "calls": (size) => ({ answer: callsOf(size * 10, (n) => ({ path: `a${n}` })) }),
  "keys of arguments": (size) => ({ answer: callsOf(1, () => keys(size * 400)) }),
  "characters of a command": (size) => ({ answer: callsOf(1, () => ({ command: words(size * 10_000) })) }),
  "characters of an answer": (size) => ({ answer: { text: words(size * 10_000), reasoning: words(size * 10_000) } }),
  "characters of a message": (size) => ({ message: words(size * 10_000), answer: { text: "hi" } }),
  "characters of a result": (size) => ({ answer: callsOf(1), result: words(size * 10_000) }),
  "elements of a result": (size) => ({ answer: callsOf(1), result: list(size * 2_000) }),
  "pieces of a stream": (size) => ({ answer: { text: "word ".repeat(size * 400) }, pieces: size * 400 })
}

/** Below this a measurement is mostly noise. */
const leastMs = 40

/** How much longer four times as much takes. A cost that grows with the square takes 16 times as long. */
const growth = async (hooks: Parameters<typeof take>[0], turn: (size: number) => Hostile): Promise<number> => {
  let least = Infinity
  for (let attempt = 0; attempt < 3 && least > 9; attempt++) {
    const small = (await take(hooks, turn(5))).ms
    const big = (await take(hooks, turn(20))).ms
    least = Math.min(least, big < leastMs ? 1 : big / Math.max(small, 1))
  }
  return least
}

describe("the time of a hook grows no faster than the turn", () => {
  for (const [name, make] of Object.entries({ ...single, ...lists })) {
    it(`of ${name}`, async () => {
      for (const [what, turn] of Object.entries(growing)) {
        assert.isBelow(await growth(make(), turn), 9, what)
      }
    })
  }

  it("for every hook of the package", async () => {
    const Hooks = await import("@belay/hooks")
    const made = Object.entries(Hooks).flatMap(([name, module]) => "make" in module ? [name] : [])
    const others = ["AuditFile", "HttpGuard", "Ledger"]
    assert.deepStrictEqual(made.filter((name) => !others.includes(name)).sort(), Object.keys(single).sort())
  })
})

const megabyte = 1_000_000
/** The sizes that attacks have had. */
const attacks: ReadonlyArray<readonly [what: string, turn: () => Hostile, end: RegExp]> = [
  ["1,000 calls", () => ({ answer: callsOf(1_000, (n) => ({ path: `a${n}` })) }), /^completed$/],
  ["20,000 calls", () => ({ answer: callsOf(20_000) }), /20000 tool calls, and at most 1000/],
  ["100,000 keys", () => ({ answer: callsOf(1, () => keys(100_000)) }), /more than 50000 values/],
  ["50,000 keys", () => ({ answer: callsOf(1, () => keys(49_999)) }), /^completed$/],
  ["an answer of 50 MB", () => ({ answer: { text: words(50 * megabyte) } }), /more than 5000000 characters/],
  ["an answer of 5 MB", () => ({ answer: { text: words(4.9 * megabyte) } }), /^completed$/],
  ["arguments of 50 MB", () => ({ answer: callsOf(1, () => ({ path: words(50 * megabyte) })) }), /5000000 characters/],
  ["arguments of 5 MB", () => ({ answer: callsOf(1, () => ({ command: words(4.9 * megabyte) })) }), /^completed$/],
  ["a result of 50 MB", () => ({ answer: callsOf(1), result: words(50 * megabyte) }), /^completed$/],
  ["a result with a million elements", () => ({ answer: callsOf(1), result: list(megabyte) }), /^completed$/],
  ["a message of 50 MB", () => ({ message: words(50 * megabyte), answer: { text: "hi" } }), /at most 5000000/],
  ["a message of 5 MB", () => ({ message: words(4.9 * megabyte), answer: { text: "hi" } }), /^completed$/],
  ["100,000 deltas", () => ({ answer: { text: "word ".repeat(100_000) }, pieces: 100_000 }), /^completed$/]
]

/** A piece of work whose cost is known: 15 MB of JSON are read, written and searched. */
const ownWork = (): number => {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ path: `a${n}`, text: "word ".repeat(5), n })))
  const before = cpuMs()
  for (let n = 0; n < 12; n++) JSON.stringify(JSON.parse(text)).match(/a\d+9"/g)
  return cpuMs() - before
}

/** How often a turn may cost as much as that work. On a laptop this is about a second. */
const most = 8

describe("a turn with the safe defaults costs no more than eight times a known piece of work", () => {
  it.each(attacks)("with %s", async (_what, turn, end) => {
    const hostile = turn()
    let least = Infinity
    for (let attempt = 0; attempt < 3 && least >= most; attempt++) {
      const before = ownWork()
      const taken = await take(lists["the safe defaults"]!(), hostile)
      assert.match(taken.end, end)
      // The machine may be busier now than it was before.
      least = Math.min(least, taken.ms / Math.max(before, ownWork()))
    }
    assert.isBelow(least, most)
  })
})
