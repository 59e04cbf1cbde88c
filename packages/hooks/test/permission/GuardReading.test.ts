import * as Condition from "@belay/hooks/Condition"
import * as DestructiveCommands from "@belay/hooks/DestructiveCommands"
import * as ProtectedPaths from "@belay/hooks/ProtectedPaths"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { decodeAnsiEscape } from "../../src/permission/internal/syntax/ansiEscape.ts"
import { decide } from "../support/decide.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "guard-reading-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const at: Condition.Setting = { cwd: "/p", home: "/h/ada", use: "guard" }
const rule = (text: string) => Result.getOrThrow(Condition.parse(text))
const bash = (command: string): Condition.Call => ({ tool: "Bash", args: { command } })
const verdict = (text: string, command: string) => Condition.evaluate(rule(text), bash(command), at)
const covered = (allow: string, command: string) => Condition.covers([rule(allow)], bash(command), at)

describe("rules about commands", () => {
  const runs: ReadonlyArray<readonly [allow: string, line: string]> = [
    ["Bash(tar *)", "tar xf a.tar --to-command='touch x'"],
    ["Bash(tar *)", "tar cf a.tar b --checkpoint-action=exec='touch x'"],
    ["Bash(sort *)", "sort --compress-prog=./x a"],
    ["Bash(rg *)", "rg --pre ./x y"],
    ["Bash(man *)", "man -P ./x ls"],
    ["Bash(git *)", "git -c core.pager=./x log"],
    ["Bash(git *)", "git grep -O./x y"],
    ["Bash(rsync *)", "rsync -e ./x a b:"],
    ["Bash(find *)", "find . -exec ./x {} +"],
    ["Bash(make *)", "make SHELL=./x"],
    ["Bash(awk *)", "awk 'BEGIN { system(\"touch x\") }'"],
    ["Bash(awk *)", "awk '{ print > \"x\" }' a"],
    ["Bash(sed *)", "sed 's/a/b/w x' a"],
    ["Bash(sed *)", "sed '1e touch x' a"],
    ["Bash(vim *)", "vim -c '!touch x' a"],
    ["Bash(npx *)", "npx other"]
  ]
  for (const [allow, line] of runs) {
    it(`${allow} does not allow ${line}`, () => assert.isFalse(covered(allow, line)))
  }

  it("read the values that a line gives its variables", () => {
    assert.strictEqual(verdict("Bash(git push *)", "x=push; git $x"), "match")
    assert.strictEqual(verdict("Bash(git push *)", "for x in fetch push; do git $x; done"), "match")
    assert.strictEqual(verdict("Bash(git push *)", "for x in fetch pull; do echo $x; done"), "no-match")
    assert.strictEqual(verdict("Bash(git push *)", "git $(echo push)"), "match")
  })

  it("know the flags of programs that trace another program", () => {
    for (
      const flags of [
        "-f",
        "-ff -y",
        "-C -d -F -h -i -k",
        "-n -q -r -t -T -v -V -w -x -y -Y -z -Z",
        "-fo log",
        "-e trace=file"
      ]
    ) {
      assert.strictEqual(verdict("Bash(git push *)", `strace ${flags} git push`), "match", flags)
      assert.strictEqual(verdict("Bash(git push *)", `strace ${flags} git status`), "no-match", flags)
    }
  })

  it("know code that only computes and prints, and no other code", () => {
    const push = (line: string) => verdict("Bash(git push *)", line)
    assert.strictEqual(push("python3 -c 'import json; print(json.dumps([1]))'"), "no-match")
    assert.strictEqual(push("node -p 'process.version'"), "no-match")
    assert.strictEqual(push("perl -pe 's/a/b/' x"), "no-match")
    for (
      const code of [
        "python3 -c 'import os; os.system(x)'",
        "python3 -c 'import json; json.codecs.builtins.exec(x)'",
        "node -e 'process.mainModule.require(x)'",
        "node -e '[][\"constr\" + \"uctor\"]'",
        "perl -pe 's/a/system(x)/e' x"
      ]
    ) {
      assert.strictEqual(push(code), "unknown", code)
    }
  })
})

