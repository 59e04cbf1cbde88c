/**
 * Appends the audit log to a file, one line of JSON for each entry.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { nodeFs } from "../internal/nodeFs.ts"
import * as AuditLog from "./AuditLog.ts"

/**
 * Makes a sink that appends to the file at `path`. Only the owner may read the file. A line is written completely
 * before the agent continues.
 *
 * The file stays open. If another program moves or removes it, such as a log rotation, the sink continues with a new
 * file at `path`: at the latest with the next turn, and with every line that is written more than a millisecond later.
 *
 * @example
 * ```ts
 * import * as AuditFile from "@belay/hooks/AuditFile"
 * import * as AuditLog from "@belay/hooks/AuditLog"
 *
 * const hook = AuditLog.make({ sink: AuditFile.make("audit.jsonl") })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (path: string): AuditLog.Sink => {
  let open: OpenFile | undefined
  let checkedAt = 0
  const isInPlace = ({ dev, ino }: OpenFile): boolean => {
    const found = nodeFs().statSync(path, { throwIfNoEntry: false })
    return found !== undefined && found.ino === ino && found.dev === dev
  }
  const fileFor = ({ event }: AuditLog.Entry): OpenFile => {
    const now = performance.now()
    if (open !== undefined) {
      if (now - checkedAt < 1 && !beginnings.has(event)) return open
      checkedAt = now
      if (isInPlace(open)) return open
      const moved = open.file
      open = undefined
      closer.unregister(sink)
      nodeFs().closeSync(moved)
    }
    const file = nodeFs().openSync(path, "a", 0o600)
    const { dev, ino } = nodeFs().fstatSync(file)
    open = { file, dev, ino, isWhole: false }
    checkedAt = now
    closer.register(sink, file, sink)
    return open
  }
  let fs: ReturnType<typeof nodeFs> | undefined
  const sink: AuditLog.Sink = (entry) => {
    fs ??= nodeFs()
    const open = fileFor(entry)
    const start = open.isWhole || endsWithLine(path) ? "" : "\n"
    open.isWhole = false
    fs.appendFileSync(open.file, `${start}${AuditLog.line(entry)}\n`)
    open.isWhole = true
  }
  return sink
}

/**
 * Whether a file is empty or ends with a whole line. The disk may have been full, or a process may have ended, in the
 * middle of a line. A file that cannot be read counts as whole.
 */
const endsWithLine = (path: string): boolean =>
  Result.getOrElse(
    Result.try(() => {
      const { closeSync, fstatSync, openSync, readSync } = nodeFs()
      const file = openSync(path, "r")
      const last = new Uint8Array(1)
      const { size } = fstatSync(file)
      const count = size === 0 ? 0 : readSync(file, last, 0, 1, size - 1)
      closeSync(file)
      return count === 0 || last[0] === 10
    }),
    () => true
  )

/** Entries before which the file is always looked for, so that a turn after a log rotation is in the new file. */
const beginnings: ReadonlySet<AuditLog.EntryName> = new Set(["session_start", "turn_start"])

/** An open file, and what identifies it after it was moved. */
interface OpenFile {
  readonly file: number
  readonly dev: number
  readonly ino: number
  /** Whether the last line that this sink has written is whole. False until it has written one. */
  isWhole: boolean
}

/** Closes the files of sinks that nobody has any more. */
const closer = new FinalizationRegistry<number>((file) => nodeFs().closeSync(file))
