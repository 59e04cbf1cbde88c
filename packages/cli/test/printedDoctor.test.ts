/** What `belay hooks doctor` prints, to the letter, and what commands write as JSON. */
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as Doctor from "../src/internal/files/doctor.ts"
import * as List from "../src/internal/files/list.ts"
import { type world } from "./belay.ts"
import { colored, painted } from "./support/painted.ts"
import { broken, lookAt, mistaken, severalSystems, silenced } from "./support/projects.ts"

/** No program is installed. */
const findings = (made: ReturnType<typeof world>) => Doctor.findings(lookAt(made), join(made.root, "bin"))

describe("belay hooks doctor", () => {
  it("says what to do about several systems, and about what cannot run", () => {
    const made = severalSystems()
    assert.deepEqual(painted(Doctor.text(lookAt(made), findings(made), colored), made.root), [
      "<bold>ROOT/project</>",
      "  <yellow>warning</>    <dim>several-systems</>",
      "    Several systems have hooks here: only claude is loaded, because it has the most entries (6); codex (1), kodelet (1) are not loaded. Two systems in one agent would add context twice, and a script of one can block calls of the other.",
      "    Name the systems that you want: --source here, and the option sources: [\"claude\", \"codex\", \"kodelet\"] in your program.",
      "  <yellow>warning</>    <dim>untrusted</>",
      "    8 entries do not run. Nobody has trusted the current files of the project.",
      "    Read them, then run: belay hooks trust",
      "",
      "<bold>~/.claude/settings.json</>",
      "  <cyan>hint</>  permissions.allow  <dim>permissions-allow</>",
      "    1 rule that allows calls is not loaded. A settings file can only tighten what an agent may do: its rules of deny and ask are loaded.",
      "    Allow these calls in your program, for example with PermissionRules.",
      "",
      "<bold>.claude/settings.json</>",
      "  <red>error</>  hooks.PreToolUse[0].hooks[1]<dim> line 12</>  <dim>program-missing</>",
      "    There is no program node. The entry exits with 127, which blocks nothing.",
      "    Install node, or use its full path.",
      "  <red>error</>  hooks.PreToolUse[0].hooks[1]<dim> line 12</>  <dim>script-missing</>",
      "    There is no file ROOT/project/a b. The entry exits with 1, which blocks nothing.",
      "    Correct the path, or create the file.",
      "  <yellow>warning</>  hooks.PreToolUse[0].hooks[0]<dim> line 7</>  <dim>path-relative</>",
      "    Its path is relative. Commands run in the folder of the session, which can differ from the project.",
      "    Write \"$CLAUDE_PROJECT_DIR\"/ before it, with the quotes.",
      "  <cyan>hint</>  hooks.PreToolUse[0].hooks[4]<dim> line 36</>  <dim>prompt-vague</>",
      "    2 words say what to decide. The model must guess what to block, and its answers differ.",
      "    Say what to block, what to allow, and what to do when in doubt.",
      "  <cyan>hint</>  hooks.PreToolUse[0].hooks[4]<dim> line 36</>  <dim>prompt-event</>",
      "    It has no placeholder for the event. The event is added at the end.",
      "    Write $ARGUMENTS where the event belongs.",
      "",
      "<bold>.kodelet/hooks/idle</>",
      "  <red>error</>    <dim>script-mode</>",
      "    It has no execute bit. Files without an execute bit are not hooks, so it is never asked for its type.",
      "    chmod +x ROOT/project/.kodelet/hooks/idle",
      "",
      "Looked at 4 files and 9 entries: 3 errors, 3 warnings, 3 hints."
    ])
  })

  it("says what is silenced, and what is there twice", () => {
    const made = silenced()
    assert.deepEqual(painted(Doctor.text(lookAt(made), findings(made), colored), made.root), [
      "<bold>ROOT/managed/managed-settings.json</>",
      "  <cyan>hint</>  hooks.Stop[0].hooks[1]<dim> line 10</>  <dim>once-ignored</>",
      "    It says once, outside of a skill. Claude Code reads once in the front matter of skills only, so the entry runs each time.",
      "    Remove it, or move the entry to the skill.",
      "",
      "<bold>~/.claude/settings.json</>",
      "  <yellow>warning</>    <dim>silenced</>",
      "    Nothing in it runs. disableAllHooks, or allowManagedHooksOnly, silences it.",
      "    Remove that setting if you do not want it.",
      "",
      "<bold>~/.claude/skills/x/SKILL.md</>",
      "  <yellow>warning</>    <dim>silenced</>",
      "    Nothing in it runs. disableAllHooks, or allowManagedHooksOnly, silences it.",
      "    Remove that setting if you do not want it.",
      "  <cyan>hint</>  hooks.Stop[0].hooks[0]  <dim>twice</>",
      "    The same entry is in ~/.claude/settings.json. It runs once.",
      "    Keep one of them.",
      "",
      "Looked at 3 files and 4 entries: 2 warnings, 2 hints."
    ])
  })

  it("says why nothing runs", () => {
    const made = broken()
    assert.deepEqual(painted(Doctor.text(lookAt(made), findings(made), colored), made.root), [
      "<bold>ROOT/project</>",
      "  <red>error</>    <dim>managed</>",
      "    Managed hooks, and hooks that enforce a policy, must be valid: ROOT/managed/managed-settings.json: hooks.Stopp: unknown event; did you mean Stop? Nothing runs at all.",
      "    Correct the managed settings, or move the folder of decisions outside of the project.",
      "",
      "<bold>ROOT/managed/managed-settings.json</>",
      "  <red>error</>  hooks.Stopp<dim> line 3</>  <dim>loading</>",
      "    Unknown event. This part of the file is ignored.",
      "    Did you mean Stop?",
      "",
      "Looked at 2 files and 1 entry: 2 errors."
    ])
  })

  it("shows mistakes file by file, the worst first", () => {
    const made = mistaken()
    assert.deepEqual(painted(Doctor.text(lookAt(made), findings(made), colored), made.root), [
      "<bold>~/.claude/settings.json</>",
      "  <red>error</>  hooks.PreToolUse[0].hooks[0]<dim> line 7</>  <dim>unknown-key</>",
      "    \"comand\" is not a key of Claude Code. Its value is ignored.",
      "    Did you mean \"command\"?",
      "  <red>error</>  hooks.PreToolUse[0].hooks[0]<dim> line 7</>  <dim>matcher-nothing</>",
      "    No tool is called \"bash\". Letter case matters, so the entry never runs.",
      "    Write \"Bash\".",
      "  <red>error</>  hooks.PreToolUse[0].hooks[0]<dim> line 7</>  <dim>script-missing</>",
      "    There is no file /no/such.sh. The entry exits with 127, which blocks nothing.",
      "    Correct the path, or create the file.",
      "",
      "<bold>.claude/settings.json</>",
      "  <red>error</>  hooks.PreToolUse[0].hooks[0]<dim> line 7</>  <dim>matcher-nothing</>",
      "    No tool is called \"bash\". Letter case matters, so the entry never runs.",
      "    Write \"Bash\".",
      "  <red>error</>  hooks.PreToolUse[0].hooks[0]<dim> line 7</>  <dim>script-missing</>",
      "    There is no file /no/such.sh. The entry exits with 127, which blocks nothing.",
      "    Correct the path, or create the file.",
      "  <cyan>hint</>  hooks.PreToolUse[0].hooks[0]<dim> line 7</>  <dim>twice</>",
      "    The same entry is in ~/.claude/settings.json. It runs once.",
      "    Keep one of them.",
      "",
      "<bold>.claude/settings.local.json</>",
      "  <red>error</>  hooks.Stopp<dim> line 3</>  <dim>loading</>",
      "    Unknown event. This part of the file is ignored.",
      "    Did you mean Stop?",
      "  <red>error</>  hooks.Stop<dim> line 4</>  <dim>loading</>",
      "    Expected a list of groups. This part of the file is ignored.",
      "    Write it as its system requires: belay hooks explain",
      "",
      "<bold>ROOT/project</>",
      "  <yellow>warning</>    <dim>untrusted</>",
      "    1 entry does not run. Nobody has trusted the current files of the project.",
      "    Read them, then run: belay hooks trust",
      "",
      "Looked at 3 files and 2 entries: 7 errors, 1 warning, 1 hint."
    ])
  })
})

