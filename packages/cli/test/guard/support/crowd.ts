/** Many calls of one session at once, and calls that are killed. */
import { named } from "@belay/hook-files/Wires"
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
  // The rest of the limit is what nobody has used. A call that was killed may count, one that was answered must.
  const { DatabaseSync } = await import("node:sqlite")
  const database = new DatabaseSync(`${home}/.belay/guard/sessions.db`)
  const state = String(database.prepare("SELECT state FROM sessions").get()!["state"])
  database.close()
  const inSession = Number(/"inSession":(\d+)/.exec(state)?.[1] ?? 0)
  assert.isAtLeast(inSession, answered)
  assert.isAtMost(inSession, count)
  assert.deepStrictEqual(await claude("PreToolUse", call("after", "Bash", { command: "ls" })), {})
}
