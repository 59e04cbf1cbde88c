import * as AuditFile from "@belay/hooks/AuditFile"
import type { Entry } from "@belay/hooks/AuditLog"
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const entry = (step: number): Entry => ({
  time: 0,
  event: "turn_start",
  session: "s",
  turn: 1,
  step,
  agent: "agent"
})

const inFolder = (use: (path: string) => void): void => {
  const folder = mkdtempSync(join(tmpdir(), "belay-audit-"))
  try {
    use(join(folder, "audit.jsonl"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const steps = (path: string): ReadonlyArray<number> =>
  readFileSync(path, "utf8").trimEnd().split("\n").map((line) => (JSON.parse(line) as Entry).step)

describe("AuditFile", () => {
  it("appends a line for each entry to a file that only the owner can read", () =>
    inFolder((path) => {
      const sink = AuditFile.make(path)
      for (const step of [1, 2, 3]) sink(entry(step))
      assert.deepStrictEqual(steps(path), [1, 2, 3])
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    }))

  it("continues in a new file after the file was moved", () =>
    inFolder((path) => {
      const sink = AuditFile.make(path)
      sink(entry(1))
      renameSync(path, `${path}.1`)
      sink(entry(2))
      sink(entry(3))
      assert.deepStrictEqual(steps(`${path}.1`), [1])
      assert.deepStrictEqual(steps(path), [2, 3])
    }))

  it("continues in the file that a log rotation has put in its place", () =>
    inFolder((path) => {
      const sink = AuditFile.make(path)
      sink(entry(1))
      renameSync(path, `${path}.1`)
      writeFileSync(path, "", { mode: 0o600 })
      sink(entry(2))
      assert.deepStrictEqual(steps(`${path}.1`), [1])
      assert.deepStrictEqual(steps(path), [2])
    }))

  it("finds out about a rotation in the middle of a turn", async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-audit-"))
    const path = join(folder, "audit.jsonl")
    const sink = AuditFile.make(path)
    const write = (step: number) => sink({ ...entry(step), event: "llm_start" })
    write(1)
    renameSync(path, `${path}.1`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    write(2)
    assert.deepStrictEqual(steps(path), [2])
    rmSync(folder, { recursive: true })
  })

  it("makes a new file after the file was removed", () =>
    inFolder((path) => {
      const sink = AuditFile.make(path)
      sink(entry(1))
      rmSync(path)
      sink(entry(2))
      assert.deepStrictEqual(steps(path), [2])
    }))

  it("appends at the end of a file that was truncated, or that another sink writes too", () =>
    inFolder((path) => {
      const sinks = [AuditFile.make(path), AuditFile.make(path)]
      sinks[0]!(entry(1))
      sinks[1]!(entry(2))
      assert.deepStrictEqual(steps(path), [1, 2])
      writeFileSync(path, "")
      sinks[0]!(entry(3))
      sinks[1]!(entry(4))
      assert.deepStrictEqual(steps(path), [3, 4])
    }))

  it("fails when the folder does not exist, and works when it was made", () =>
    inFolder((path) => {
      const inside = join(path, "audit.jsonl")
      const sink = AuditFile.make(inside)
      assert.throws(() => void sink(entry(1)), /ENOENT/)
      mkdirSync(path)
      sink(entry(2))
      assert.deepStrictEqual(steps(inside), [2])
    }))

  it("begins a new line after a line that a process which ended has left unfinished", () =>
    inFolder((path) => {
      writeFileSync(path, `${JSON.stringify(entry(1))}\n{"time":0,"ev`, { mode: 0o600 })
      const sink = AuditFile.make(path)
      sink(entry(2))
      sink(entry(3))
      const [first, second, third] = [1, 2, 3].map((step) => JSON.stringify(entry(step)))
      assert.strictEqual(readFileSync(path, "utf8"), `${first}\n{"time":0,"ev\n${second}\n${third}\n`)
    }))

  it("begins a new line after a line that did not fit on the disk", () =>
    inFolder((path) => {
      // The largest file that the process may write stands for a full disk.
      const program = `
        import * as AuditFile from "@belay/hooks/AuditFile"
        import { truncateSync } from "node:fs"
        process.on("SIGXFSZ", () => {})
        const entry = (step) => ({ time: 0, event: "turn_start", session: "s", turn: 1, step, agent: "a".repeat(300) })
        const sink = AuditFile.make(process.argv[1])
        let failed = 0
        for (let step = 1; step <= 20; step++) try { sink(entry(step)) } catch { failed++ }
        truncateSync(process.argv[1], 500)
        sink(entry(21))
        console.log(failed)
      `
      const node = [process.execPath, "--conditions=@belay/source", "--input-type=module", "-e", program, path]
      const { stdout, stderr } = spawnSync("sh", ["-c", `ulimit -f 4; exec "$@"`, "sh", ...node], { encoding: "utf8" })
      assert.isAbove(Number(stdout), 0, stderr)
      const lines = readFileSync(path, "utf8").trimEnd().split("\n")
      assert.lengthOf(lines, 3)
      assert.strictEqual((JSON.parse(lines[2]!) as Entry).step, 21)
    }))

  it("closes the file of a sink that nobody has any more, and no other", () =>
    inFolder((path) => {
      const program = `
        import * as AuditFile from "@belay/hooks/AuditFile"
        import { fstatSync, openSync, readdirSync, renameSync } from "node:fs"
        const write = (sink) => sink({ time: 0, event: "turn_start", session: "s", turn: 1, step: 1, agent: "a" })
        // The file that the sink closes first and one that is opened later have the same number.
        const before = openSync(process.argv[1], "a")
        void (() => {
          const sink = AuditFile.make(process.argv[1])
          for (let time = 1; time <= 3; time++) {
            write(sink)
            renameSync(process.argv[1], process.argv[1] + ".1")
          }
        })()
        const isOpen = (file) => {
          try { return fstatSync(file) } catch { return false }
        }
        while (isOpen(before + 1)) {
          gc()
          await new Promise((resolve) => setImmediate(resolve))
        }
        await new Promise((resolve) => setImmediate(resolve))
        console.log("done")
      `
      const { stderr, stdout } = spawnSync(process.execPath, [
        "--expose-gc",
        "--conditions=@belay/source",
        "--input-type=module",
        "-e",
        program,
        path
      ], { encoding: "utf8" })
      assert.strictEqual(stdout, "done\n", stderr)
    }))

  it("keeps one file open, however often the file is moved", () =>
    inFolder((path) => {
      const program = `
        import * as AuditFile from "@belay/hooks/AuditFile"
        import { readFileSync, renameSync } from "node:fs"
        const sink = AuditFile.make(process.argv[1])
        for (let step = 1; step <= 200; step++) {
          sink({ time: 0, event: "turn_start", session: "s", turn: 1, step, agent: "a" })
          renameSync(process.argv[1], process.argv[1] + ".1")
        }
        // This opens one file more.
        readFileSync(process.argv[1] + ".1")
        console.log("done")
      `
      const node = [process.execPath, "--conditions=@belay/source", "--input-type=module", "-e", program, path]
      const { stderr, stdout } = spawnSync("sh", ["-c", `ulimit -n 100; exec "$@"`, "sh", ...node], {
        encoding: "utf8"
      })
      assert.strictEqual(stdout, "done\n", stderr)
    }))
})
