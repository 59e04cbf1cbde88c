/**
 * Runs a command of a hook file as a process, and ends everything that the command started.
 *
 * @since 0.1.0
 */
import { assertArguments } from "@belay/core/ArgumentCheck"
import * as Deadline from "@belay/core/Deadline"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { withoutColors } from "./internal/colors.ts"
import { environment, passed, shell } from "./internal/environment.ts"
import * as Guardian from "./internal/guardian.ts"
import * as Pipes from "./internal/pipes.ts"
import { expect, expectNothing, isRunning, type Leader, outlive, statusOf, stop, watch } from "./internal/processes.ts"

/**
 * Variables of the host that every command inherits if they are set: those for programs, the user, the language and the
 * desktop. Commands also inherit `LC_*`.
 *
 * @category models
 * @since 0.1.0
 */
export const inherited: ReadonlyArray<string> = passed

/** The command to run. @category models @since 0.1.0 */
export interface Request {
  /** A line for the shell (bash if it is installed, otherwise sh). With `args` it is a program. */
  readonly command: string
  readonly args?: ReadonlyArray<string>
  readonly cwd: string
  /** Written to standard input, which is then closed. */
  readonly input: string
  /** More variables, in addition to those that every command inherits (`inherited` and `LC_*`). */
  readonly env?: { readonly [name: string]: string }
  /** Names of more variables of the host that the command inherits. */
  readonly passEnv?: ReadonlyArray<string>
  readonly timeoutMs: number
  /** Milliseconds between SIGTERM and SIGKILL. Default 2,000. */
  readonly graceMs?: number
  /**
   * Milliseconds that background processes may run after the command ended by itself, for example to play a sound or
   * write a log line. Belay does not wait for them, and they end with the host. Default 10,000. With 0 they are ended
   * at once, and Belay waits for their end.
   */
  readonly lingerMs?: number
  /** Receives the background processes that the command left, if there are any. */
  readonly onLinger?: (left: Left) => void
  /**
   * The most bytes of standard output, and of standard error, that are kept. A command that writes sixteen times as
   * much to one of them is ended. Default 1,048,576.
   */
  readonly maxOutput?: number
  /** Receives the first line of standard output as soon as it is complete, without its line break. */
  readonly onFirstLine?: (line: string) => void
}

/** The processes that a command left in the background. @category models @since 0.1.0 */
export interface Left {
  /** Resolves when all of them have ended. */
  readonly ended: Promise<void>
  /** Ends them now. */
  readonly end: () => void
}

/** How a command ended. @category models @since 0.1.0 */
export interface Finished {
  /**
   * Absent if a signal, the timeout or too much output ended it, and if output is missing although the code is 0. 127
   * if it could not be started.
   */
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
  readonly timedOut: boolean
  /** It wrote more than `maxOutput`, so only the beginning was kept. */
  readonly overflowed: boolean
  /** It was an agent that gave no answer within its number of model calls. */
  readonly exhausted?: true
  readonly durationMs: number
}

/** Runs commands: `run`, or a sandbox of the host. @category models @since 0.1.0 */
export type Runner = (request: Request) => Effect.Effect<Finished>

/**
 * Runs a command in its own process group, without a terminal. On interruption or timeout the whole group is killed:
 * with SIGTERM, and after `graceMs` with SIGKILL. After a normal exit, background processes are killed after
 * `lingerMs`. On Linux this includes processes that left the group, by a mark in their environment. It never fails, but
 * throws a `ConfigError` if a required field is missing.
 *
 * @example
 * ```ts
 * import * as Command from "@belay/hook-files/Command"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const { exitCode, stdout } = yield* Command.run({
 *     command: "cat; exit 3",
 *     cwd: "/",
 *     input: "hello",
 *     timeoutMs: 5_000
 *   })
 *   console.log(exitCode, stdout) // 3 "hello"
 * })
 * ```
 * @category running
 * @since 0.1.0
 */
export const run: Runner = (request) => {
  const { command, cwd, input, timeoutMs } = Object(request) as Partial<Request>
  const areRight = typeof command === "string" && typeof cwd === "string" && typeof input === "string" &&
    typeof timeoutMs === "number" && timeoutMs >= 0
  assertArguments(areRight, "Command.run", ["command", "cwd", "input", "timeoutMs"], [command, cwd, input, timeoutMs])
  return runProcess(request)
}

const runProcess = Effect.fnUntraced(function*(request: Request): Effect.fn.Return<Finished> {
  const { graceMs = 2_000, lingerMs = 10_000, timeoutMs } = request
  const begin = yield* Deadline.now
  const { how, output } = yield* Effect.acquireUseRelease(
    Effect.promise(async () => start(request, await Pipes.open(request.input))),
    (child) =>
      Effect.map(
        Effect.raceFirst(
          Effect.promise(() => child.ended),
          Effect.as(Effect.sleep(Math.min(timeoutMs, 86_400_000)), "timeout" as const)
        ),
        (how) => ({ how, output: child.output })
      ),
    (child, exit) => {
      const isOver = Exit.isSuccess(exit) && typeof exit.value.how === "object"
      return Effect.promise(() => child.end(graceMs, isOver ? lingerMs : 0))
    }
  )
  const durationMs = Math.round((yield* Deadline.now) - begin)
  const { overflowed, stderr, stdout } = output()
  return {
    exitCode: typeof how !== "object" || (overflowed && how.exitCode === 0) ? undefined : how.exitCode,
    stdout,
    stderr: typeof how === "object" && how.error !== undefined ? how.error : stderr,
    timedOut: how === "timeout",
    overflowed,
    durationMs
  }
})

