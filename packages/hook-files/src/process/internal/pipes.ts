/**
 * The standard streams of a process. Node uses sockets, and on Linux a script cannot open these as `/dev/stdin` or
 * `/dev/stderr`. So on Linux the input is a file, and the output goes through pipes that `mkfifo` creates. Deno uses
 * pipes anyway.
 */
import * as Result from "effect/Result"
import { type ChildProcess, execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { closeSync, constants, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from "node:fs"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"

/** Lets the host exit while the stream is open, if the stream supports this. */
type Output = Readable & { readonly ref?: () => unknown; readonly unref?: () => unknown }

interface Streams {
  readonly stdout: Output
  readonly stderr: Output
}

export interface Pipes extends Streams {
  /** The ends that the process gets. */
  readonly theirs: [number, number, number]
  /** Closes the ends of the process on this side, after it started or failed to start. */
  readonly handOver: () => void
}

/**
 * Creates the streams and writes the input. Returns nothing if this is not possible, and on systems where sockets work.
 */
export const open = async (input: string): Promise<Pipes | undefined> => {
  if (process.platform !== "linux" || process.versions["deno"] !== undefined) return undefined
  const pair = await take()
  const stdin = pair === undefined ? undefined : written(input)
  if (pair === undefined) return undefined
  const [out, err] = pair
  const [stdout, stderr] = pair.map(({ read }) => reader(read))
  if (stdin === undefined) {
    for (const { write } of pair) closeSync(write)
    stdout!.destroy()
    stderr!.destroy()
    return undefined
  }
  const theirs: [number, number, number] = [stdin, out.write, err.write]
  return { stdout: stdout!, stderr: stderr!, theirs, handOver: () => theirs.forEach((fd) => closeSync(fd)) }
}

/** The part of Bun that reads a pipe. Its sockets cannot. */
interface Bun {
  readonly file: (fd: number) => { readonly stream: () => ReadableStream }
}

const { Bun: bun } = globalThis as { readonly Bun?: Bun }

const reader = (fd: number): Output => {
  if (bun === undefined) return new Socket({ fd, writable: false })
  // Bun leaves the file open.
  return Readable.fromWeb(bun.file(fd).stream()).once("close", () => closeSync(fd))
}

/** A pipe: the file descriptors of its two ends. */
interface Pipe {
  readonly read: number
  readonly write: number
}

type Pair = readonly [out: Pipe, err: Pipe]

/**
 * Unused pipes. `mkfifo` is a separate process that creates many pipes as fast as one. Their names are already deleted.
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
  // An open pipe does not need its name.
  rmSync(folder, { recursive: true, force: true })
  for (let index = 0; index + 1 < pipes.length; index += 2) ready.push([pipes[index]!, pipes[index + 1]!])
  return ready.length > 0
}

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** The writing end can be opened without waiting when the reading end is open. */
const connect = (path: string): Pipe => {
  const read = openSync(path, O_RDONLY | O_NONBLOCK)
  return { read, write: openSync(path, O_WRONLY) }
}

/** Returns a file with the input, opened for reading and already deleted. Returns nothing if it cannot be created. */
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

/** The streams of Node. A command does not have to read its input. */
export const sockets = ({ stderr, stdin, stdout }: ChildProcess, input: string): Streams | undefined => {
  stdin?.on("error", () => {}).end(input)
  return stdout === null || stderr === null ? undefined : { stdout, stderr }
}
