/**
 * Finds all processes that a command started: those of its group, and on Linux those with its mark in their
 * environment.
 */
import * as Result from "effect/Result"
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import * as Guardian from "./guardian.ts"

/** The first process of a command, which leads its group. */
export interface Leader {
  readonly pid: number
  /** `NAME=value` in the environment of all its children. */
  readonly mark: string
  /** When it started, in ticks of the system. Absent on systems without `/proc`. */
  readonly started: number | undefined
}

interface Status {
  readonly state: string
  readonly group: number
  readonly started: number
}

/** The data of the system about a process, while it exists. */
export const statusOf = (pid: number | string): Status | undefined => {
  const text = Result.getOrUndefined(Result.try(() => readFileSync(`/proc/${pid}/stat`, "latin1")))
  if (text === undefined) return undefined
  // The name of the program is in parentheses and can contain any character.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return { state: fields[0]!, group: Number(fields[2]), started: Number(fields[19]) }
}

/** The last process id that the system assigned; 0 if it is unknown. */
const newest = (): number => {
  const text = Result.getOrElse(Result.try(() => readFileSync("/proc/loadavg", "latin1")), () => "")
  return Number(/\d+$/.exec(text.trim())?.[0] ?? 0)
}

const isMarked = (pid: string, mark: string): boolean =>
  Result.match(Result.try(() => readFileSync(`/proc/${pid}/environ`, "latin1")), {
    onSuccess: (text) => text.startsWith(`${mark}\0`) || text.includes(`\0${mark}\0`),
    onFailure: () => false
  })

/** Returns the processes that still run, as ids for signals. */
const running = ({ mark, pid, started }: Leader): ReadonlyArray<number> => {
  // Windows has no groups.
  const group = process.platform === "win32" ? pid : -pid
  if (started === undefined) return signal(group, 0) ? [group] : []
  const all = Result.getOrElse(Result.try(() => readdirSync("/proc")), () => [])
  // The system assigns ids in order, until it starts again from the lowest one.
  const first = newest() >= pid ? pid : 0
  return all.flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) < first || Number(name) === process.pid) return []
    const status = statusOf(name)
    if (status === undefined || status.started < started || /[ZX]/.test(status.state)) return []
    return status.group === pid || isMarked(name, mark) ? [Number(name)] : []
  })
}

const signal = (pid: number, name: NodeJS.Signals | 0): boolean =>
  Result.isSuccess(Result.try(() => process.kill(pid, name)))

const leaders = new Set<Leader>()

/** When the host exits there is no time for SIGTERM. */
const leave = (): void => {
  for (const leader of leaders) for (const pid of running(leader)) signal(pid, "SIGKILL")
}

/** Starts what kills the processes when the host is killed, so that it is there before they are. */
export const expect = (): void => {
  if (leaders.size === 0) Guardian.wake()
}

/** Nothing was started, although something was expected. */
export const expectNothing = (): void => {
  if (leaders.size === 0) Guardian.rest()
}

/** Kills the processes when the host exits or is killed. Returns a function that undoes this. */
export const watch = (leader: Leader): () => void => {
  if (leaders.size === 0) process.on("exit", leave)
  leaders.add(leader)
  return () => {
    if (!leaders.delete(leader) || leaders.size > 0) return
    process.off("exit", leave)
    Guardian.rest()
  }
}

/** Whether a process still runs. */
export const isRunning = (leader: Leader): boolean => running(leader).length > 0

/**
 * Waits `ms` milliseconds for the remaining processes to end, without keeping the host alive. Then, or when `over`
 * aborts, stops them.
 */
export const outlive = async (leader: Leader, ms: number, graceMs: number, over: AbortSignal): Promise<void> => {
  const end = performance.now() + ms
  for (let step = 10; performance.now() < end && !over.aborted; step = Math.min(step * 2, 1_000)) {
    await pause(Math.min(step, Math.max(1, end - performance.now())), undefined, { ref: false, signal: over }).catch(
      () => {}
    )
    if (!isRunning(leader)) return
  }
  await stop(leader, graceMs)
}

/**
 * Stops everything that still runs: with SIGTERM, and after `graceMs` with SIGKILL. It uses real time, also in tests
 * with a virtual clock.
 */
export const stop = async (leader: Leader, graceMs: number): Promise<void> => {
  const asked = new Set<number>()
  for (let waited = 0, step = 5;; waited += step, step = Math.min(step * 2, 50)) {
    const left = running(leader)
    if (left.length === 0) return
    if (waited >= graceMs) break
    for (const pid of left) {
      if (asked.has(pid)) continue
      asked.add(pid)
      signal(pid, "SIGTERM")
    }
    await pause(step)
  }
  // A process that forks while it is killed leaves children, so this looks several times.
  for (let round = 0; round < 100; round++) {
    const left = running(leader)
    if (left.length === 0) return
    for (const pid of left) signal(pid, "SIGKILL")
    await pause(round < 10 ? 5 : 50)
  }
}
