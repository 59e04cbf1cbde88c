/** The cells of the proof: on no path does anything happen that the guard of Belay did not allow. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { setting } from "../packages/hook-files/test/oracle/setting.ts"
import { columns, nameOf, paths, runCell } from "../proof/run.ts"
import { runInProgram } from "../proof/settings.ts"

describe("the guard holds", () => {
  for (const column of columns.filter(({ own }) => !own)) {
    it.each(paths.map((path) => [path.name, path] as const))(`in ${nameOf(column)}: %s`, async (_name, path) => {
      const [cell, note] = await runCell(path, column)
      assert.notStrictEqual(cell, "does not hold", note)
    })
  }
})

describe("the paths of the proof", () => {
  it("tell guards apart: one that allows everything fails on most", async () => {
    const [{ driver }] = columns as [typeof columns[number]]
    const open = {
      ...driver,
      start: (setup: Parameters<typeof driver.start>[0]) => driver.start({ ...setup, guard: [] })
    }
    const cells = await Promise.all(paths.map(async (path) => (await runCell(path, { driver: open, own: false }))[0]))
    assert.isAtLeast(cells.filter((cell) => cell === "does not hold").length, paths.length - 3)
  })
})

/** A program that speaks as Claude Code does: it runs the first hook of its settings before each command. */
const standIn = `#!${process.execPath}
const { execFileSync, spawnSync } = require("node:child_process")
const { readFileSync } = require("node:fs")
const { hooks } = JSON.parse(readFileSync(".claude/settings.json", "utf8"))
const { command } = hooks.PreToolUse[0].hooks[0]
const tools = [{ name: "Bash" }]
const messages = [{ role: "user", content: process.argv[3] }]
const main = async () => {
  for (;;) {
    const body = JSON.stringify({ messages, tools })
    const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", body })
    const events = (await response.text()).split("\\n").filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)))
    const [start] = events.filter(({ content_block: block }) => block?.type === "tool_use")
    if (start === undefined) return
    const input = JSON.parse(events.find(({ delta }) => delta?.partial_json).delta.partial_json)
    const payload = JSON.stringify({ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: input })
    const { status, stderr } = spawnSync("sh", ["-c", command], { input: payload, encoding: "utf8" })
    const content = status === 2 ? stderr : execFileSync("sh", ["-c", input.command], { encoding: "utf8" })
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: start.content_block.id, content }] })
  }
}
main()
`

describe("a setting in a program", () => {
  it.each(
    [
      ["runs", {}, { hooks: [0], ran: ["note one"], read: ["w-ran-one"], child: [], requests: 2 }],
      ["is refused", { stderr: "w-no", code: 2 }, { hooks: [0], ran: [], read: ["w-no"], child: [], requests: 2 }]
    ] as const
  )("tells what happened when its command %s", async (_, answer, expected) => {
    const root = mkdtempSync(join(tmpdir(), "belay-proof-"))
    try {
      const program = join(root, "program.cjs")
      writeFileSync(program, standIn, { mode: 0o755 })
      const one = setting("one", { entries: [{ event: "PreToolUse", answer }] })
      const { outcome, told } = await runInProgram(program, one, root)
      assert.deepStrictEqual(outcome, expected)
      assert.deepStrictEqual(told[0]!.payload, {
        hook_event_name: "PreToolUse",
        tool_name: "Bash",
        tool_input: { command: "note one" }
      })
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  })
})
