/** Many calls of one session at once, and calls that are killed. */
import { named } from "@belay/hook-files/Wires"
import { DatabaseSync } from "node:sqlite"
import { assert } from "vitest"
import { payloadOf } from "../../../src/internal/guard/sample.ts"
import { call, projectWith, runWith } from "./guarded.ts"

const limited = (limit: number): string =>
  `import { ToolCallLimit } from "@belay/hooks"
export default { hooks: [ToolCallLimit.make({ perSession: ${limit} })] }`

/** Makes calls at the same time, of which only half may run. */
export const callAtOnce = async (count: number): Promise<void> => {
  const { claude } = projectWith(limited(count / 2))
  await claude("UserPromptSubmit", { prompt: "go" })
  const answers = await Promise.all(
    Array.from(
      { length: count },
      (_, index) => claude("PreToolUse", call(`c${index}`, "Bash", { command: `echo ${index}` }))
    )
  )
  const allowed = answers.filter(({ hookSpecificOutput }) => hookSpecificOutput === undefined)
  assert.strictEqual(allowed.length, count / 2)
}

/** Kills calls at moments between the start and the end of a call. The next one must count what was answered. */
export const killCalls = async (count: number): Promise<void> => {
  const limit = 1_000
  const { claude, cwd, home } = projectWith(limited(limit))
  const started = performance.now()
  await claude("UserPromptSubmit", { prompt: "go" })
  const usual = performance.now() - started
  let answered = 0
  for (let index = 0; index < count; index++) {
    const payload = payloadOf(named("claude")!, "PreToolUse", {
      session: "s1",
      cwd,
      ...call(`k${index}`, "Bash", { command: `echo ${index}` })
    })
    const killAfterMs = (usual * 1.3 * (index + 1)) / count
    const { signal, stdout } = await runWith(["--system", "claude"], JSON.stringify(payload), {
      cwd,
      home,
      killAfterMs
    })
    if (stdout === "{}") answered++
    else assert.strictEqual(signal, "SIGKILL", stdout)
  }
  assertCounted(home, answered, count)
  assert.deepStrictEqual(await claude("PreToolUse", call("after", "Bash", { command: "ls" })), {})
}

/** What is left of a limit is what nobody has used. A call that was killed may count, one that was answered must. */
const assertCounted = (home: string, answered: number, sent: number): void => {
  const database = new DatabaseSync(`${home}/.belay/guard/sessions.db`)
  const state = String(database.prepare("SELECT state FROM sessions").get()!["state"])
  const [whole] = Object.values(database.prepare("PRAGMA integrity_check").get()!)
  database.close()
  const inSession = Number(/"inSession":(\d+)/.exec(state)?.[1] ?? 0)
  assert.isAtLeast(inSession, answered)
  assert.isAtMost(inSession, sent)
  assert.strictEqual(whole, "ok")
}

/** Kills three of ten calls that run at the same time, at random moments, until so many were killed. */
export const killAmongMany = async (kills: number): Promise<void> => {
  const { claude, cwd, home } = projectWith(limited(1_000))
  const started = performance.now()
  await claude("UserPromptSubmit", { prompt: "go" })
  const usual = performance.now() - started
  let [answered, killed, sent] = [0, 0, 0]
  while (killed < kills) {
    const ended = await Promise.all(Array.from({ length: 10 }, (_, index) => {
      const id = `c${sent++}`
      const payload = payloadOf(named("claude")!, "PreToolUse", { session: "s1", cwd, ...call(id, "Bash", { id }) })
      // Ten at a time take longer than one.
      const victim = index % 3 === 1 ? { killAfterMs: Math.random() * usual * 8 } : {}
      return runWith(["--system", "claude"], JSON.stringify(payload), { cwd, home, ...victim })
    }))
    for (const { signal, stderr, stdout } of ended) {
      if (stdout === "{}") answered++
      else assert.strictEqual(signal, "SIGKILL", stderr)
      if (signal === "SIGKILL") killed++
    }
    assertCounted(home, answered, sent)
  }
  // Nobody holds a lock, so a call is answered as soon as it would be anyway.
  const after = await runWith(
    ["--system", "claude", "--limit", "10"],
    JSON.stringify(payloadOf(named("claude")!, "PreToolUse", { session: "s1", cwd, ...call("last", "Bash", {}) })),
    { cwd, home }
  )
  assert.strictEqual(after.stdout, "{}", after.stderr)
}
