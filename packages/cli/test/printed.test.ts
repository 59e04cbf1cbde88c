/** What `belay hooks`, `list` and `trust` print, to the letter. */
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as Doctor from "../src/internal/files/doctor.ts"
import * as List from "../src/internal/files/list.ts"
import * as Overview from "../src/internal/files/overview.ts"
import * as Trust from "../src/internal/files/trust.ts"
import { settings, world } from "./belay.ts"
import { colored, painted } from "./support/painted.ts"
import { broken, lookAt, mistaken, severalSystems, silenced } from "./support/projects.ts"

/** No program is installed. */
const findings = (made: ReturnType<typeof world>) => Doctor.findings(lookAt(made), join(made.root, "bin"))

describe("belay hooks list", () => {
  it("shows every kind of entry, and which files do not run", () => {
    const made = severalSystems()
    assert.deepEqual(painted(List.text(lookAt(made), colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "<bold>~/.claude/settings.json</>  <dim>claude, user</>",
      "  permissions: 2 deny, 1 ask",
      "  <cyan>Stop</><dim>  may keep the agent going</>",
      "    <dim>command</>  exit 0",
      "<dim>             7 s, async: decides nothing</>",
      "",
      "<bold>.claude/settings.json</>  <dim>claude, project</>  <yellow>not trusted: does not run</>",
      "  <cyan>PreToolUse</>  Bash<dim>  may refuse the call, change its input, ask a person</>",
      "    <dim>command</>  .claude/hooks/guard.sh",
      "<dim>             if Bash(git push *), 600 s</>",
      "    <dim>command</>  node \"a b\" -x",
      "<dim>             600 s</>",
      "    <dim>http</>  POST https://example.com/x",
      "<dim>          600 s</>",
      "    <dim>mcp_tool</>  git.check",
      "<dim>              600 s</>",
      "    <dim>prompt</>  Block it.",
      "<dim>            30 s</>",
      "  <cyan>SessionEnd</><dim>  only watches</>",
      "    <dim>command</>  true",
      "<dim>             1.5 s</>",
      "",
      "<bold>.codex/hooks.json</>  <dim>codex, project</>  <yellow>another system is used: runs only with --source codex</>",
      "  <cyan>Stop</><dim>  may keep the agent going</>",
      "    <dim>command</>  true",
      "<dim>             600 s</>",
      "",
      "<bold>.kodelet/hooks/guard</>  <dim>kodelet, project</>  <yellow>another system is used: runs only with --source kodelet</>",
      "  <cyan>asked for its type when it first runs</>",
      "    <dim>command</>  ROOT/project/.kodelet/hooks/guard run",
      "<dim>             30 s</>",
      "",
      "<dim>.kodelet/hooks/old.disable  kodelet  switched off by its name</>",
      "",
      "<yellow>warning: ROOT/project: several systems have hooks here: only claude is loaded, because it has the most entries (6); codex (1), kodelet (1) are not loaded; to load several, set the option sources: [\"claude\", \"codex\", \"kodelet\"]</>",
      "",
      "4 files, 9 entries, 3 files do not run.",
      "<yellow>Nobody has trusted ROOT/project in its current state. Read it, then run: belay hooks trust</>"
    ])
  })

  it("shows what is silenced", () => {
    const made = silenced()
    assert.deepEqual(painted(List.text(lookAt(made), colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "<bold>ROOT/managed/managed-settings.json</>  <dim>claude, managed</>",
      "  <cyan>Stop</><dim>  may keep the agent going</>",
      "    <dim>command</>  false",
      "<dim>             600 s</>",
      "    <dim>command</>  false",
      "<dim>             1 s</>",
      "",
      "<bold>~/.claude/settings.json</>  <dim>claude, user</>  <yellow>disabled: does not run</>  <yellow>silences hooks</>",
      "  <cyan>Stop</><dim>  may keep the agent going</>",
      "    <dim>command</>  true",
      "<dim>             600 s</>",
      "",
      "<bold>~/.claude/skills/x/SKILL.md</>  <dim>claude, user</>  <yellow>disabled: does not run</>",
      "  <cyan>Stop</><dim>  may keep the agent going</>",
      "    <dim>command</>  true",
      "<dim>             600 s, once a session</>",
      "",
      "3 files, 4 entries, 2 files do not run."
    ])
  })

  it("says why nothing runs", () => {
    const made = broken()
    assert.deepEqual(painted(List.text(lookAt(made), colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "<red>Nothing runs: managed hooks, and hooks that enforce a policy, must be valid: ROOT/managed/managed-settings.json: hooks.Stopp: unknown event; did you mean Stop?</>",
      "",
      "<bold>ROOT/managed/managed-settings.json</>  <dim>claude, managed</>  <yellow>does not run</>",
      "<dim>  no entries</>",
      "<yellow>  warning: hooks.Stopp: unknown event; did you mean Stop?</>",
      "",
      "<bold>~/.codex/hooks.json</>  <dim>codex, user</>  <yellow>does not run</>",
      "  <cyan>Stop</><dim>  may keep the agent going</>",
      "    <dim>command</>  true",
      "<dim>             600 s</>",
      "",
      "2 files, 1 entry, 1 warning, 1 file does not run."
    ])
  })

  it("shows warnings of a file below it", () => {
    const made = mistaken()
    assert.deepEqual(painted(List.text(lookAt(made), colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "<bold>~/.claude/settings.json</>  <dim>claude, user</>",
      "  <cyan>PreToolUse</>  bash<dim>  may refuse the call, change its input, ask a person</>",
      "    <dim>command</>  /no/such.sh",
      "<dim>             600 s</>",
      "",
      "<bold>.claude/settings.json</>  <dim>claude, project</>  <yellow>not trusted: does not run</>",
      "  <cyan>PreToolUse</>  bash<dim>  may refuse the call, change its input, ask a person</>",
      "    <dim>command</>  /no/such.sh",
      "<dim>             600 s</>",
      "",
      "<bold>.claude/settings.local.json</>  <dim>claude, local</>",
      "<dim>  no entries</>",
      "<yellow>  warning: hooks.Stopp: unknown event; did you mean Stop?</>",
      "<yellow>  warning: hooks.Stop: expected a list of groups</>",
      "",
      "3 files, 2 entries, 2 warnings, 1 file does not run.",
      "<yellow>Nobody has trusted ROOT/project in its current state. Read it, then run: belay hooks trust</>"
    ])
  })

  it("cuts a command after three lines", () => {
    const made = world({ "home/.claude/settings.json": settings("Stop", [{ command: "x".repeat(241) }]) })
    const lines = (columns: number) => painted(List.text(lookAt(made), { ...colored, columns }), made.root)
    assert.include(lines(80), `    <dim>command</>  ${"x".repeat(240)}…`)
    assert.include(lines(81), `    <dim>command</>  ${"x".repeat(241)}`)
  })

  it("says that there is nothing", () => {
    const made = world()
    assert.deepEqual(painted(List.text(lookAt(made), colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "No files with hooks."
    ])
  })
})

describe("belay hooks", () => {
  it("says what to do first in a project that nobody trusts", () => {
    const made = severalSystems()
    assert.deepEqual(painted(Overview.text(lookAt(made), findings(made), colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "9 entries in 4 files for Claude Code, Codex, Kodelet; 1 of them run.",
      "  ~/.claude/settings.json  <dim>1 entry</>",
      "  .claude/settings.json  <dim>6 entries</>  <yellow>not trusted</>",
      "  .codex/hooks.json  <dim>1 entry</>  <yellow>left out</>",
      "  .kodelet/hooks/guard  <dim>1 entry</>  <yellow>left out</>",
      "",
      "Next:",
      "  <cyan>belay hooks trust    </>  shows what the hooks of this project would run, and lets them run",
      "  <cyan>belay hooks doctor   </>  shows 5 mistakes and what to do",
      "  <cyan>belay hooks list     </>  shows every file and entry",
      "  <cyan>belay hooks test Stop</>  runs the hooks of this event once",
      "",
      "<dim>All commands: belay hooks --help</>"
    ])
  })

  it("says what is silenced", () => {
    const made = silenced()
    assert.deepEqual(painted(Overview.text(lookAt(made), findings(made), colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "4 entries in 3 files for Claude Code; 2 of them run.",
      "  ROOT/managed/managed-settings.json  <dim>2 entries</>",
      "  ~/.claude/settings.json  <dim>1 entry</>  <yellow>silenced</>",
      "  ~/.claude/skills/x/SKILL.md  <dim>1 entry</>  <yellow>silenced</>",
      "",
      "Next:",
      "  <cyan>belay hooks doctor   </>  shows 2 mistakes and what to do",
      "  <cyan>belay hooks list     </>  shows every file and entry",
      "  <cyan>belay hooks test Stop</>  runs the hooks of this event once",
      "",
      "<dim>All commands: belay hooks --help</>"
    ])
  })

  it("says why nothing runs", () => {
    const made = broken()
    assert.deepEqual(painted(Overview.text(lookAt(made), findings(made), colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "1 entry in 1 file for Codex; 0 of them run.",
      "  ~/.codex/hooks.json  <dim>1 entry</>  <yellow>stopped</>",
      "",
      "<red>Nothing runs: managed hooks, and hooks that enforce a policy, must be valid: ROOT/managed/managed-settings.json: hooks.Stopp: unknown event; did you mean Stop?</>",
      "",
      "Next:",
      "  <cyan>belay hooks doctor</>  shows 2 mistakes and what to do",
      "  <cyan>belay hooks list  </>  shows every file and entry",
      "",
      "<dim>All commands: belay hooks --help</>"
    ])
  })

  it("says that there is nothing", () => {
    const made = world()
    assert.deepEqual(painted(Overview.text(lookAt(made), [], colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "No files with hooks.",
      "",
      "Next:",
      "  <cyan>belay hooks explain           </>  lists the events of every system",
      "  <cyan>belay hooks explain PreToolUse</>  shows an example to begin with",
      "",
      "<dim>All commands: belay hooks --help</>"
    ])
    assert.deepEqual(painted(Overview.text(lookAt(made, { off: true }), [], colored), made.root), [
      "<bold>Hooks</> for ROOT/project",
      "",
      "Hooks are off (--no-hooks): nothing is loaded.",
      "",
      "Next:",
      "  <cyan>belay hooks list</>  without --no-hooks: shows every file",
      "",
      "<dim>All commands: belay hooks --help</>"
    ])
  })
})

describe("belay hooks trust", () => {
  it("shows every kind of entry, and the scripts", () => {
    const made = severalSystems()
    assert.deepEqual(painted(Trust.text(lookAt(made), colored), made.root), [
      "<bold>ROOT/project</> would run 8 entries:",
      "",
      ".claude/settings.json",
      "  <cyan>PreToolUse</>  <dim>hooks.PreToolUse[0].hooks[0]</>",
      "    <dim>command</>  .claude/hooks/guard.sh",
      "  <cyan>PreToolUse</>  <dim>hooks.PreToolUse[0].hooks[1]</>",
      "    <dim>command</>  [\"node\",\"a b\",\"-x\"]",
      "  <cyan>PreToolUse</>  <dim>hooks.PreToolUse[0].hooks[2]</>",
      "    <dim>http</>  POST https://example.com/x",
      "      may send TOKEN, OTHER",
      "  <cyan>PreToolUse</>  <dim>hooks.PreToolUse[0].hooks[3]</>",
      "    <dim>mcp_tool</>  git.check",
      "  <cyan>PreToolUse</>  <dim>hooks.PreToolUse[0].hooks[4]</>",
      "    <dim>prompt</>  Block it.",
      "  <cyan>SessionEnd</>  <dim>hooks.SessionEnd[0].hooks[0]</>",
      "    <dim>command</>  true",
      "",
      ".codex/hooks.json",
      "  <cyan>Stop</>  <dim>hooks.Stop[0].hooks[0]</>",
      "    <dim>command</>  true",
      "",
      ".kodelet/hooks/guard",
      "  <cyan>run</>  <dim>guard</>",
      "    <dim>command</>  [\"ROOT/project/.kodelet/hooks/guard\",\"run\"]",
      "      names before_tool_call",
      "      says \"Keeps main clean.\"",
      "",
      "Scripts, with their SHA-256:",
      "  .claude/hooks/guard.sh",
      "    <dim>284c72b3a894d683dde28f21876885d87f477d993203969100583b5e3c2cf51b  755</>",
      "  .kodelet/hooks/folder/x",
      "    <dim>b875f928546aee7855cb1db9afc8ab3f1a8a34d43de5bbd62f7076d7ba9f3917  755</>",
      "  .kodelet/hooks/guard",
      "    <dim>f36e7364f50ababab83dfd05262490cd3a7b24565dbe6411616ff681a6ad2b34  755</>",
      "  .kodelet/hooks/old.disable",
      "    <dim>b875f928546aee7855cb1db9afc8ab3f1a8a34d43de5bbd62f7076d7ba9f3917  755</>"
    ])
  })
})
