/**
 * The standard streams of a process. On Linux those that Node makes are sockets, which nobody can open by their names:
 * a script that reads `/dev/stdin`,
 * or writes to `/dev/stderr`, would break. There its input is a file, and what it writes goes through pipes that
 * `mkfifo` makes.
 */
import * as Result from "effect/Result"
import { type ChildProcess, execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { closeSync, constants, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from "node:fs"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"

/** Lets the host end while it is open, where that can be. */
type Output = Readable & { readonly unref?: () => unknown }

interface Streams {
  readonly stdout: Output
  readonly stderr: Output
}

export interface Pipes extends Streams {
  /** The ends for the process. */
  readonly theirs: [number, number, number]
  /** The process has its ends, or never will: they are closed here. */
  readonly handOver: () => void
}

/** Makes the streams, and writes the input; nothing where that cannot be, and where sockets will do. */
export const open = async (input: string): Promise<Pipes | undefined> => {
  if (process.platform !== "linux") return undefined
  const pair = await take()
  const stdin = pair === undefined ? undefined : written(input)
  if (pair === undefined) return undefined
  const [out, err] = pair
  const [stdout, stderr] = pair.map(({ read }) => new Socket({ fd: read, writable: false }))
  if (stdin === undefined) {
    for (const { write } of pair) closeSync(write)
    stdout!.destroy()
    stderr!.destroy()
    return undefined
  }
  const theirs: [number, number, number] = [stdin, out.write, err.write]
  return { stdout: stdout!, stderr: stderr!, theirs, handOver: () => theirs.forEach((fd) => closeSync(fd)) }
}

/** A pipe, by the numbers of its ends. */
interface Pipe {
  readonly read: number
  readonly write: number
}

type Pair = readonly [out: Pipe, err: Pipe]

/**
 * Pipes that nobody uses yet: `mkfifo` is a process of its own, and makes many as fast as one. They have no names any
 * more.
 */
const ready: Array<Pair> = []
const batch = 16

let making: Promise<boolean> | undefined

const take = async (): Promise<Pair | undefined> => {
  while (ready.length === 0) {
    making ??= make().finally(() => making = undefined)
    if (!(await making)) return undefined
  }
  return ready.pop()
}

const make = async (): Promise<boolean> => {
  const folder = Result.getOrUndefined(Result.try(() => mkdtempSync(join(tmpdir(), "belay-pipes-"))))
  if (folder === undefined) return false
  const names = Array.from({ length: batch * 2 }, (_, index) => join(folder, String(index)))
  const isDone = await new Promise<boolean>((resolve) =>
    void execFile("mkfifo", ["-m", "600", ...names], (error) => resolve(error === null))
  )
  const pipes = isDone ? names.flatMap((name) => Result.getOrElse(Result.try(() => [connect(name)]), () => [])) : []
  // Their names are needed no longer.
  rmSync(folder, { recursive: true, force: true })
  for (let index = 0; index + 1 < pipes.length; index += 2) ready.push([pipes[index]!, pipes[index + 1]!])
  return ready.length > 0
}

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** An end that writes can be opened, without waiting, once there is one that reads. */
const connect = (path: string): Pipe => {
  const read = openSync(path, O_RDONLY | O_NONBLOCK)
  return { read, write: openSync(path, O_WRONLY) }
}

/** A file with the input, open to be read, that has no name any more; nothing where it cannot be. */
const written = (input: string): number | undefined => {
  const path = join(tmpdir(), `belay-input-${randomUUID()}`)
  const made = Result.try(() => openSync(path, "wx+", 0o600))
  if (Result.isFailure(made)) return undefined
  const { success: fd } = made
  const read = Result.try(() => {
    unlinkSync(path)
    for (let rest = Buffer.from(input); rest.length > 0;) rest = rest.subarray(writeSync(fd, rest))
    return openSync(`/proc/self/fd/${fd}`, O_RDONLY)
  })
  closeSync(fd)
  return Result.getOrUndefined(read)
}

/** Those that Node makes. A command need not read. */
export const sockets = ({ stderr, stdin, stdout }: ChildProcess, input: string): Streams | undefined => {
  stdin?.on("error", () => {}).end(input)
  return stdout === null || stderr === null ? undefined : { stdout, stderr }
}
