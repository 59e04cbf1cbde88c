/**
 * Commands of hooks as processes, on a runtime that has processes: a program of `@belay/hook-files`. It prints the
 * outcomes as JSON. Its argument is a folder that it may write to.
 */
import * as Command from "@belay/hook-files/Command"
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Outcome } from "./suite.ts"

const folder = process.argv[2] ?? "."

const run = (command: string, more: Partial<Command.Request> = {}): Promise<Command.Finished> =>
  Effect.runPromise(Command.run({ command, cwd: folder, input: "", timeoutMs: 10_000, ...more }))

const same = (found: unknown, expected: unknown): void => {
  const [is, wanted] = [JSON.stringify(found), JSON.stringify(expected)]
  if (is !== wanted) throw new Error(`expected ${wanted}, found ${is}`)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

/** Under load, a process that was killed takes a moment to end. */
const isGone = async (file: string): Promise<boolean> => {
  for (let left = 20; left > 0 && isRunning(pidIn(file)); left--) await pause(50)
  return !isRunning(pidIn(file))
}

const pidIn = (file: string): number => Number(readFileSync(join(folder, file), "utf8"))

const checks: { readonly [name: string]: () => Promise<void> } = {
  "reads the input and answers": async () => {
    const { exitCode, stderr, stdout } = await run("cat; echo no >&2; exit 2", { input: "{\"é\":1}" })
    same([exitCode, stdout, stderr], [2, "{\"é\":1}", "no\n"])
  },
  "reads a long input that nobody reads": async () => {
    const input = "x".repeat(300_000)
    same((await run("true", { input })).exitCode, 0)
    same((await run("wc -c", { input })).stdout.trim(), "300000")
  },
  "opens its streams by name": async () => {
    const { stderr, stdout } = await run("cat /dev/stdin > /dev/stderr; echo out > /dev/stdout", { input: "in" })
    same([stdout, stderr], ["out\n", "in"])
  },
  "runs programs with arguments, in the folder, with the variables": async () => {
    const { stdout } = await run("sh", { args: ["-c", "pwd; echo $ONE $SECRET", "sh"], env: { ONE: "1" } })
    same(stdout, `${folder}\n1\n`)
  },
  "a program that does not exist": async () => {
    same((await run("/no/such/program", { args: [] })).exitCode, 127)
    same((await run("true", { cwd: "/no/such/folder" })).exitCode, 127)
  },
  "many at once": async () => {
    const all = await Promise.all(Array.from({ length: 40 }, (_, index) => run("cat", { input: String(index) })))
    same(all.map(({ stdout }) => Number(stdout)), all.map((_, index) => index))
  },
  "leaves no file open": async () => {
    const open = () => readdirSync("/proc/self/fd").length
    const before = open()
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 20 }, () => run("echo 1")))
    await pause(300)
    // Up to 32 pipes are kept for the next commands.
    same(open() - before < 70, true)
  },
  "much output is cut": async () => {
    const { overflowed, stdout } = await run("head -c 3000 /dev/zero | tr '\\0' x", { maxOutput: 1_000 })
    same([overflowed, stdout.length], [true, 1_000])
  },
  "endless output is ended": async () => {
    same((await run("yes", { maxOutput: 1_000 })).overflowed, true)
  },
  "the first line comes early": async () => {
    const began = Date.now()
    let after = 0
    await run("echo first; sleep 1", { onFirstLine: (line) => after = line === "first" ? Date.now() - began : 0 })
    same(after > 0 && after < 900, true)
  },
  "a timeout ends the command and its children": async () => {
    const { exitCode, timedOut } = await run("sleep 60 & echo $! > child; wait", { timeoutMs: 300, graceMs: 200 })
    same([exitCode, timedOut, await isGone("child")], [undefined, true, true])
  },
  "a timeout ends a command that ignores signals, and what left its group": async () => {
    const command = "trap '' TERM; setsid sh -c 'echo $$ > away; exec sleep 60' & sleep 60; sleep 60"
    same((await run(command, { timeoutMs: 500, graceMs: 200 })).timedOut, true)
    same(await isGone("away"), true)
  },
  "an interruption ends it": async () => {
    const over = new AbortController()
    const running = Effect.runPromise(
      Command.run({
        command: "echo $$ > held; exec sleep 60",
        cwd: folder,
        input: "",
        timeoutMs: 60_000,
        graceMs: 200
      }),
      { signal: over.signal }
    )
    await pause(300)
    over.abort()
    await running.catch(() => {})
    same(await isGone("held"), true)
  },
  "a background process may go on, but not for ever": async () => {
    let left: Command.Left | undefined
    const began = Date.now()
    const { exitCode } = await run("sleep 60 & echo $! > behind", {
      lingerMs: 400,
      graceMs: 100,
      onLinger: (one) => left = one
    })
    same([exitCode, Date.now() - began < 390 + 200, isRunning(pidIn("behind"))], [0, true, true])
    // It keeps nothing alive.
    await Promise.all([left?.ended, pause(800)])
    same(await isGone("behind"), true)
  }
}

const outcomes: Array<Outcome> = []
for (const [name, check] of Object.entries(checks)) {
  try {
    await check()
    outcomes.push({ name })
  } catch (error) {
    outcomes.push({ name, problem: String(error) })
  }
}
// The host must be able to exit although a command left a process behind.
await run("sleep 60 & echo $! > left", { lingerMs: 60_000 })
console.log(JSON.stringify(outcomes))
