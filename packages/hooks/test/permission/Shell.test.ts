import * as Shell from "@belay/hooks/Shell"
import { assert, describe, it } from "@effect/vitest"

const programs = (script: string) => Shell.parse(script).commands.map(({ words }) => words[0]?.text)

describe("Shell.parse", () => {
  it("finds the commands of a line, also inside of substitutions", () => {
    assert.deepEqual(programs("cd /tmp && rm -rf x | tee log"), ["cd", "rm", "tee"])
    assert.sameMembers(programs("echo $(whoami) `id`"), ["echo", "whoami", "id"])
  })

  it("does not take arithmetic in a here-document for arithmetic around one", () => {
    assert.isUndefined(Shell.parse("node <<'EOF'\nlist.map((n) => n * 2)\nEOF\n").problem)
    assert.isDefined(Shell.parse("((1<<EOF))\nrm -rf src\nEOF\n").problem)
    assert.isDefined(Shell.parse("cat <<A\nx\nA\n((1<<EOF))\nrm -rf src\nEOF\n").problem)
  })

  it("removes quotes, and says which words are dynamic or globs", () => {
    const { commands, dynamic } = Shell.parse("rm 'a b' \"$NAME\" *.log")
    assert.deepEqual(commands[0]?.words.slice(1), [
      { text: "a b", dynamic: false, fuzzy: false },
      { text: "$", dynamic: true, fuzzy: false },
      { text: "*.log", dynamic: false, fuzzy: true }
    ])
    assert.isTrue(dynamic)
  })

  it("separates assignments, redirections and here-documents from the words", () => {
    const [command] = Shell.parse("A=1 cat <<END > out\nhello\nEND\n").commands
    assert.deepEqual(command?.assigns.map(({ name, value }) => [name, value.text]), [["A", "1"]])
    assert.deepEqual(command?.redirects.map(({ op, target }) => [op, target.text]), [[">", "out"]])
    assert.deepEqual(command?.inputs.map(({ text }) => text), ["hello"])
  })

  it("reports why a script cannot be read, and never guesses", () => {
    assert.strictEqual(Shell.parse("echo 'open").problem, "a quote is not closed")
    assert.strictEqual(Shell.parse("echo $(date").problem, "a parenthesis is not closed")
    assert.strictEqual(Shell.parse(`echo ${"a".repeat(70_000)}`).problem, "it is too long")
    assert.isUndefined(Shell.parse("echo done").problem)
  })
})
