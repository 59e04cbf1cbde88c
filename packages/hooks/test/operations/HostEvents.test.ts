import type { HostSignal, SignalAnswer } from "@belay/core/Delegation"
import * as HostEvents from "@belay/hooks/HostEvents"
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { folder, until, write } from "../support/folders.ts"

const listen = (more: Partial<HostEvents.Options> = {}, answer: SignalAnswer = { allowed: true }) => {
  const root = folder()
  const [cwd, home] = [join(root, "p"), join(root, "home")]
  mkdirSync(cwd)
  mkdirSync(home)
  const told: Array<HostSignal> = []
  const session = {
    signal: async (signal: HostSignal) => {
      told.push(signal)
      return answer
    }
  }
  const start = () => HostEvents.start({ session, cwd, home, debounceMs: 20, ...more })
  return { cwd, home, told, start }
}

describe("HostEvents", () => {
  // rows: C-03
  it("signals added, changed and removed files, once for several writes", async () => {
    const { cwd, start, told } = listen({ files: [".env", "package.json", "deep/er/x.txt"] })
    write(join(cwd, "package.json"), "{}")
    await using events = start()
    for (let i = 0; i < 20; i++) write(join(cwd, ".env"), `N=${i}`)
    await until(() => told.length === 1)
    write(join(cwd, "package.json"), `{ "a": 1 }`)
    await until(() => told.length === 2)
    rmSync(join(cwd, ".env"))
    await until(() => told.length === 3)
    write(join(cwd, "unwatched.txt"), "")
    write(join(cwd, "deep/er/x.txt"), "")
    await until(() => told.length === 4)
    // As editors save.
    write(join(cwd, "package.json.tmp"), `{ "b": 2 }`)
    renameSync(join(cwd, "package.json.tmp"), join(cwd, "package.json"))
    await until(() => told.length === 5)
    await events.flush()
    assert.deepEqual(told.map(({ blockable, name, payload }) => [name, payload, blockable]), [
      ["FileChanged", { file_path: join(cwd, ".env"), event: "add" }, false],
      ["FileChanged", { file_path: join(cwd, "package.json"), event: "change" }, false],
      ["FileChanged", { file_path: join(cwd, ".env"), event: "unlink" }, false],
      ["FileChanged", { file_path: join(cwd, "deep/er/x.txt"), event: "add" }, false],
      ["FileChanged", { file_path: join(cwd, "package.json"), event: "change" }, false]
    ])
  })

  // rows: C-03
  it("signals settings that change, and reports the answers of hooks", async () => {
    const answers: Array<unknown> = []
    const { cwd, home, start, told } = listen({
      onAnswer: (event, _payload, answer) => void answers.push([event, answer])
    }, {
      allowed: false,
      reason: "no"
    })
    await using _ = start()
    write(join(cwd, ".claude/settings.json"), "{}")
    await until(() => told.length === 1)
    write(join(home, ".claude/settings.json"), "{}")
    await until(() => told.length === 2)
    assert.deepEqual(told.map(({ blockable, payload }) => [payload, blockable]), [
      [{ source: "project_settings", file_path: join(cwd, ".claude/settings.json") }, true],
      [{ source: "user_settings", file_path: join(home, ".claude/settings.json") }, true]
    ])
    assert.deepEqual(answers[0], ["ConfigChange", { allowed: false, reason: "no" }])
  })

  // rows: C-03
  it("signals instructions at the start and when they change", async () => {
    const { cwd, start, told } = listen({ instructions: ["AGENTS.md", "CLAUDE.local.md"] })
    write(join(cwd, "AGENTS.md"), "Use tabs.")
    await using _ = start()
    await until(() => told.length === 1)
    write(join(cwd, "AGENTS.md"), "Use spaces.")
    await until(() => told.length === 2)
    write(join(cwd, "CLAUDE.local.md"), "Mine.")
    await until(() => told.length === 3)
    assert.deepEqual(told.map(({ payload }) => payload), [
      { file_path: join(cwd, "AGENTS.md"), memory_type: "Project", load_reason: "session_start" },
      { file_path: join(cwd, "AGENTS.md"), memory_type: "Project", load_reason: "change" },
      { file_path: join(cwd, "CLAUDE.local.md"), memory_type: "Local", load_reason: "change" }
    ])
  })

  // rows: C-03
  it("signals a change of the folder, and watches files in the new one", async () => {
    const { cwd, start, told } = listen({ files: [".env"] })
    await using events = start()
    mkdirSync(join(cwd, "web"))
    await events.cd("web")
    await events.cd(".")
    write(join(cwd, ".env"), "")
    write(join(cwd, "web/.env"), "")
    await until(() => told.length === 2)
    await events.flush()
    assert.deepEqual(told.map(({ name, payload }) => [name, payload]), [
      ["CwdChanged", { old_cwd: cwd, new_cwd: join(cwd, "web") }],
      ["FileChanged", { file_path: join(cwd, "web/.env"), event: "add" }]
    ])
  })

  it("sends nothing after it is closed, and continues when a signal fails", async () => {
    const { cwd, start, told } = listen({ files: ["a"] })
    const events = start()
    write(join(cwd, "a"), "")
    await events.close()
    await events.flush()
    assert.deepEqual(told, [])
    const errors: Array<unknown> = []
    const broken = { signal: () => Promise.reject(new Error("gone")) }
    await using again = HostEvents.start({
      session: broken,
      cwd,
      home: cwd,
      config: false,
      files: ["b"],
      onAnswer: (_event, _payload, answer) => void errors.push(answer)
    })
    write(join(cwd, "b"), "")
    await again.flush()
    assert.match(String(errors[0]), /gone/)
    assert.throws(() => HostEvents.start({ session: broken, cwd, debounceMs: -1 }), /host-events\.debounceMs/)
  })
})
