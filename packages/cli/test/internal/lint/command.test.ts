/** What is wrong with a command and its script. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, expect, it } from "vitest"
import { check } from "../../../src/internal/lint/command.ts"
import { collected, type Facts, item } from "../../support/lintItem.ts"

const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-cli-lint-")))
afterAll(() => rmSync(root, { recursive: true, force: true }))
/** The only programs that are installed. */
const programs = ["guard", "grep", "node", "env", "python3", "bash", "sh"]
mkdirSync(join(root, "bin"))
for (const name of programs) {
  writeFileSync(join(root, "bin", name), "")
  chmodSync(join(root, "bin", name), 0o755)
}

/** The findings about a command of Claude Code before a call. */
const found = (
  command: string,
  facts: Facts & { readonly args?: ReadonlyArray<string> } = {},
  at = "claude PreToolUse"
) => {
  const [dialect, event] = at.split(" ") as [Dialect, string]
  const work = { type: "command", command, ...(facts.args === undefined ? {} : { args: facts.args }) }
  return check(item(dialect, event, { work, ...facts }), { cwd: root, home: root, path: join(root, "bin") })
}

const all = collected(`${root}/`)
const whats = (...args: Parameters<typeof found>): ReadonlyArray<string> =>
  all.add(found(...args)).map(({ level, rule, what }) => `${level} ${rule}: ${what.replaceAll(`${root}/`, "")}`)

const wrong = (text: string): string => `warning exit-two: ${text}`

describe("a line", () => {
  const missing = (name: string) => `error program-missing: there is no program ${name}`
  const relative = "warning path-relative: its path is relative"
  const open = "warning guard-open: it always exits with 0"
  it.each<readonly [string, ...ReadonlyArray<string>]>([
    ["guard"],
    ["nothing --x", missing("nothing")],
    ["A=1 nothing", missing("nothing")],
    ["A=1 guard"],
    ["./nothing", relative, "error script-missing: there is no file nothing"],
    ["bash tools/nothing", "error script-missing: there is no file tools/nothing"],
    ["bash ./tools/nothing", relative, "error script-missing: there is no file tools/nothing"],
    ["node .claude/nothing", relative, "error script-missing: there is no file .claude/nothing"],
    [
      "nothing $CLAUDE_PROJECT_DIR/x",
      missing("nothing"),
      "hint path-unquoted: the project's folder is not in quotes"
    ],
    [
      "./nothing $CLAUDE_PROJECT_DIR/x",
      relative,
      "hint path-unquoted: the project's folder is not in quotes",
      "error script-missing: there is no file nothing"
    ],
    ["../nothing", relative, `error script-missing: there is no file ${join(root, "../nothing")}`],
    ["if true; then exit 0; fi"],
    ["[ -f x ] && exit 0"],
    ["cd x; exit 0"],
    [
      "$CLAUDE_PROJECT_DIR/nothing",
      "hint path-unquoted: the project's folder is not in quotes",
      "error script-missing: there is no file nothing"
    ],
    [
      "${CLAUDE_PROJECT_DIR}/nothing",
      "hint path-unquoted: the project's folder is not in quotes",
      "error script-missing: there is no file nothing"
    ],
    ["\"$CLAUDE_PROJECT_DIR\"/nothing", "error script-missing: there is no file nothing"],
    ["guard || true", open],
    ["guard || :", open],
    ["guard || exit 0 ", open],
    ["guard || true; echo x"],
    ["guard 'permissionDecision' || true"],
    ["echo x | grep y", wrong("the exit code is that of grep, which is 2 on errors")],
    ["grep y; guard"],
    ["guard && grep y", wrong("the exit code is that of grep, which is 2 on errors")],
    ["guard || jq", wrong("the exit code is that of jq, which is 2 on errors")],
    ["guard\ntsc", wrong("the exit code is that of tsc, which is 2 on errors")],
    ["echo $FILE", "warning variable-unknown: no part of the agent sets $FILE"],
    ["exit 1", "warning exit-one: the line exits with 1 and never with 2"]
  ])("%s: %j", (command, ...expected) => assert.deepEqual(whats(command), expected))

  it.each(
    [
      ..."grep egrep fgrep rg diff cmp jq ls make sort tsc eslint".split(" "),
      ..."prettier ruff mypy pytest shellcheck tar".split(" ")
    ]
  )("that ends with %s has its exit code", (name) => {
    assert.deepEqual(found(`guard; ${name} y`).map(({ what }) => what), [
      `the exit code is that of ${name}, which is 2 on errors`
    ])
  })

  it("is judged by the rules of its system and its event", () => {
    assert.deepEqual(whats("./nothing", {}, "codex PreToolUse"), ["error script-missing: there is no file nothing"])
    assert.deepEqual(whats("guard || true", {}, "claude PostToolUse"), [])
    assert.deepEqual(whats("guard | grep y", {}, "gemini BeforeTool"), [])
    assert.deepEqual(whats("$GEMINI_PROJECT_DIR/nothing", {}, "gemini BeforeTool"), [
      "error script-missing: there is no file nothing"
    ])
    assert.deepEqual(whats("${GEMINI_PROJECT_DIR}/nothing", {}, "gemini BeforeTool"), [
      "hint path-unquoted: the project's folder is not in quotes",
      "error script-missing: there is no file nothing"
    ])
    assert.deepEqual(whats(".toolArgs", { work: { type: "prompt", prompt: "x" } }), [])
    assert.include(
      whats("jq .tool_input", {}, "copilot preToolUse"),
      "error input-field: the line reads tool_input, which preToolUse does not have"
    )
  })

  it("can have arguments of its own, in which few variables are replaced", () => {
    const unchanged = (text: string) => [`error args-variable: ${JSON.stringify(text)} is passed unchanged`]
    assert.deepEqual(whats("guard", { args: ["$FILE"] }), unchanged("$FILE"))
    assert.deepEqual(whats("guard", { args: ["a", "${FILE}"] }), unchanged("${FILE}"))
    assert.deepEqual(whats("guard", { args: ["~/x"] }), unchanged("~/x"))
    assert.deepEqual(whats("guard", { args: ["a~/x", "$1", "${CLAUDE_PROJECT_DIR}/a ${CLAUDE_PLUGIN_ROOT}"] }), [])
    assert.deepEqual(whats("no-guard", { args: [] }), [missing("no-guard")])
    assert.deepEqual(whats("./nothing", { args: [] }), ["error script-missing: there is no file nothing"])
  })
})

