/**
 * The standard streams of a process. On Linux those that Node makes are sockets, which nobody can open by their names: a script that reads `/dev/stdin`,
 * or writes to `/dev/stderr`, would break. There its input is a file, and what it writes goes through pipes that `mkfifo` makes.
 */
import * as Result from "effect/Result"
import { type ChildProcess, execFile } from "node:child_process"
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"

interface Streams {
  readonly stdout: Readable
  readonly stderr: Readable
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
  const made = Result.try(() => mkdtempSync(join(tmpdir(), "belay-pipes-")))
  if (Result.isFailure(made)) return undefined
  const folder = made.success
  const [out, err] = [join(folder, "out"), join(folder, "err")]
  const isDone = await new Promise<boolean>((resolve) =>
    void execFile("mkfifo", ["-m", "600", out, err], (error) => resolve(error === null))
  ).catch(() => false)
  const pipes = isDone ? Result.getOrUndefined(Result.try(() => connect(join(folder, "in"), input, out, err))) : undefined
  // Their names are needed no longer.
  rmSync(folder, { recursive: true, force: true })
  return pipes
}

/** Those that Node makes. A command need not read. */
export const sockets = ({ stderr, stdin, stdout }: ChildProcess, input: string): Streams | undefined => {
  stdin?.on("error", () => {}).end(input)
  return stdout === null || stderr === null ? undefined : { stdout, stderr }
}

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

const connect = (file: string, input: string, out: string, err: string): Pipes => {
  writeFileSync(file, input, { mode: 0o600 })
  // An end that writes can be opened, without waiting, once there is one that reads.
  const [stdout, stderr] = [out, err].map((path) => new Socket({ fd: openSync(path, O_RDONLY | O_NONBLOCK), writable: false }))
  const theirs: [number, number, number] = [openSync(file, O_RDONLY), openSync(out, O_WRONLY), openSync(err, O_WRONLY)]
  return { stdout: stdout!, stderr: stderr!, theirs, handOver: () => theirs.forEach((fd) => closeSync(fd)) }
}
