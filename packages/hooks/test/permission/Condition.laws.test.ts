import { JsonValue } from "@belay/core/Message"
import * as Condition from "@belay/hooks/Condition"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { cpuMs } from "../../../../test/support/cpu.ts"
import { harmless } from "../support/harmlessShellLines.ts"
import { bypasses } from "../support/shellLines.ts"

const rule = (text: string) => Result.getOrThrow(Condition.parse(text))

const at: Condition.Setting = { cwd: "/p", home: "/h", realpath: () => undefined }
const guard: Condition.Setting = { ...at, use: "guard" }

const shell = (text: string, command: string, setting: Condition.Setting = at) =>
  Condition.evaluate(rule(text), { tool: "Bash", args: { command } }, setting)

const hits = (verdict: Condition.Verdict) => verdict !== "no-match"

describe("hostile input", () => {
  const long = [
    ..."a |$(|`|${|((|'|\"|\\|<<E\n|sudo |sudo git |git -c |{a,b}|*|[[ |(|) |;|env A=1 |\u00a0|bash -c \"".split("|"),
    ..."/../|~/|[|!(".split("|")
  ]
  for (const piece of long) {
    it(`stays fast on many ${JSON.stringify(piece)}`, () => {
      const line = piece.repeat(Math.ceil(64_000 / piece.length))
      const began = cpuMs()
      for (const text of ["Bash(*a*a*a*a*b)", "Bash(git push *)", "write(**/*a*a*b)", "read(**/.env*)"]) {
        shell(text, line, guard)
      }
      Condition.evaluate(rule("Write(**/*a*a*a*a*b/**/c)"), {
        tool: "Write",
        args: { file_path: line.slice(0, 8_000) }
      }, guard)
      assert.isBelow(cpuMs() - began, 3_000)
    })
  }

  it.prop(
    "never throws for any tool and arguments",
    [Schema.String, Schema.String, JsonValue],
    ([tool, line, args]) => {
      const calls = [{ tool, args }, { tool: "Bash", args: { command: line } }, {
        tool: "Write",
        args: { file_path: line, data: args }
      }]
      return ["Bash(git push *)", "write(/etc/**)", "read(.env*)", "network(domain:a.test)", "*(a*)", "Agent(x)"].map(
        rule
      ).every((one) =>
        calls.every((call) =>
          ["match", "no-match", "unknown"].includes(Condition.evaluate(one, call, guard)) &&
          typeof Condition.covers([one], call, guard) === "boolean"
        )
      )
    },
    { arbitrary: { runs: 200 } }
  )

  const signs = Schema.Literals([
    "git push",
    "ls",
    " ",
    "'",
    "\"",
    "$(",
    ")",
    "`",
    "\\",
    "\n",
    ";",
    "&&",
    "|",
    "<<E\n",
    "E",
    "{",
    "}",
    "(",
    "${",
    "#",
    "$",
    ">",
    "x=",
    "case",
    "\u00a0"
  ])
  it.prop("never throws for any mixture of shell characters", [Schema.Array(signs)], ([pieces]) => {
    const verdict = shell("write(/etc/**)", pieces.join(""))
    return verdict === "match" || verdict === "no-match" || verdict === "unknown"
  }, { arbitrary: { runs: 500 } })

  const before = Schema.Array(Schema.Tuple([
    Schema.Literals(["ls", "echo a", "true", "cd x", "grep b c", "npm test"]),
    Schema.Literals([" && ", "; ", " | ", "\n", " & ", " || ", " |& ", "; (", " && { "])
  ]))
  const around: ReadonlyArray<(line: string) => string> = [
    (line) => line,
    (line) => `$(${line})`,
    (line) => `sudo ${line}`,
    (line) => `bash -c '${line}'`,
    (line) => `"\`${line}\`"`,
    (line) => `if true; then ${line}; fi`,
    (line) => `env A=1 nice -n 5 ${line}`,
    (line) => `eval "${line}"`
  ]
  const place = Arbitrary.schema(Schema.Literals(around.map((_, index) => index)))
  it.prop("finds a command wherever it stands among others", [before, place], ([others, index]) => {
    const line = `${others.map(([text, by]) => text + by).join("")}${around[index]!("git push origin")}; ls`
    return hits(shell("Bash(git push *)", line))
  }, { arbitrary: { runs: 300 } })

  it("gives the same answer as a permission and as a condition, which may also be unsure about variables", () => {
    for (const line of [...bypasses, ...harmless]) {
      const [permission, condition] = [shell("Bash(git push *)", line, guard), shell("Bash(git push *)", line, at)]
      if (permission === "no-match") assert.include(["no-match", "unknown"], condition)
      else assert.strictEqual(permission, condition, line)
    }
    assert.isTrue(bypasses.every((line) => hits(shell("Bash(git push *)", line, guard))))
  })
})
