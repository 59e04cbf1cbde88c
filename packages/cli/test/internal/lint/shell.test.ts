/** How scripts are split into commands, and which text they certainly write first. */
import { assert, describe, it } from "vitest"
import { textBefore } from "../../../src/internal/lint/said.ts"
import { commandsOf, filledIn } from "../../../src/internal/lint/shell.ts"

/** Commands are separated by `/`, and their parts by the operators. */
const split = (script: string): string =>
  commandsOf(script).map((parts) =>
    parts.map(({ after, text }) => `${after === "and" ? "&& " : after === "or" ? "|| " : ""}${text}`).join(" ")
  ).join(" / ")

describe("a shell script", () => {
  const rows: ReadonlyArray<readonly [script: string, commands: string]> = [
    ["a; b\nc", "a / b / c"],
    ["a && b || c; d", "a && b || c / d"],
    ["\n;; a\n\n", "a"],
    ["a & b", "a & b"],
    ["echo 'a; b' \"c && d\"", "echo 'a; b' \"c && d\""],
    ["echo 'it\\'; b", "echo 'it\\' / b"],
    ["echo \"a\\\"; b\"; c", "echo \"a ; b\" / c"],
    ["echo a\\;b; c", "echo a b / c"],
    ["a # b; c\nd", "a / d"],
    ["# a\nb", "b"],
    ["a#b; c", "a#b / c"],
    ["(#a\nb); c", "( b) / c"],
    ["a; # b", "a"],
    ["(a; b && c); d", "(a; b && c) / d"],
    ["a); b", "a) / b"],
    ["x=$(a\nb); c", "x=$(a b) / c"],
    ["cat <<END\nhello; you\nEND\na", "cat <<X h / a"],
    ["cat <<-'END' > x; b\n  {\n\tEND\na", "cat <<X  > x / b{ / a"],
    ["cat <<END\n\nEND\na", "cat <<X / a"],
    ["cat <<END\nhello", "cat <<X h"],
    ["cat <<END\nENDING\nEND\na", "cat <<X E / a"],
    ["cat <<< a; b\nc", "cat <<< a / b / c"],
    ["cat << ; b", "cat << / b"]
  ]
  it.each(rows)("%j has the commands %j", (script, commands) => assert.strictEqual(split(script), commands))

  const filled: ReadonlyArray<readonly [script: string, text: string]> = [
    ["a 'b' c", "a     c"],
    ["a \"$b\" c", "a \"$b\" c"],
    ["a && b || c", "a \n b \n c"],
    ["a; b", "a\n b"],
    ["(a; b)", "(a\n b)"],
    ["a # $b", "a "],
    ["a \\$b", "a  b"],
    ["cat <<END\n$a\nEND\nb", "cat <<X $a\n\n\nb"],
    ["cat <<'END'\n$a\nEND\nb", "cat <<X    \n\nb"]
  ]
  it.each(filled)("%j without literal text is %j", (script, text) => assert.strictEqual(filledIn(script), text))
})

const json = "echo '{\"decision\":\"block\"}'"

