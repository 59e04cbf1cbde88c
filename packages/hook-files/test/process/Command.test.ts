import * as Command from "@belay/hook-files/Command"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, vi } from "vitest"
import { alive, folder, isGone, until } from "../support/processes.ts"

const home = folder()

const run = (command: string, more: Partial<Command.Request> = {}) =>
  Command.run({ command, cwd: home, input: "{}\n", timeoutMs: 60_000, graceMs: 200, ...more })

/** A word that no other command line has. */
const word = () => `w${randomUUID().replaceAll("-", "")}`

/** A program that runs a command, which leaves something behind and then does `then`. */
const leaving = (then: string, name: string, own = folder()) => {
  const program = fileURLToPath(new URL("../support/leaving.ts", import.meta.url))
  return spawn(process.execPath, ["--conditions=@belay/source", program, own, `x${name}`, then], { stdio: "ignore" })
}

const codeOf = (child: ReturnType<typeof spawn>): Promise<number | null> =>
  new Promise((resolve) => void child.once("exit", resolve))

afterEach(() => void vi.unstubAllEnvs())

describe("Command", () => {
  it("names what a request without types has left out", () => {
    for (const request of [undefined, null, "ls", {}, { command: "ls", cwd: home, input: "" }]) {
      // A program without types may pass anything.
      assert.throws(() => Command.run(request as never), /^Command\.run: it cannot use these values: .*timeoutMs is /)
    }
  })

  it.live("gives back what a line of shell wrote, and with what it ended", () =>
    Effect.gen(function*() {
      const finished = yield* run("cat; echo oops >&2; exit 3", { input: `{"a":"é"}\n` })
      assert.deepInclude(finished, {
        exitCode: 3,
        stdout: `{"a":"é"}\n`,
        stderr: "oops\n",
        timedOut: false,
        overflowed: false
      })
    }))

  it.live("runs bash where it is, without a terminal, in the folder that was asked for", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run(
        `[[ -n "$BASH_VERSION" ]] && pwd; [ -t 0 ] || (exec 3</dev/tty) 2>/dev/null || echo none`
      )
      assert.deepEqual([exitCode, stdout], [0, `${home}\nnone\n`])
    }))

  it.live("starts a program with arguments as they are, whatever they hold", () =>
    Effect.gen(function*() {
      const args = [
        "-e",
        "console.log(JSON.stringify(process.argv.slice(1)))",
        "--",
        "$(touch pwned)",
        "; touch pwned",
        "a b",
        "*",
        "`id`"
      ]
      const { stdout } = yield* run("node", { args })
      assert.deepEqual(JSON.parse(stdout), args.slice(3))
      assert.isFalse(existsSync(join(home, "pwned")))
    }))

  it.live("shows a command nothing of the host's environment but a few names, and what it is given", () =>
    Effect.gen(function*() {
      vi.stubEnv("FAKE_API_KEY", "fake-0000")
      vi.stubEnv("NODE_OPTIONS", "")
      vi.stubEnv("BASH_ENV", "/nowhere")
      vi.stubEnv("ASKED_FOR", "yes")
      const { stdout } = yield* run("env", { env: { tool_name: "Bash", bad: "a\0b" }, passEnv: ["ASKED_FOR"] })
      const names = stdout.trim().split("\n").map((line) => line.split("=", 1)[0]!)
      assert.includeMembers(names, ["PATH", "tool_name", "ASKED_FOR"])
      for (const name of ["FAKE_API_KEY", "NODE_OPTIONS", "BASH_ENV", "bad"]) assert.notInclude(names, name)
      assert.notInclude(stdout, "fake-0000")
    }))

  it.live("does not mind a command that never reads, or closes its input", () =>
    Effect.gen(function*() {
      const input = `${"x".repeat(5_000_000)}\n`
      assert.strictEqual((yield* run("exit 0", { input })).exitCode, 0)
      assert.strictEqual((yield* run("exec 0<&-; echo done", { input })).stdout, "done\n")
    }))

  it.live("takes binary output for text", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run(String.raw`printf '\xff\xfe\x00{\x80'`)
      assert.deepEqual([exitCode, stdout], [0, "\uFFFD\uFFFD\0{\uFFFD"])
    }))

  it.live("ends a command that writes more than it may, be it for ever", () =>
    Effect.gen(function*() {
      const name = word()
      const big = yield* run("head -c 10000000 /dev/zero | tr '\\0' a")
      assert.isTrue(big.overflowed)
      assert.strictEqual(big.stdout.length, 1_048_576)
      const flood = yield* run(`yes ${name} >&2`, { maxOutput: 1_000 })
      assert.isTrue(flood.overflowed)
      assert.strictEqual(flood.stderr.length, 1_000)
      assert.isUndefined(flood.exitCode)
      assert.deepEqual(alive(name), [])
    }))

  it.live("has no exit code for a command that was killed, and 127 for one that is not there", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* run("kill -9 $$"), { exitCode: undefined, timedOut: false })
      assert.strictEqual((yield* run("no-such-command-anywhere")).exitCode, 127)
      const absent = yield* run("no-such-program", { args: [] })
      assert.strictEqual(absent.exitCode, 127)
      assert.match(absent.stderr, /^no-such-program cannot be started/)
      assert.match(
        (yield* run("true", { cwd: join(home, "nowhere") })).stderr,
        /^the shell cannot be started in .*nowhere: there is no such folder$/
      )
      assert.strictEqual((yield* run("a\0b", { args: [] })).exitCode, 127)
      assert.strictEqual((yield* run("true", { env: { big: "x".repeat(3_000_000) } })).exitCode, 127)
    }))

  it.effect("ends a command that takes too long, though it ignores being asked", () =>
    Effect.gen(function*() {
      const name = word()
      const ready = join(home, name)
      const fiber = yield* Effect.forkChild(
        run(`trap '' TERM; touch ${ready}; while :; do sleep 0.01 || : ${name}; done`, { timeoutMs: 10_000 })
      )
      yield* Effect.promise(() => until(() => existsSync(ready)))
      yield* TestClock.adjust("9 seconds")
      assert.isAbove(alive(name).length, 0)
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(fiber), { timedOut: true, exitCode: undefined, durationMs: 10_000 })
      assert.deepEqual(alive(name), [])
    }))

  it.live("asks first: a command that is interrupted may tidy up", () =>
    Effect.gen(function*() {
      const name = word()
      const ready = join(home, name)
      const script = `trap 'echo tidy > ${ready}.end; exit 0' TERM; touch ${ready}; while :; do sleep 0.01; done`
      const fiber = yield* Effect.forkChild(run(script, { graceMs: 5_000 }))
      yield* Effect.promise(() => until(() => existsSync(ready)))
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(readFileSync(`${ready}.end`, "utf8"), "tidy\n")
      assert.deepEqual(alive(name), [])
    }))

  it.live("leaves nothing behind when it is interrupted: no children, no background jobs, no escaped sessions", () =>
    Effect.gen(function*() {
      const name = word()
      const ready = join(home, name)
      const sleeper =
        `bash -c "trap '' TERM HUP; touch ${ready}.\\$1; while :; do read -t 0.05 < <(:) || :; done" ${name}`
      const script =
        `${sleeper} 1 & nohup ${sleeper} 2 >/dev/null 2>&1 & setsid ${sleeper} 3 >/dev/null 2>&1 & (setsid setsid ${sleeper} 4 &) ; wait`
      const fiber = yield* Effect.forkChild(run(script))
      yield* Effect.promise(() => until(() => [1, 2, 3, 4].every((n) => existsSync(`${ready}.${n}`))))
      assert.isAtLeast(alive(name).length, 4)
      yield* Fiber.interrupt(fiber)
      assert.deepEqual(alive(name), [])
    }))

  it("leaves nothing behind when its host exits", async () => {
    const name = word()
    assert.strictEqual(await codeOf(leaving("exit", name)), 7)
    await until(() => alive(name).length === 0)
  })

  it("leaves nothing behind when its host is killed, nor what looked after that", async () => {
    const name = word()
    const own = folder()
    const child = leaving("wait", name, own)
    const ended = codeOf(child)
    const children = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ")
    await until(() => child.exitCode !== null || (existsSync(join(own, "ready")) && children().length >= 2))
    const helpers = children()
    child.kill("SIGKILL")
    await ended
    await until(() => alive(name).length === 0 && helpers.every(isGone))
  })

  it(
    "does not keep its host from ending, whatever goes on in the background, and leaves nothing of that behind",
    async () => {
      const name = word()
      const begin = performance.now()
      assert.strictEqual(await codeOf(leaving("end", name)), 0)
      assert.isBelow(performance.now() - begin, 50_000)
      await until(() => alive(name).length === 0)
    }
  )

  it.live("leaves nothing behind when it ends well, where nothing may linger", () =>
    Effect.gen(function*() {
      const name = word()
      const line = `(exec -a ${name} sleep 1000) & setsid bash -c 'exec -a ${name} sleep 1000' & echo said`
      const { exitCode, stdout } = yield* run(line, { lingerMs: 0 })
      assert.deepEqual([exitCode, stdout], [0, "said\n"])
      assert.deepEqual(alive(name), [])
    }))

  it.live("does not wait for what it left in the background, which may end by itself", () =>
    Effect.gen(function*() {
      const name = word()
      const file = join(home, name)
      const go = `${file}.go`
      const { stdout } = yield* run(
        `(until [ -f ${go} ]; do sleep 0.01; done; echo to a pipe that nobody reads; echo late > ${file}) & echo said`,
        {
          lingerMs: 50_000
        }
      )
      assert.strictEqual(stdout, "said\n")
      writeFileSync(go, "")
      yield* Effect.promise(() => until(() => existsSync(file) && readFileSync(file, "utf8") === "late\n"))
    }))

  it.live("ends what went on in the background for too long, wherever it went", () =>
    Effect.gen(function*() {
      const name = word()
      yield* run(
        `(exec -a ${name} sleep 1000) & setsid bash -c 'trap "" TERM; while :; do sleep 0.01; done' ${name} & :`,
        {
          lingerMs: 100
        }
      )
      yield* Effect.promise(() => until(() => alive(name).length === 0))
    }))

  it.live("tells the first line while the command still runs, once", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const finished = join(home, word())
      const onFirstLine = (line: string) => {
        lines.push(line)
        writeFileSync(finished, "")
      }
      const { stdout } = yield* run(
        `printf fir; printf 'st\\nsecond\\n'; until [ -f ${finished} ]; do sleep 0.01; done; echo third`,
        {
          onFirstLine
        }
      )
      assert.deepEqual([lines, stdout], [["first"], "first\nsecond\nthird\n"])
    }))

  it.live("keeps what comes through a pipe after the command itself has ended", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run("exec > >(cat); echo through a pipe")
      assert.strictEqual(stdout, "through a pipe\n")
    }))

  it.live("ends what forks faster than it is counted", () =>
    Effect.gen(function*() {
      const name = word()
      const ready = join(home, name)
      const script =
        `f() { while :; do (exec -a ${name} sleep 1000) & (exec -a ${name} sleep 1000) & sleep 0.005; done; }; trap '' TERM; touch ${ready}; f`
      const fiber = yield* Effect.forkChild(run(script, { graceMs: 50 }))
      yield* Effect.promise(() => until(() => existsSync(ready) && alive(name).length > 4))
      yield* Fiber.interrupt(fiber)
      assert.deepEqual(alive(name), [])
    }))

  it.live("runs many at once without mixing them up", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(Array.from({ length: 20 }, (_, index) => index), (index) =>
        run("cat", { input: `${index}` }), {
        concurrency: 10
      })
      assert.deepEqual(
        all.map(({ stdout }) =>
          Number(stdout)
        ),
        Array.from({ length: 20 }, (_, index) => index)
      )
    }))
})