describe("a script", () => {
  let count = 0
  /** The findings about a script that is started directly, or by an interpreter. */
  const of = (text: string, { at = "claude PreToolUse", by = "", mode = 0o755 } = {}): ReadonlyArray<string> => {
    const path = join(root, `x${count++}`)
    writeFileSync(path, text)
    chmodSync(path, mode)
    return whats(`${by}${path}`, {}, at).map((one) => one.replaceAll(/x\d+/g, "x"))
  }
  const bash = `#!${join(root, "bin/bash")}\n`
  const sh = `#!${join(root, "bin/sh")}\n`
  const env = (name: string) => `#!/usr/bin/env ${name}\n`

  it.each<readonly [string, ...ReadonlyArray<string>]>([
    [bash],
    ["true", "warning script-shebang: x has no line that names its interpreter"],
    ["\u007FELF"],
    ["a\0b"],
    ["#!/no/such/shell\n", "error program-missing: x needs /no/such/shell, which is not installed"],
    [env("node")],
    [env("nothing"), "error program-missing: x needs nothing, which is not installed"],
    [env("-S nothing --x"), "error program-missing: x needs nothing, which is not installed"],
    ["#!/usr/bin/env\n"],
    [`${bash}true\r\n`, "error script-lines: x has line ends of Windows"],
    [`${env("node")}true\r\n`],
    [`${bash}# exit 1`],
    [`${bash}exit 1`, "warning exit-one: x exits with 1 and never with 2"],
    [`${bash}echo $FILE`, "warning variable-unknown: no part of the agent sets $FILE, which x uses"],
    [`${env("python3")}os.environ["FILE"]`, "warning variable-unknown: no part of the agent sets $FILE, which x uses"],
    [
      `${env("node")}process.env.MY_TOKEN`,
      "warning variable-unknown: no part of the agent sets $MY_TOKEN, which x uses"
    ],
    [`${bash}jq .x; true`, "error program-missing: x needs jq, which is not installed"],
    [`${bash}x=$(jq .x)`, "error program-missing: x needs jq, which is not installed"],
    [`${bash}myjq .x`],
    [`${env("python3")}jq .x`],
    [`${env("python3")}tar = 1`],
    [
      `${sh}[[ a ]]\njq .x; true`,
      "error shell-syntax: x is run by sh and is written for bash: [[ a ]]",
      "error program-missing: x needs jq, which is not installed"
    ]
  ])("%j: %j", (text, ...expected) => assert.deepEqual(of(text), expected))

  it.each([
    "[[ a ]]",
    "cat <<< a",
    "cat <(ls)",
    "echo ${A,,}",
    "echo ${A^^}",
    "function f {",
    "declare A",
    "A=(1 2)",
    "a &> b"
  ])("of sh that contains %s is written for bash", (line) => {
    const what = "error shell-syntax: x is run by sh and is written for bash: "
    assert.include(of(`${sh}A=1\n${line}\n`), `${what}${line}`)
    assert.notInclude(of(`${bash}A=1\n${line}\n`).join(), "shell-syntax")
  })

  it("of sh is quoted up to 60 letters, without comments", () => {
    const [only] = of(`${sh}# [[ a ]]\n  echo ${"a".repeat(60)} [[ b ]]\n`)
    assert.strictEqual(only, `error shell-syntax: x is run by sh and is written for bash: echo ${"a".repeat(55)}`)
  })

  it("needs no execute bit if a program starts it", () => {
    assert.deepEqual(of(bash, { mode: 0o644 }), ["error script-mode: x has no execute bit"])
    assert.deepEqual(of("true\r\n", { mode: 0o644 }), [
      "error script-mode: x has no execute bit",
      "warning script-shebang: x has no line that names its interpreter",
      "error script-lines: x has line ends of Windows"
    ])
    assert.deepEqual(of("true", { mode: 0o644, by: "bash " }), [])
    assert.deepEqual(of("true\r\n", { mode: 0o644, by: "bash " }), ["error script-lines: x has line ends of Windows"])
  })

  const last = (line: string) => wrong(`the exit code of x is that of its last line: ${line}`)
  const strict = (line: string) => wrong(`x has set -e and exits with the code of this line if it fails: ${line}`)
  it.each<readonly [string, ...ReadonlyArray<string>]>([
    ["guard\n  grep y\n\n", last("grep y")],
    ["guard | grep y", last("guard | grep y")],
    ["guard && grep y", last("guard && grep y")],
    [`grep ${"y".repeat(60)}`, last(`grep ${"y".repeat(55)}`)],
    ["grep y\nguard"],
    ["set -e\ngrep y\nguard", strict("grep y")],
    ["set -eu\ngrep y\nguard", strict("grep y")],
    ["set -ue\ngrep y\nguard", strict("grep y")],
    ["set -o errexit\ngrep y\nguard", strict("grep y")],
    ["set -u\ngrep y\nguard"],
    [`set -e\ngrep ${"y".repeat(60)}\nguard`, strict(`grep ${"y".repeat(55)}`)],
    ["set -e\ngrep y || true\nguard"],
    ["set -e\ngrep y && guard\nguard"],
    ["set -e\nif grep y\nthen guard; fi\nguard"],
    ["set -e\nelif grep y\nguard"],
    ["set -e\nuntil grep y\nguard"],
    ["set -e\n! grep y\nguard"],
    ["set -e\nguard; then\nguard"],
    ["set -e\ngrep y | guard\nguard"],
    ["set -e\nguard | grep y\nguard", strict("guard | grep y")],
    ["set -eo pipefail\ngrep y | guard\nguard", strict("grep y | guard")],
    ["set -e\nX=$(grep y)\nguard", strict("X=$(grep y)")],
    ["set -e\nX=\"$(guard | grep y)\"\nguard", strict("X=\"$(guard | grep y)\"")],
    ["set -e\nX=$(grep y | guard)\nguard"]
  ])("with the lines %j: %j", (lines, ...expected) => {
    assert.deepEqual(of(`${bash}${lines}`), expected)
    assert.deepEqual(of(`${bash}${lines}`, { at: "claude PostToolUse" }), [], "code 2 blocks nothing here")
  })

  it("can switch the errors on in its first line", () => {
    const [only] = of(`${bash.trim()} -e\ngrep y\nguard`)
    assert.strictEqual(only, strict("grep y"))
  })
})

describe("a finding about a command", () => {
  it("says exactly this", async () => {
    await expect(all.text().replaceAll(join(root, "../"), "…/")).toMatchFileSnapshot(
      "../../support/printed/lint-command.txt"
    )
  })
})
