/** Hook files of Cursor on the command line. */
import { assert, describe, it } from "vitest"
import { world } from "./belay.ts"

const guard =
  "#!/bin/bash\nif jq -r .command | grep -q push; then\n  echo '{\"permission\":\"deny\",\"agent_message\":\"no pushes\"}'\nfi\n"
const files = (hooks: object) => ({
  "home/.cursor/hooks.json": { version: 1, hooks },
  "home/.cursor/hooks/guard.sh": guard
})
const ids = (value: { readonly findings: ReadonlyArray<{ readonly rule: string; readonly level: string }> }) =>
  value.findings.map(({ level, rule }) => `${level} ${rule}`)

describe("hooks of Cursor", () => {
  it("are listed, explained and tried", async () => {
    const { hooks, json } = world(files({ beforeShellExecution: [{ command: "./hooks/guard.sh", matcher: "git " }] }))
    const { stdout } = await hooks("list")
    assert.match(
      stdout,
      /hooks\.json {2}cursor, user\n {2}beforeShellExecution {2}git {3}may refuse the call, ask a person/
    )
    const tried = await json("test", "beforeShellExecution", "--payload", "{\"command\":\"git push\"}")
    assert.deepInclude(tried.value, { decision: "deny", reason: "no pushes" })
    assert.strictEqual(
      (await json("test", "PreToolUse", "--tool", "Bash", "--input", "{\"command\":\"git status\"}")).value.decision,
      "allow"
    )
    const other = await json("test", "beforeShellExecution", "--input", "{\"command\":\"ls\"}")
    assert.match(other.value.runs[0].why, /its matcher "git " does not match/)
    assert.match((await hooks("explain", "beforeReadFile")).stdout, /file_path[\s\S]*permission: "deny"/)
  })

  it("are checked like the files of other systems", async () => {
    const found = async (entry: object, event = "preToolUse") =>
      ids((await world(files({ [event]: [entry] })).json("doctor")).value)
    assert.deepEqual(await found({ command: "./hooks/guard.sh" }, "beforeShellExecution"), [])
    assert.deepEqual(await found({ command: "./hooks/guard.sh || true" }, "beforeShellExecution"), [])
    assert.deepEqual(await found({ command: "./hooks/gone.sh", faillClosed: true }), [
      "error unknown-key",
      "error script-missing"
    ])
    assert.deepEqual(await found({ command: "true", matcher: "Bash|Edit" }), ["error matcher-nothing"])
    assert.deepEqual(await found({ command: "echo blocked; exit 1" }), ["error exit-one"])
    const { json } = world(files({ preToolUse: [{ command: "./gone.sh", failClosed: true }] }))
    assert.match((await json("doctor")).value.findings[0].why, /blocks everything that it matches/)
  })

  it("are found by the path of their file", async () => {
    const { home, json } = world(files({ stop: [{ command: "true" }] }))
    assert.strictEqual((await json("list", "--file", `${home}/.cursor/hooks.json`)).value.files[0].dialect, "cursor")
  })
})
