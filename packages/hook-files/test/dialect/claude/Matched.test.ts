/** Which field of a signal the matcher of an entry is compared with, for every event that only hosts have. */
import { describe, expect, it } from "vitest"
import { effects, forEachEvent, signalsOf, type World } from "../../support/everything.ts"

const fields = [
  "command_name",
  "error",
  "file_path",
  "load_reason",
  "mcp_server_name",
  "notification_type",
  "reason",
  "source",
  "trigger"
]

const world: World = {
  dialect: "claude",
  files: {
    "home/.claude/settings.json": {
      hooks: Object.fromEntries(
        Object.entries(forEachEvent("claude", (name) => name)).map(([name]) => [
          name,
          fields.map((field) => ({ matcher: `the_${field}`, hooks: [{ type: "command", command: `run ${field}` }] }))
        ])
      )
    }
  },
  eventOf: ({ command }) => command.replace(/^run /, ""),
  signals: signalsOf("claude"),
  payload: Object.fromEntries(fields.map((field) => [field, `the_${field}`]))
}

describe("the matcher of an entry of Claude Code", () => {
  it("is compared with exactly this field of a signal", async () => {
    const all = await effects(world, signalsOf("claude").map((name) => `the signal ${name}`), [{ systemMessage: "$E" }])
    const lines = all.split("\n").filter((line) => line.startsWith("# ") || line.includes("\"notices\""))
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./everything/matched.txt")
  })
})
