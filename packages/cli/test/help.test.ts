/** What commands say about themselves, and about wrong usage, to the letter. */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { runHere } from "./belay.ts"

const commands: ReadonlyArray<string> = [
  "",
  "demo",
  "chat",
  "flow",
  "endpoint",
  "inspect",
  "backtest",
  "hooks",
  "hooks list",
  "hooks doctor",
  "hooks test",
  "hooks trust",
  "hooks untrust",
  "hooks explain",
  "serve",
  "host",
  "sessions",
  "sessions list",
  "sessions show",
  "sessions send",
  "sessions decide",
  "sessions cancel",
  "sessions dead",
  "sessions retry",
  "sessions drop",
  "sessions erase",
  "skills",
  "skills list",
  "skills trust",
  "skills lint",
  "guard",
  "guard init",
  "guard install",
  "guard uninstall",
  "guard doctor",
  "guard log"
]

const folder = mkdtempSync(join(tmpdir(), "belay-cli-help-"))
const at = (name: string): string => join(folder, name)
writeFileSync(at("broken.mjs"), "throw new Error('no luck')\n")
writeFileSync(at("nothing.mjs"), "export default 3\n")
writeFileSync(at("host.mjs"), "const f = () => {}\nexport default { send: f, decide: f, events: f, start: f }\n")
writeFileSync(at("agent.mjs"), "export default { provider: { name: 'none', complete: () => {} } }\n")
writeFileSync(at("wrong.mjs"), "export default { agent: 1, store: 1 }\n")
writeFileSync(at("list.json"), "[]")

/** Arguments that are wrong. */
const wrong: ReadonlyArray<string> = [
  "hooks test",
  "hooks test PreTolUse",
  "hooks test Zzz",
  "hooks test PreToolUse",
  "hooks test Stop --timeout 0",
  "hooks test Stop --payload {",
  "hooks test Stop --payload 1",
  "hooks test Stop --payload null",
  `hooks test Stop --payload @${at("list.json")}`,
  `hooks test Stop --payload @${at("none.json")}`,
  "hooks test PreToolUse --tool Bash --input {",
  "hooks list --source other",
  `hooks trust ${at("none")}`,
  "hooks explain Zzz",
  "skills lint none --folder .",
  `skills list --cwd ${at("none")}`,
  "serve --port -1",
  "serve --port 65536",
  "serve --drain -1",
  "serve --hostname 0.0.0.0",
  "serve --token short",
  "serve --acp --openai",
  "serve --acp --ui",
  "serve --acp --ag-ui",
  "serve --acp --mcp",
  "serve --acp --all",
  `serve ${at("none.mjs")}`,
  `serve ${at("broken.mjs")}`,
  `serve ${at("nothing.mjs")}`,
  `serve ${at("wrong.mjs")}`,
  `flow ${at("host.mjs")}`,
  `flow ${at("none.mjs")}`,
  `chat ${at("host.mjs")}`,
  `chat ${at("agent.mjs")} --tools read`,
  "host --drain -1",
  "host --every 0",
  `host ${at("agent.mjs")}`,
  `host ${at("nothing.mjs")}`,
  "sessions list --limit 0",
  `inspect ${at("none.jsonl")}`,
  "backtest"
]

describe("belay", () => {
  it("explains each command exactly like this", async () => {
    const all: Array<string> = []
    for (const command of commands) {
      const { code, stderr, stdout } = await runHere([...command.split(" ").filter((word) => word !== ""), "--help"])
      all.push(`# belay ${command}\n${code} ${stderr}${stdout}`)
    }
    await expect(all.join("\n")).toMatchFileSnapshot("./support/printed/help.txt")
  })

  it("refuses wrong usage exactly like this", async () => {
    const all: Array<string> = []
    for (const args of wrong) {
      const { code, stderr, stdout } = await runHere(args.split(" "))
      all.push(`# ${args}\n${code} ${stderr}${stdout}`.replaceAll(folder, "FOLDER"))
    }
    await expect(all.join("\n")).toMatchFileSnapshot("./support/printed/wrong.txt")
  })

  it("explains events exactly like this", async () => {
    const events = ["SessionStart", "OnBudgetExceeded", "ConfigChange"]
    const all = await Promise.all([
      runHere(["hooks", "explain"]),
      runHere(["hooks", "explain", "--source", "kodelet"]),
      runHere(["hooks", "explain", "--source", "kodelet", "--json"]),
      ...events.map((event) => runHere(["hooks", "explain", event])),
      runHere(["hooks", "explain", "Stop", "--source", "gemini"])
    ])
    await expect(all.map(({ stdout }) => stdout).join("\n")).toMatchFileSnapshot("./support/printed/explain.txt")
  })
})
