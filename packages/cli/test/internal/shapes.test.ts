/** What the commands about hooks write as JSON and with hooks off, and what an event is, to the letter. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as Doctor from "../../src/internal/files/doctor.ts"
import * as Explain from "../../src/internal/files/explain.ts"
import * as List from "../../src/internal/files/list.ts"
import * as Overview from "../../src/internal/files/overview.ts"
import type { Screen } from "../../src/internal/screen.ts"
import { settings, world } from "../belay.ts"
import { colored, painted } from "../support/painted.ts"
import { broken, lookAt, mistaken, severalSystems, silenced } from "../support/projects.ts"

/** A kit of an executable, of entries that are known to watch only, and of a plugin. */
const more = () =>
  world({
    "home/.kodelet/hooks/watch": "#!/bin/bash\n[ $1 = hook ] && echo turn_end\n",
    "home/.claude/settings.json": {
      ...settings("Notification", [{ command: `${"long ".repeat(60)}end` }], ""),
      disableAllHooks: false
    },
    "home/.claude/settings.local.json": { permissions: { ask: ["Bash"] } },
    "home/.factory/settings.json": settings("PreToolUse", [{ command: "true" }], "Execute")
  })

const projects = { "several systems": severalSystems, silenced, broken, mistaken, more }
const narrow: Screen = { columns: 80, colors: true, interactive: false, path: "" }

const same = (name: string, lines: ReadonlyArray<string>) =>
  expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`../support/printed/${name}.txt`)

const shown = (value: unknown): string => JSON.stringify(value, null, 1) ?? "nothing"

describe("the commands about hooks", () => {
  it.each(Object.entries(projects))("write exactly this about a project with %s", async (name, make) => {
    const made = make()
    mkdirSync(join(made.root, "bin"))
    const lines: Array<string> = []
    for (const flags of [{}, { off: true }, { dialects: ["claude"] }]) {
      const one = lookAt(made, flags)
      const found = Doctor.findings(one, join(made.root, "bin"))
      lines.push(
        `# ${JSON.stringify(flags)}`,
        shown(List.json(one)),
        shown(Overview.json(one, found)),
        shown(found),
        List.text(one, colored),
        Overview.text(one, found, colored),
        Doctor.text(one, found, colored)
      )
    }
    const all = painted(lines.join("\n"), made.root).map((line) => line.replaceAll(/\b[0-9a-f]{64}\b/g, "SHA256"))
    await same(`shapes-${name.replaceAll(" ", "-")}`, all)
  })

  it("explain events exactly like this", async () => {
    const names = ["PreToolUse", "Notification", "beforeShellExecution", "Nothing"]
    const lines = names.flatMap((name) => [
      `# ${name}`,
      ...[[], ["gemini"], ["claude", "cursor"]].map((dialects) =>
        Explain.found(name, dialects as never).map((event) => `${event.dialect} ${event.name}`).join(", ")
      )
    ])
    const some = Explain.found("SessionStart", ["claude", "windsurf", "kodelet"] as never)
    lines.push(shown(Explain.json(some)), Explain.text(some, narrow), Explain.index(["gemini"] as never, narrow))
    await same("shapes-explained", painted(lines.join("\n"), "/none"))
  })
})
