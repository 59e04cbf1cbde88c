import { all } from "@belay/hook-files/Wires"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { runHere } from "../belay.ts"

const root = mkdtempSync(join(tmpdir(), "belay-install-"))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))

let count = 0

/** A project, and the commands of the guard in it. */
const place = () => {
  const cwd = join(root, `p${count++}`)
  mkdirSync(cwd)
  const home = join(cwd, "home")
  const guard = (...args: ReadonlyArray<string>) => runHere(["guard", ...args, "--cwd", cwd, "--home", home])
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(cwd, file)), { recursive: true })
    writeFileSync(join(cwd, file), text)
  }
  return { cwd, home, guard, write, read: (file: string) => readFileSync(join(cwd, file), "utf8") }
}

describe.each(all.map((wire) => [wire.system, wire] as const))("belay guard install %s", (system, wire) => {
  const { events, settings: { project: file } } = wire

  it("shows the change, writes a line that refuses if the command is missing, and is done once", async () => {
    const { cwd, guard, read } = place()
    const shown = await guard("install", system)
    assert.strictEqual(shown.code, 1)
    assert.include(shown.stdout, `+`)
    // Codex lets a call run that is refused without a text.
    const refusing = system === "codex"
      ? " || { [ $? -eq 2 ] || echo 'belay guard is missing or was killed' >&2; exit 2; }\""
      : " || exit 2\""
    assert.include(shown.stdout, `guard run --system ${system} --event ${Object.keys(events)[0]}${refusing}`)
    assert.isFalse(existsSync(join(cwd, file)))
    assert.strictEqual((await guard("install", system, "--yes", "--program", "belay")).code, 0)
    const text = read(file)
    for (const event of Object.keys(events)) {
      const isEnd = ["stop", "agentStop"].includes(events[event]!.means)
      assert.include(text, `belay guard run --system ${system} --event ${event}${isEnd ? "\"" : refusing}`)
    }
    const { timeout } = wire.settings
    for (const [event, { maxLimit = 30 }] of Object.entries(timeout === undefined ? {} : events)) {
      const [element] = JSON.parse(text).hooks[event]
      const { [timeout!.key]: limit } = element.hooks?.[0] ?? element
      assert.strictEqual(limit, Math.min(30, maxLimit) * (timeout!.unit === "ms" ? 1_000 : 1), event)
    }
    const again = await guard("install", system, "--yes", "--program", "belay")
    assert.include(again.stdout, "needs no change")
    assert.strictEqual(read(file), text)
    // Another program takes the place of the one before.
    await guard("install", system, "--yes", "--program", "other-belay")
    assert.notInclude(read(file), "\"belay guard")
    assert.strictEqual(read(file).split("--event").length, text.split("--event").length)
    await guard("uninstall", system, "--yes")
    assert.isFalse(existsSync(join(cwd, file)))
  })
})

describe("belay guard install", () => {
  const mine = `{
  // my settings
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] } // keep
    ],
    "Notification": [{ "hooks": [{ "type": "command", "command": "say" }] }]
  }
}
`

  it("keeps what is not ours, with its comments, and uninstall gives the file back", async () => {
    const { guard, read, write } = place()
    write(".claude/settings.json", mine)
    await guard("install", "claude", "--yes")
    const text = read(".claude/settings.json")
    for (const part of ["// my settings", "// keep", "./mine.sh", "\"say\"", "\"opus\""]) assert.include(text, part)
    await guard("uninstall", "claude", "--yes")
    assert.strictEqual(read(".claude/settings.json").replaceAll(/\s/g, ""), mine.replaceAll(/\s/g, ""))
    assert.include((await guard("uninstall", "claude", "--yes")).stdout, "needs no change")
  })

  it("keeps comments that somebody has written around its lines, and the ends of lines", async () => {
    const { guard, read, write } = place()
    write(".claude/settings.json", "{\r\n  \"model\": \"opus\"\r\n}\r\n")
    await guard("install", "claude", "--yes")
    const installed = read(".claude/settings.json")
    assert.notInclude(installed.replaceAll("\r\n", ""), "\n")
    const begin = "\"PreToolUse\": ["
    const entry = (name: string) => `{ "hooks": [{ "type": "command", "command": "./${name}.sh" }] }`
    const at = installed.indexOf(begin) + begin.length
    const end = installed.indexOf("\r\n    ]", at)
    const changed = [
      `${installed.slice(0, at)}\n${entry("first")}, // of the first`,
      `${installed.slice(at, end)}, // of ours`,
      `// about the last\n${entry("last")} // of the last${installed.slice(end)}`
    ]
    write(".claude/settings.json", changed.join("\n"))
    const { code } = await guard("uninstall", "claude", "--yes")
    assert.strictEqual(code, 0)
    const text = read(".claude/settings.json")
    for (const part of ["// of the first", "// about the last", "// of the last", "first.sh", "last.sh"]) {
      assert.include(text, part)
    }
    assert.notInclude(text, "guard run")
    assert.include((await guard("uninstall", "claude", "--yes")).stdout, "needs no change")
  })

  it("does not touch settings that it cannot read", async () => {
    const { guard, read, write } = place()
    for (const text of ["{ \"hooks\": ", "[1]", "{ \"hooks\": { \"PreToolUse\": 7 } }"]) {
      write(".claude/settings.json", text)
      const { code, stderr } = await guard("install", "claude", "--yes")
      assert.strictEqual(code, 2)
      assert.include(stderr, "correct it first")
      assert.strictEqual(read(".claude/settings.json"), text)
    }
  })

  it("changes the settings of the user with --user", async () => {
    const { cwd, guard, home } = place()
    await guard("install", "gemini", "--yes", "--user")
    assert.isTrue(existsSync(join(home, ".gemini", "settings.json")))
    assert.isFalse(existsSync(join(cwd, ".gemini", "settings.json")))
    assert.include(readFileSync(join(home, ".gemini", "settings.json"), "utf8"), "\"timeout\": 30000")
  })
})

describe("settings that begin with a byte order mark", () => {
  it("are read, and keep it", async () => {
    const { guard, read, write } = place()
    write(".claude/settings.json", "\uFEFF{ \"model\": \"demo\" }\n")
    assert.strictEqual((await guard("install", "claude", "--yes", "--program", "belay")).code, 0)
    assert.match(read(".claude/settings.json"), /^\uFEFF\{ "model": "demo",/)
    assert.strictEqual((await guard("uninstall", "claude", "--yes")).code, 0)
    assert.strictEqual(read(".claude/settings.json"), "\uFEFF{ \"model\": \"demo\" }\n")
  })
})

describe("settings that are a symbolic link", () => {
  it.each(["{ \"model\": \"x\" }\n", undefined])(
    "stay one, and what it points to has the lines: %j",
    async (before) => {
      const { cwd, guard, read, write } = place()
      mkdirSync(join(cwd, ".claude"))
      mkdirSync(join(cwd, "shared"))
      if (before !== undefined) write("shared/claude.json", before)
      symlinkSync("../shared/claude.json", join(cwd, ".claude/settings.json"))
      assert.strictEqual((await guard("install", "claude", "--yes", "--program", "belay")).code, 0)
      assert.include(read("shared/claude.json"), "belay guard run --system claude")
      assert.strictEqual((await guard("uninstall", "claude", "--yes")).code, 0)
      assert.strictEqual(read("shared/claude.json"), before ?? "{}\n")
      assert.isTrue(lstatSync(join(cwd, ".claude/settings.json")).isSymbolicLink())
    }
  )
})