describe("belay hooks list --json", () => {
  const shown = (value: unknown) => JSON.parse(JSON.stringify(value)) as { readonly [field: string]: unknown }
  interface FileJson {
    readonly path: string
    readonly entries: ReadonlyArray<{ readonly [field: string]: unknown }>
    readonly [field: string]: unknown
  }

  it("has every fact of every entry", () => {
    const made = severalSystems()
    const { disabled, files, untrusted, warnings, ...rest } = shown(List.json(lookAt(made)))
    assert.deepEqual(rest, { cwd: made.cwd, hooks: "on" })
    assert.deepEqual(disabled, [join(made.cwd, ".kodelet/hooks/old.disable")])
    assert.lengthOf(warnings as ReadonlyArray<unknown>, 1)
    const [{ fingerprint, ...waiting }] = untrusted as [{ readonly fingerprint: string }]
    assert.match(fingerprint, /^claude:\S+ codex:\S+ kodelet:\S+$/)
    assert.deepEqual(waiting, { project: made.cwd, entries: 8 } as object)
    const [user, project, codex, kodelet] = files as [FileJson, FileJson, FileJson, FileJson]
    const { entries, ...about } = user
    assert.deepEqual(about as object, {
      dialect: "claude",
      scope: "user",
      path: join(made.home, ".claude/settings.json"),
      ofProject: false,
      status: "runs",
      silences: false,
      permissions: {
        allow: ["Bash(ls)"],
        ask: ["Bash(git *)"],
        deny: ["Read(./x)", "Bash(rm *)"],
        folder: join(made.home, ".claude")
      },
      warnings: []
    })
    assert.deepEqual(entries, [{
      event: "Stop",
      key: "hooks.Stop[0].hooks[0]",
      line: 6,
      type: "command",
      command: "exit 0",
      timeoutSeconds: 7,
      async: true,
      once: false,
      may: "keep the agent going"
    }])
    const usual = { async: false, once: false }
    const call = {
      event: "PreToolUse",
      matcher: "Bash",
      ...usual,
      may: "refuse the call, change its input, ask a person"
    }
    const at = (index: number, line: number) => ({ key: `hooks.PreToolUse[0].hooks[${index}]`, line })
    assert.deepEqual(project.entries, [
      {
        ...call,
        ...at(0, 7),
        if: "Bash(git push *)",
        type: "command",
        command: ".claude/hooks/guard.sh",
        timeoutSeconds: 600
      },
      { ...call, ...at(1, 12), type: "command", command: "node \"a b\" -x", args: ["a b", "-x"], timeoutSeconds: 600 },
      { ...call, ...at(2, 20), type: "http", command: "POST https://example.com/x", timeoutSeconds: 600 },
      { ...call, ...at(3, 31), type: "mcp_tool", command: "git.check", timeoutSeconds: 600 },
      { ...call, ...at(4, 36), type: "prompt", command: "Block it.", timeoutSeconds: 30 },
      {
        ...usual,
        event: "SessionEnd",
        key: "hooks.SessionEnd[0].hooks[0]",
        line: 46,
        type: "command",
        command: "true",
        timeoutSeconds: 1.5
      }
    ])
    const scopes = [project, codex, kodelet].map(({ dialect, ofProject, scope, silences, status }) =>
      [dialect, scope, ofProject, silences, status].join(" ")
    )
    assert.deepEqual(scopes, [
      "claude project true false untrusted",
      "codex project true false left out",
      "kodelet project true false left out"
    ])
    const program = join(made.cwd, ".kodelet/hooks/guard")
    assert.deepEqual(kodelet.entries, [
      {
        ...usual,
        event: "run",
        key: "guard",
        type: "command",
        command: `${program} run`,
        args: ["run"],
        timeoutSeconds: 30
      }
    ])
  })

  it("says what silences, what is broken, and where an entry comes from", () => {
    const made = silenced()
    const { files } = shown(List.json(lookAt(made))) as { readonly files: ReadonlyArray<FileJson> }
    assert.deepEqual(files.map(({ silences, status }) => [status, silences]), [
      ["runs", false],
      ["silenced", true],
      ["silenced", false]
    ])
    assert.deepEqual(files[2]!["plugin"], { type: "skill", name: "x", root: join(made.home, ".claude/skills/x") })
    assert.isTrue(files[2]!.entries[0]!["once"])
    const other = broken()
    const { files: stopped, problem, warnings } = shown(List.json(lookAt(other)))
    assert.match(String(problem), /^managed hooks, .* unknown event; did you mean Stop\?$/)
    const warning = {
      file: join(other.managed, "managed-settings.json"),
      key: "hooks.Stopp",
      reason: "unknown event; did you mean Stop?"
    }
    assert.deepEqual(warnings, [warning])
    assert.deepEqual((stopped as ReadonlyArray<FileJson>)[0]!["warnings"], [warning])
  })
})
