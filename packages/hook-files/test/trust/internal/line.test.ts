/** Which files a shell line runs, with nothing else than the line. */
import { assert, describe, it } from "@effect/vitest"
import type { Work } from "../../../src/runner/Runners.ts"
import { named } from "../../../src/trust/internal/named.ts"

const where = {
  cwd: "/project",
  base: "/project",
  home: "/people/ada",
  root: "/plugin",
  exists: (path: string) => path === "/project/guard" || path === "/project/tools/guard"
}

const found = (work: Work, env: { readonly [name: string]: string } = {}, base = where.base): string => {
  const all = named(work, env, { ...where, base }).map(({ as, path }) =>
    `${as}:${path === "/project" ? "." : path.replace(/^\/project\//, "")}`
  )
  return [...new Set(all)].sort().join(" ")
}

/** A line, and the files that it names, with what each is to the line. */
type Rows = ReadonlyArray<readonly [line: string, files: string]>

const check = (rows: Rows): void => {
  for (const [line, files] of rows) {
    it(`finds ${files === "" ? "nothing" : files} in ${line.replaceAll("\n", " ")}`, () => {
      assert.strictEqual(found({ type: "command", command: line }), files)
    })
  }
}

describe("a program", () => {
  check([
    ["./guard.sh", "script:guard.sh"],
    ["guard.sh", ""],
    ["guard", ""],
    ["", ""],
    ["/usr/local/bin/guard", ""],
    ["\"$CLAUDE_PLUGIN_ROOT\"/x.sh", "script:/plugin/x.sh"],
    ["~/x.sh", "script:/people/ada/x.sh"],
    ["./python3 x.py", "file:python3 script:x.py"],
    ["./bash x.sh", "file:bash script:x.sh"],
    ["tools/awk.exe -f x.awk", "file:x.awk script:tools/awk.exe script:x.awk"],
    ["$TOOL --x", ""],
    ["\"$TOOL\" ./x.sh", "script:x.sh"],
    ["https://example.com/x.sh", ""],
    [`./${"a".repeat(4_094)}`, `script:${"a".repeat(4_094)}`],
    [`./${"a".repeat(4_095)}`, ""]
  ])
})

describe("a program with arguments of its own", () => {
  it("is read without a shell", () => {
    const args = (command: string, ...args: ReadonlyArray<string>) => found({ type: "command", command, args })
    assert.strictEqual(args("./x.sh", "./a b.md", "; ./y.sh"), "operand:; ./y.sh operand:a b.md script:x.sh")
    assert.strictEqual(args("bash", "-c", "cat ./a.md"), "operand:a.md")
    assert.strictEqual(args("$CLAUDE_PROJECT_DIR/x.sh", "$HOME/a.md"), "operand:/people/ada/a.md script:x.sh")
    assert.strictEqual(args("$TOOL", "./a.md"), "script:a.md")
    assert.strictEqual(args("tool", "./a\0b"), "")
    assert.strictEqual(args("sudo", ...Array.from({ length: 7 }, () => "sudo"), "cat", "./a.md"), "operand:a.md")
  })

  it("can be one of Windows", () => {
    const line = ".\\tools\\x.ps1"
    assert.strictEqual(found({ type: "command", command: line, shell: "powershell" }), "script:tools/x.ps1")
    assert.strictEqual(found({ type: "command", command: line }), "")
  })

  it("runs in the folder of its entry", () => {
    assert.strictEqual(found({ type: "command", command: "./x.sh" }, {}, "/project/tools"), "script:tools/x.sh")
  })

  it("has the variables of its entry", () => {
    const files = found({ type: "command", command: "true" }, { NODE_OPTIONS: "-r $CLAUDE_PROJECT_DIR/x.js", A: "b" })
    assert.strictEqual(files, "script:x.js")
  })

  it("is not in an entry of another kind", () => {
    assert.strictEqual(found({ type: "prompt", prompt: "./x.sh" }), "")
  })
})

