/** Variables that a command uses and nobody sets. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { assert, describe, it } from "vitest"
import { variables } from "../../../src/internal/lint/variables.ts"
import { type Facts, item, shown } from "../../support/lintItem.ts"

describe("a variable that nobody sets", () => {
  const of = (code: string, language = "shell", facts: Facts = {}, dialect: Dialect = "claude") =>
    variables(item(dialect, "PreToolUse", facts), "the line", code, language)[0]?.what.replace(
      "no part of the agent sets $",
      ""
    )

  it.each<readonly [string, string | undefined]>([
    ["echo $FILE", "FILE"],
    ["echo ${FILE} $OTHER", "FILE"],
    ["echo ${#FILE}", "FILE"],
    ["echo ${!FILE}", "FILE"],
    ["echo '$FILE'", undefined],
    ["FILE=1; echo $FILE", undefined],
    ["(FILE=1; echo $FILE)", undefined],
    ["FILE+=1; echo $FILE", undefined],
    ["FILE[1]=1; echo $FILE", undefined],
    ["A.FILE=1; echo $FILE", "FILE"],
    ["for FILE in a; do echo $FILE; done", undefined],
    ["while getopts ab: FILE; do echo $FILE; done", undefined],
    ["printf -v FILE x; echo $FILE", undefined],
    ["(( FILE = 1 )); echo $FILE", undefined],
    ["read -r A FILE; echo $FILE", undefined],
    ["export FILE; echo $FILE", undefined],
    ["read $FILE", "FILE"],
    ["[ -n \"$FILE\" ] && echo $FILE", undefined],
    ["[ -z $FILE ]", undefined],
    ["[[ -v FILE ]] && echo $FILE", undefined],
    ["echo ${FILE:-x} $FILE", undefined],
    ["echo ${FILE?x}", undefined],
    [". ./x; echo $FILE", undefined],
    ["source x; echo $FILE", undefined],
    ["eval x; echo $FILE", undefined],
    ["echo x.source y $FILE", "FILE"],
    ["echo $HOME $PWD $1 $_ $RANDOM $LC_ALL $BASH_VERSION $CLAUDE_PROJECT_DIR $tool_input_command", undefined],
    ["echo $GEMINI_CWD", "GEMINI_CWD"]
  ])("of the line %s is %s", (code, name) => assert.strictEqual(of(code), name))

  it.each<readonly [string, string | undefined]>([
    ["os.environ['FILE']", "FILE"],
    ["os.environ[\"FILE\"] == 1", "FILE"],
    ["os.environ['FILE'] = 1", undefined],
    ["os.environ.get('FILE')", undefined],
    ["os.environ.get('MY_TOKEN')", "MY_TOKEN"],
    ["os.environ.get('MY_TOKEN', '')", undefined],
    ["os.getenv('CLAUDE_FILE_PATHS')", "CLAUDE_FILE_PATHS"],
    ["os.environ['HOME']", undefined]
  ])("of the Python code %s is %s", (code, name) => assert.strictEqual(of(code, "python"), name))

  it.each<readonly [string, string | undefined]>([
    ["process.env.MY_TOKEN", "MY_TOKEN"],
    ["process.env['MY_SECRET']", "MY_SECRET"],
    ["process.env.MY_TOKEN ?? 1", undefined],
    ["process.env.MY_TOKEN || 1", undefined],
    ["process.env.MY_TOKEN = 1", undefined],
    ["process.env.MY_TOKEN == 1", "MY_TOKEN"],
    ["process.env.FILE", undefined],
    ["process.env.CLAUDE_TOOL_INPUT", "CLAUDE_TOOL_INPUT"]
  ])("of the JavaScript code %s is %s", (code, name) => assert.strictEqual(of(code, "node"), name))

  it("can be set by the entry, or by settings of the user", () => {
    assert.isUndefined(of("echo $FILE", "shell", { env: { FILE: "1" } }))
    assert.isUndefined(of("echo $FILE", "shell", { settingsEnv: { FILE: "1" } }))
    assert.strictEqual(of("echo $FILE", "shell", { settingsEnv: { FILE: "1" }, ofProject: true }), "FILE")
    assert.isUndefined(of("echo $GEMINI_CWD", "shell", {}, "gemini"))
    assert.strictEqual(of("echo $CLAUDE_PROJECT_DIR", "shell", {}, "windsurf"), "CLAUDE_PROJECT_DIR")
  })

  it("says who uses it, and what to do", () => {
    const all = (dialect: Dialect, name: string, code: string) =>
      shown(variables(item(dialect, "PreToolUse"), name, code, "shell"))
    assert.deepEqual(all("claude", "x.sh", "echo $MY_TOKEN"), [
      "warning variable-unknown: no part of the agent sets $MY_TOKEN, which x.sh uses | " +
      "Add it to the options of the agent: passEnv: [\"MY_TOKEN\"]."
    ])
    const read = "Read the event from standard input, such as jq -r .tool_input.file_path"
    const said = "warning variable-unknown: no part of the agent sets $FILE |"
    assert.deepEqual(all("claude", "the line", "echo $FILE"), [`${said} ${read}, or use $tool_input_file_path.`])
    assert.deepEqual(all("codex", "the line", "echo $FILE"), [`${said} ${read}, or use $tool_input_file_path.`])
    assert.deepEqual(all("gemini", "the line", "echo $FILE"), [`${said} ${read}.`])
  })
})