describe("a rule about reading", () => {
  it("applies to a file whose name has escapes in quotes", () => {
    const escapes = [
      ["n", "\n"],
      ["t", "\t"],
      ["r", "\r"],
      ["a", "\x07"],
      ["b", "\b"],
      ["e", "\x1b"],
      ["E", "\x1b"],
      ["f", "\f"],
      ["v", "\v"]
    ] as const
    for (const [letter, character] of escapes) {
      assert.strictEqual(decodeAnsiEscape(letter), character)
      assert.strictEqual(verdict("read(x*y)", `cat $'x\\${letter}y'`), "match", letter)
    }
  })

  it("applies to the JSON files that inline code requires", () => {
    for (const file of ["./secrets.json", "/p/secrets.json"]) {
      const line = `node -p 'require("${file}").token'`
      assert.strictEqual(verdict("read(secrets.json)", line), "match", line)
      assert.strictEqual(verdict("read(other.json)", line), "no-match", line)
    }
    assert.strictEqual(verdict("read(package.json)", "node -p 'require(\"./package.json\").version'"), "match")
    assert.strictEqual(verdict("read(package.json)", "node -p 'require(\"tool/package.json\").version'"), "no-match")
  })
})

describe("DestructiveCommands and scripts", () => {
  const tag = (command: string, cwd: string) =>
    Effect.map(decide(DestructiveCommands.make(), "bash", { command }, { cwd }), ({ _tag }) => _tag)

  it.effect("reads the shell scripts and SQL files that a line runs", () =>
    Effect.scoped(Effect.gen(function*() {
      const cwd = yield* folder
      writeFileSync(join(cwd, "clean.sh"), "#!/bin/sh\ncd src\nrm -rf build\n")
      writeFileSync(join(cwd, "check.sh"), "#!/bin/sh\nnpm test\n")
      writeFileSync(join(cwd, "outer.sh"), "#!/bin/sh\n./clean.sh\n")
      writeFileSync(join(cwd, "drop.sql"), "select 1;\ndrop table users;\n")
      writeFileSync(join(cwd, "seed.sql"), "insert into users values (1);\n")
      for (
        const line of [
          "bash clean.sh",
          "./clean.sh",
          ". ./clean.sh",
          "sh outer.sh",
          "psql -f drop.sql",
          "mysql x < drop.sql"
        ]
      ) {
        assert.strictEqual(yield* tag(line, cwd), "Reject", line)
      }
      for (const line of ["bash check.sh", "./check.sh", "source check.sh", "psql -f seed.sql", "bash missing.sh"]) {
        assert.strictEqual(yield* tag(line, cwd), "Continue", line)
      }
      assert.strictEqual(yield* tag("psql -f missing.sql", cwd), "Reject")
    })))

  it.effect("rejects a line that runs a file which it writes", () =>
    Effect.gen(function*() {
      for (const line of ["echo ls > x.sh; sh x.sh", "cp a x && ./x", "printf ls | tee x.py; python3 x.py"]) {
        assert.strictEqual(yield* tag(line, "/tmp/nowhere"), "Reject", line)
      }
    }))
})

describe("ProtectedPaths and the disk", () => {
  it.effect("rejects a recursive command only if there is a protected file below its folder", () =>
    Effect.scoped(Effect.gen(function*() {
      const cwd = yield* folder
      for (const [path, file] of [["src", "a.ts"], ["config", ".env"]] as const) {
        mkdirSync(join(cwd, path))
        writeFileSync(join(cwd, path, file), "x")
      }
      const hook = ProtectedPaths.make({ read: [".env"] })
      const tag = (command: string) => Effect.map(decide(hook, "bash", { command }, { cwd }), ({ _tag }) => _tag)
      for (const line of ["grep -rn x src", "cp -r src dst", "find src -type f | xargs grep x", "cat src/*"]) {
        assert.strictEqual(yield* tag(line), "Continue", line)
      }
      for (
        const line of ["grep -rn x config", "cp -r config dst", "find config -type f | xargs grep x", "rm -rf config"]
      ) {
        assert.strictEqual(yield* tag(line), "Reject", line)
      }
    })))
})