describe("a variable", () => {
  check([
    ["BASH_ENV=./env.txt true", "script:env.txt"],
    ["ENV=./env.txt true", "script:env.txt"],
    ["MY_ENV=./env.txt true", ""],
    ["NODE_OPTIONS=\"--require ./pre.txt\" node x.mjs", "script:pre.txt script:x.mjs"],
    ["JAVA_OPTS=-javaagent:./agent.txt true", "script:agent.txt"],
    ["MY_OPT=./a.txt true", "script:a.txt"],
    ["LD_PRELOAD=./lib.txt true", "script:lib.txt"],
    ["PYTHONSTARTUP=./start.txt python3 x.py", "script:start.txt script:x.py"],
    ["PROMPT_COMMAND=./p.txt true", "script:p.txt"],
    ["PAGER=./p.txt git log", "script:p.txt"],
    ["EDITOR=./p.txt git commit", "script:p.txt"],
    ["GIT_ASKPASS=./p.txt git fetch", "script:p.txt"],
    ["PATH=bin:$PATH guard", "folder:bin"],
    ["PATH=bin:more/bin guard", "folder:bin folder:more/bin operand:more/bin"],
    ["PYTHONPATH=lib,more python3 x.py", "folder:lib folder:more script:x.py"],
    ["RUBYLIB=lib ruby x.rb", "folder:lib script:x.rb"],
    ["PATH_OPTIONS=./a.txt true", "script:a.txt"],
    ["STATE=./state.json true", ""],
    ["TOOL=./tools/guard true", "operand:tools/guard"],
    ["TOOL=./tools/guard.sh true", "script:tools/guard.sh"],
    ["X=a,./b.sh=./c.sh true", "script:b.sh script:c.sh"],
    ["X=plain true", ""],
    ["X=1.5 true", ""],
    ["X=./a.d.ts true", ""],
    ["X=1; cat ./a.md", "operand:a.md"],
    [
      "HOME=h bash -l",
      "script:h/.bash_login script:h/.bash_profile script:h/.bashrc script:h/.profile script:h/.zprofile script:h/.zshrc"
    ]
  ])
})

describe("a variable that the line sets", () => {
  check([
    ["A=tools; $A/x.sh", "script:tools/x.sh"],
    ["A='tools'; ${A}/x.sh", "script:tools/x.sh"],
    ["if A=tools; then \"$A\"/x.sh; fi", "script:tools/x.sh"],
    ["A=tools; A=tools; $A/x.sh", "script:tools/x.sh"],
    ["A=tools; A=lib; $A/x.sh", "script:x.sh"],
    ["A=\"a b\"; $A/x.sh", "script:x.sh"],
    ["A=; $A/x.sh", "script:x.sh"],
    ["A=tools; B=$A; $B/x.sh", "script:x.sh"]
  ])
})

describe("a path that is not complete", () => {
  check([
    ["$DIR/tools/x.sh", "script:tools/x.sh"],
    ["${DIR}/tools/x.sh", "script:tools/x.sh"],
    ["cat \"${DIR}/tools/x.sh\"", "operand:tools/x.sh"],
    ["$DIR/tools/*.sh", "folder:tools"],
    ["tools/$NAME/x.sh", "folder:tools script:x.sh"],
    ["tools/a$NAME.sh", "folder:tools"],
    ["tools/${NAME}", "folder:tools"],
    ["a/$B/c/$D", "folder:a"],
    ["a/$B/c*.sh", "folder:. folder:a"],
    ["tools/*.sh", "folder:tools"],
    ["bash tools/*/x.sh", "folder:tools"],
    ["bash $A/$B/x.sh ./a.md", "operand:a.md script:x.sh"],
    ["tools/lib/x?.sh ./y", "folder:tools/lib operand:y"],
    ["cat tools/[ab].sh", "folder:tools"],
    ["tools/{a,b}.sh", "folder:tools"],
    ["bash *.sh", "folder:."],
    ["cat *.sh", ""],
    ["bash $DIR/*.sh", "folder:."],
    ["for f in *.sh; do bash \"$f\"; done", "folder:."],
    ["cat a$B $A$B $A/$B", ""],
    ["$(cat ./name)/x.sh", "operand:name script:x.sh"],
    ["\"$(dirname \"$0\")/x.sh\"", "script:x.sh"],
    ["\"$(pwd)\"/x.sh ./a.md", "operand:a.md script:x.sh"],
    ["\"$(pwd)/x y.sh\" ./a.md", "operand:a.md script:x y.sh"],
    ["$(git rev-parse --show-toplevel)/x.sh", "script:x.sh"],
    ["cd tools; \"$(git rev-parse --show-toplevel)\"/x.sh", "script:x.sh"]
  ])
})

describe("another folder", () => {
  check([
    ["cd tools && ./x.sh", "script:tools/x.sh script:x.sh"],
    ["pushd tools; ./x.sh", "script:tools/x.sh script:x.sh"],
    ["cd a; cd b; ./x.sh", "script:a/b/x.sh script:a/x.sh script:b/x.sh script:x.sh"],
    ["cd; ./x.sh ./a.md", "operand:a.md script:x.sh"],
    ["cd $A/$B/tools; ./x.sh", "script:tools/x.sh script:x.sh"],
    ["cd $DIR; ./x.sh", "script:x.sh"],
    ["cd $DIR/tools; ./x.sh", "script:tools/x.sh script:x.sh"],
    ["cd /tools; ./x.sh", "script:/tools/x.sh script:x.sh"],
    ["cd ~/tools; ./x.sh", "script:/people/ada/tools/x.sh script:x.sh"],
    [
      "cd a; cd b; cd c; cd d; ./x",
      "script:a/b/c/d/x script:a/b/d/x script:a/c/d/x script:a/d/x script:b/c/d/x script:b/d/x script:c/d/x script:d/x"
    ]
  ])
})