interface Child {
  readonly ended: Promise<{ readonly exitCode: number | undefined; readonly error?: string } | "overflow">
  /** Ends the remaining processes, at once or after `lingerMs`, and closes the streams. */
  readonly end: (graceMs: number, lingerMs: number) => Promise<void>
  readonly output: () => { readonly stdout: string; readonly stderr: string; readonly overflowed: boolean }
}

const start = (request: Request, pipes: Pipes.Pipes | undefined): Child => {
  const { args, command, cwd, env = {}, input, maxOutput = 1_048_576, onFirstLine, onLinger, passEnv = [] } = request
  const mark = Guardian.mark()
  expect()
  const spawned = Result.try(() =>
    spawn(args === undefined ? shell() : command, args === undefined ? ["-c", command] : [...args], {
      cwd,
      env: { ...environment(passEnv, env), [mark.name]: mark.value },
      detached: true,
      windowsHide: true,
      stdio: pipes?.theirs ?? "pipe"
    })
  )
  pipes?.handOver()
  const streams = pipes ?? (Result.isSuccess(spawned) ? Pipes.sockets(spawned.success, input) : undefined)
  if (Result.isFailure(spawned) || streams === undefined) {
    pipes?.stdout.destroy()
    pipes?.stderr.destroy()
    expectNothing()
    return unstarted(request, Result.isFailure(spawned) ? spawned.failure : "no streams")
  }
  const child = spawned.success
  const pid = child.pid
  const leader: Leader | undefined = pid === undefined
    ? undefined
    : { pid, mark: `${mark.name}=${mark.value}`, started: statusOf(pid)?.started }
  const unwatch = leader === undefined ? undefined : watch(leader)
  if (leader === undefined) expectNothing()
  const closed = Promise.all(
    [streams.stdout, streams.stderr].map((stream) => new Promise((resolve) => void stream.once("close", resolve)))
  )
  const kept = { stdout: [] as Array<Buffer>, stderr: [] as Array<Buffer> }
  let isTooMuch = false
  const ended: Child["ended"] = new Promise((resolve) => {
    child.once("error", (error) => resolve({ exitCode: 127, error: refusal(request, error) }))
    // A process at the other end of a pipe may still write.
    child.once("exit", (exitCode) => void drained(closed).then(() => resolve({ exitCode: exitCode ?? undefined })))
    let listener = onFirstLine
    for (const name of ["stdout", "stderr"] as const) {
      let size = 0
      streams[name].on("data", (chunk: Buffer) => {
        if (size < maxOutput) kept[name].push(chunk.subarray(0, maxOutput - size))
        size += chunk.length
        if (name === "stdout" && listener !== undefined && chunk.includes("\n")) {
          listener(text(kept.stdout).split("\n", 1)[0]!)
          listener = undefined
        }
        if (size > maxOutput) isTooMuch = true
        if (size > maxOutput * 16) resolve("overflow")
      })
      streams[name].on("error", () => {})
    }
  })
  /** A process that was not found may still hold the pipes open. */
  const letGo = () => {
    unwatch?.()
    child.stdin?.destroy()
    streams.stdout.destroy()
    streams.stderr.destroy()
    // Deno throws if there is no process.
    if (pid !== undefined) child.unref()
  }
  return {
    ended,
    end: async (graceMs, lingerMs) => {
      if (leader !== undefined && lingerMs === 0) await stop(leader, graceMs)
      else if (leader !== undefined && isRunning(leader)) {
        for (const stream of [streams.stdout, streams.stderr]) {
          // Bun counts both, from 0.
          stream.ref?.()
          stream.unref?.()
        }
        const over = new AbortController()
        const ended = outlive(leader, lingerMs, graceMs, over.signal).then(letGo)
        return onLinger?.({ ended, end: () => over.abort() })
      }
      await drained(closed)
      letGo()
    },
    output: () => ({ stdout: text(kept.stdout), stderr: text(kept.stderr), overflowed: isTooMuch })
  }
}

/** Waits until the pipes are closed, but not for long. */
const drained = (closed: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 200)
    void closed.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })

const text = (chunks: ReadonlyArray<Buffer>): string => withoutColors(new TextDecoder().decode(Buffer.concat(chunks)))

const refusal = ({ args, command, cwd }: Request, error: unknown): string => {
  const why = !existsSync(cwd) ? "there is no such folder" : error instanceof Error ? error.message : String(error)
  return `${args === undefined ? "the shell" : command} cannot be started in ${cwd}: ${why}`
}

const unstarted = (request: Request, error: unknown): Child => ({
  ended: Promise.resolve({ exitCode: 127, error: refusal(request, error) }),
  end: () => Promise.resolve(),
  output: () => ({ stdout: "", stderr: "", overflowed: false })
})