describe("text before JSON", () => {
  const shell: ReadonlyArray<readonly [script: string, text: string | undefined]> = [
    [`echo one; echo two; ${json}`, "echo one"],
    [`echo one && ${json}`, "echo one"],
    [`echo one || ${json}`, "echo one"],
    [`true && echo one && ${json}`, "echo one"],
    [`true && echo one\n${json}`, undefined],
    [`true && echo one || ${json}`, undefined],
    [`printf 'one'; ${json}`, "printf 'one'"],
    [`echo -n one; ${json}`, "echo -n one"],
    [`echo; ${json}`, undefined],
    [`echo "$x"; ${json}`, undefined],
    [`echo -x one; ${json}`, undefined],
    [`echo "$(jq -r .x)"; ${json}`, "echo \"$(jq -r .x)\""],
    [`cat <<END\none\nEND\n${json}`, "cat <<X o"],
    [`cat <<END\n<one>\nEND\n${json}`, undefined],
    [`echo one > x; ${json}`, undefined],
    [`echo one | cat; ${json}`, undefined],
    [`echo "one > x"; ${json}`, "echo \"one > x\""],
    [`echo 'one | x'; ${json}`, "echo 'one | x'"],
    ["echo one; printf '{}'", "echo one"],
    ["echo one; echo -n {", "echo one"],
    ["echo one; echo \\\\{", "echo one"],
    ["echo one; jq -n '{}'", "echo one"],
    ["echo one; jq -c -n '{}'", "echo one"],
    ["echo one; jq -cn '{}'", "echo one"],
    ["echo one; jq '{}'", undefined],
    ["echo one; cat <<END\n{\nEND", "echo one"],
    [`echo one; ${json} >&2`, undefined],
    [`if a; then echo one; fi; ${json}`, undefined],
    [`if a; then echo one; ${json}; fi`, "echo one"],
    [`if a; then ${json}; echo one; fi`, undefined],
    [`if a\nthen\necho one\nelse\n${json}\nfi`, undefined],
    [`if a; then echo one; elif b; then ${json}; fi`, undefined],
    [`echo zero; if a; then echo one; else ${json}; fi`, "echo zero"],
    [`echo zero; if a; then echo one; fi; ${json}`, "echo zero"],
    [`for x in a; do echo one; done; ${json}`, undefined],
    [`for x in a; do echo one; ${json}; done`, "echo one"],
    [`while a; do echo one; done\n${json}`, undefined],
    [`until a; do echo one; done\n${json}`, undefined],
    [`select a in b; do echo one; done\n${json}`, undefined],
    [`{ echo one; ${json}; }`, "echo one"],
    [`say() { echo one; }\n${json}`, undefined],
    [`say() {\necho one\n}\necho two\n${json}`, "echo two"],
    [`function say { echo one; }\n${json}`, undefined],
    [`fi\necho one\n${json}`, "echo one"],
    [`case $1 in\na) echo one ;;\nb) ${json} ;;\nesac`, undefined],
    [`case $1 in\na) echo one; ${json} ;;\nesac`, "echo one"],
    [`case $1 in\na) echo one ;;\nesac\n${json}`, undefined],
    [`echo zero\ncase $1 in\na) ${json} ;;\nesac`, "echo zero"],
    [`echo one; exit 0; ${json}`, undefined],
    [`if a; then echo one; exit 0; fi; ${json}`, undefined],
    [`echo one; if a; then exit 0; fi; ${json}`, "echo one"],
    [`echo one; a && exit 0; ${json}`, "echo one"],
    [`f() { echo one; return; ${json}; }`, undefined],
    ["", undefined]
  ]
  it.each(shell)("of the shell script %j is %j", (script, text) => {
    assert.strictEqual(textBefore(script, "shell"), text)
  })

  const answer = "print(json.dumps({}))"
  const python: ReadonlyArray<readonly [script: string, text: string | undefined]> = [
    [`print("one")\nprint("two")\n${answer}`, "print(\"one\")"],
    [`print('one')\n${answer}`, "print('one')"],
    [`print(f"one")\n${answer}`, "print(f\"one\")"],
    [`print("one", file=x)\n${answer}`, undefined],
    [`print("{}")\n${answer}`, undefined],
    [`print("")\n${answer}`, undefined],
    [`print("one")\n\n  # two\n${answer}`, "print(\"one\")"],
    [`# print("one")\n${answer}`, undefined],
    [`if a:\n  print("one")\n${answer}`, undefined],
    [`if a:\n  print("one")\n  ${answer}`, "print(\"one\")"],
    [`if a:\n  print("one")\n  # two\n\n  ${answer}`, "print(\"one\")"],
    [`print("one")\nif a:\n  ${answer}`, "print(\"one\")"],
    [`if a:\n  print("one")\nelse:\n  ${answer}`, undefined],
    [`print("one")\nif a:\n  b\nelse:\n  ${answer}`, "print(\"one\")"],
    [`if a:\n  print("one")\nelif b:\n  c\nelse:\n  ${answer}`, undefined],
    [`try:\n  print("one")\nexcept E:\n  ${answer}`, undefined],
    [`try:\n  print("one")\nfinally:\n  ${answer}`, undefined],
    [`def f():\n  print("one")\n  return\n  ${answer}`, undefined],
    [`print("one")\nsys.exit(0)\n${answer}`, undefined],
    [`print("one")\nif a:\n  exit()\n${answer}`, "print(\"one\")"],
    [`print("one")\nraise E\n${answer}`, undefined],
    [`${answer}\nprint("one")`, undefined],
    [`print( json.dumps({}))`, undefined]
  ]
  it.each(python)("of the Python script %j is %j", (script, text) => {
    assert.strictEqual(textBefore(script, "python"), text)
  })
})