describe("a redirect", () => {
  check([
    ["cat < ./in.txt", "operand:in.txt"],
    ["cat <> ./both.sh", "operand:both.sh"],
    ["cat > ./out.sh >> ./more.sh 2> ./errors.sh", ""],
    ["cat <<< ./text.sh", ""],
    ["cat -", ""]
  ])
})

/** A shell that reads its commands from a text, which starts another one, and so on. */
const nested = (depth: number): string =>
  depth === 0 ? "cat ./a.md" : `bash <<'E${depth}'\n${nested(depth - 1)}\nE${depth}`

describe("a line that reads commands", () => {
  check([
    [". ./env", "script:env"],
    [". env", "script:env"],
    ["source env.sh ./more.txt bash guard", "operand:more.txt script:env.sh"],
    ["source $DIR/env.sh", "script:env.sh"],
    ["source $FILE ./a.txt", "script:a.txt"],
    ["source $FILE.sh ./a.txt", "script:a.txt"],
    ["source; echo ./a.txt", "operand:a.txt script:a.txt"],
    ["eval ./x.sh ./y.md", "operand:y.md script:x.sh"],
    ["eval \"$(cat ./steps.txt)\"", "operand:steps.txt script:steps.txt"],
    ["trap \"./a.sh; cat ./b.md\" EXIT ./c.md", "operand:b.md script:a.sh"],
    ["trap 'cat ./a.md; tool' bash", "operand:a.md"],
    [`${"eval ".repeat(8)}cat ./a.md`, "operand:a.md"],
    [`${"eval ".repeat(9)}cat ./a.md`, "script:a.md"],
    [`${"sudo ".repeat(8)}cat ./a.md`, "operand:a.md"],
    [`${"sudo ".repeat(9)}cat ./a.md`, "script:a.md"],
    [`${"sudo ".repeat(8)}x.sh ./a.md`, "operand:a.md script:x.sh"],
    [`${"sudo ".repeat(9)}x.sh ./a.md`, "script:a.md script:x.sh"],
    [`${"sudo ".repeat(8)}"cat ./a.md"`, "operand:a.md"],
    [`${"sudo ".repeat(9)}"cat ./a.md"`, "script:a.md script:cat ./a.md"],
    [`${"eval ".repeat(7)}bash -c cat ./a.md`, "operand:a.md"],
    [`${"eval ".repeat(8)}bash -c cat ./a.md`, "script:a.md"],
    [nested(8), "operand:a.md"],
    [nested(9), "script:a.md"],
    [`tool ${"bash x.sh ".repeat(7)}bash guard`, "script:guard script:x.sh"],
    [`tool ${"bash x.sh ".repeat(8)}bash guard`, "script:x.sh"],
    ["if ./a.sh; then ./b.sh; fi; echo `./c.sh`", "script:a.sh script:b.sh script:c.sh"]
  ])
})

describe("a line of which not everything is known", () => {
  check([
    ["echo \"unclosed ./steps.txt", "script:steps.txt"],
    ["$RUN ./a; cat ./b", "operand:b script:a script:b"],
    ["cat ./b; $RUN ./a", "operand:b script:a script:b"],
    ["$RUN ./a > ./b.log 2> ./c.log &> ./d.log", "script:a"],
    ["$RUN ./a >> \"./b log\" | tee -a ./d.log", "operand:d.log script:a"],
    ["$RUN && touch ./a && mkdir -p ./b && rm -rf ./c", "operand:a operand:b operand:c"],
    ["$RUN; [ -f ./a ] && [[ ! -d ./b ]] && test -x ./c", "operand:a operand:b operand:c"],
    ["$RUN 'one ./two' \"three/four.sh\"", "script:one ./two script:three/four.sh script:two"],
    ["$RUN \"a/b\nc/d\"", "script:a/b script:c/d"],
    ["$RUN \"${X}/a.sh\" $Y/b.sh", "script:a.sh script:b.sh"],
    ["$RUN a.b 1.5 x=y/z", "script:a.b script:y/z"],
    ["$RUN ./x\\ y", "script:x"],
    ["$RUN guard x", "script:guard"]
  ])
})
