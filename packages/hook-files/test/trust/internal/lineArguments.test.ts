/** Which arguments of a program are run: scripts of interpreters, commands inside commands, and code in options. */
import { assert, describe, it } from "@effect/vitest"
import { named } from "../../../src/trust/internal/named.ts"

const where = {
  cwd: "/project",
  base: "/project",
  home: "/people/ada",
  exists: (path: string) =>
    path === "/project/guard" || path === "/project/tools/guard" || path === "/project/tools/only"
}

/** A line, and the files that it names, with what each is to the line. */
const check = (rows: ReadonlyArray<readonly [line: string, files: string]>): void => {
  for (const [line, files] of rows) {
    it(`finds ${files === "" ? "nothing" : files} in ${line.replaceAll("\n", " ")}`, () => {
      const all = named({ type: "command", command: line }, {}, where).map(({ as, path }) =>
        `${as}:${path === "/project" ? "." : path.replace(/^\/project\//, "")}`
      )
      assert.strictEqual([...new Set(all)].sort().join(" "), files)
    })
  }
}

describe("a shell", () => {
  check([
    ["bash x.sh", "script:x.sh"],
    ["bash guard ./data.md", "operand:data.md script:guard"],
    ["bash nothing ./data.md", "script:data.md script:nothing"],
    ["cd tools; bash guard ./data.md", "operand:data.md operand:tools/data.md script:guard script:tools/guard"],
    ["cd tools; bash only ./data.md", "operand:data.md operand:tools/data.md script:only script:tools/only"],
    ["tools/BASH.EXE guard", "file:tools/BASH.EXE script:guard"],
    ["bash -c 'cat ./x.md' ./a.md", "operand:a.md operand:x.md"],
    ["bash -c './x.sh' bash guard", "script:guard script:x.sh"],
    ["bash -lc './x.sh'", "script:x.sh"],
    ["bash -ec -x 'cat ./x.md'", "operand:cat ./x.md operand:x.md"],
    ["bash -c; cat ./a.md", "operand:a.md script:a.md"],
    ["bash -c \"$RUN\"; cat ./a.md", "operand:a.md script:a.md"],
    ["sh -x +e x.sh ./a.md", "operand:a.md script:x.sh"],
    ["bash --rcfile=./rc.txt x.sh", "script:rc.txt script:x.sh"],
    ["bash --rcfile=./a=b.txt x.sh", "script:a=b.txt script:x.sh"],
    ["bash --rcfile ./rc.txt x.sh ./a.md", "operand:a.md script:rc.txt script:x.sh"],
    ["bash --init-file=rc x.sh", "script:rc script:x.sh"],
    ["bash --init-file ./rc x.sh ./a.md", "operand:a.md script:rc script:x.sh"],
    ["bash -o pipefail x.sh ./a.md", "operand:a.md script:pipefail script:x.sh"],
    ["bash - ./x.md ./y.md", "operand:y.md script:x.md"],
    ["bash -s ./x.md <<'E'\ncat ./a.md\nE", "operand:a.md"],
    ["bash <<'A' <<'B'\n$RUN\nA\ncat ./b.md\nB", "script:b.md"],
    ["bash $FILE x.sh; cat ./a.md", "operand:a.md script:a.md script:x.sh"],
    ["bash -s ./x.md", "script:x.md"],
    ["bash $FILE ./x.md", "script:x.md"],
    ["bash $DIR/x.sh ./x.md", "operand:x.md script:x.sh"],
    ["cat ./a.md | bash", "operand:a.md script:a.md"],
    ["bash < ./x.txt", "operand:x.txt script:x.txt"],
    ["bash <<'E'\ncat ./a.md\nE", "operand:a.md"],
    ["bash <<'E'\n$RUN\nE\ncat ./a.md", "operand:a.md script:a.md"],
    ["cmd /c ./x ./a.md", "operand:a.md script:x"],
    ["cmd /v:on /c x.bat ./a.md", "operand:a.md script:x.bat"],
    ["cmd /c \"x.bat ./a.md\"", "operand:a.md script:x.bat"],
    ["cmd /c x.bat bash guard", "script:guard script:x.bat"],
    ["cat ./a.md | cmd", "operand:a.md script:a.md"],
    ["powershell -Command 'cat ./a.md'", "operand:a.md"],
    ["powershell -File x.ps1", "script:x.ps1"]
  ])
})

describe("an interpreter", () => {
  check([
    ["node x", "script:x"],
    ["node ./x ./a.md", "operand:a.md script:x"],
    ["node guard ./a.md", "operand:a.md script:guard"],
    ["node nothing ./a.md", "script:a.md script:nothing"],
    ["node x.mjs bash guard", "script:guard script:x.mjs"],
    ["python3.12 tools/guard ./a.md", "operand:a.md script:tools/guard"],
    ["ts-node-esm tools/guard ./a.md", "operand:a.md script:tools/guard"],
    ["Rscript x.R ./a.md", "operand:a.md script:x.R"],
    ["go run ./cmd/guard ./a.md", "operand:a.md script:cmd/guard"],
    ["go ./cmd/guard run", "script:cmd/guard"],
    ["java -jar tools/x.jar", "script:tools/x.jar"],
    ["node run ./x ./b.md", "operand:b.md script:run script:x"],
    ["deno run -A x.ts ./a.md", "file:deno.json file:deno.jsonc operand:a.md script:x.ts"],
    ["deno ./x run ./a.md", "file:deno.json file:deno.jsonc operand:a.md script:x"],
    [
      "bun --smol run guard ./a.md",
      "file:.npmrc file:bunfig.toml file:package.json operand:a.md script:guard script:run"
    ],
    ["node $FILE x.mjs; cat ./a.md", "operand:a.md script:a.md script:x.mjs"],
    ["node $DIR/x.mjs ./a.md", "operand:a.md script:x.mjs"]
  ])
})

describe("an option of an interpreter", () => {
  check([
    ["node -r ./pre.txt x.mjs ./a.md", "operand:a.md script:pre.txt script:x.mjs"],
    ["node --require=./pre.txt x.mjs ./a.md", "operand:a.md script:pre.txt script:x.mjs"],
    ["node --require pre.txt guard ./a.md", "operand:a.md script:guard script:pre.txt"],
    ["node -r pre guard ./a.md", "operand:a.md script:guard"],
    ["node -r", ""],
    ["node --no-warnings x.mjs ./a.md", "operand:a.md script:x.mjs"],
    ["node --max-old-space-size=4096 ./x ./b.md", "operand:b.md script:x"],
    ["deno run --config ./d.json x.ts", "file:d.json script:d.json script:x.ts"],
    ["python -W ignore guard ./a.md", "operand:a.md script:guard"],
    ["python -B guard ./a.md", "operand:a.md script:guard"],
    ["perl -I lib guard ./a.md", "folder:lib operand:a.md script:guard"],
    ["perl -Ilib guard ./a.md", "folder:lib operand:a.md script:guard"],
    ["jruby -Ilib guard", "folder:lib script:guard"],
    ["java -cp lib Main", "folder:lib script:Main"],
    ["java -cp lib -p more Main", "folder:lib folder:more script:Main"],
    ["java -cp 'lib:tools/a.jar;more' guard", "file:tools/a.jar folder:lib folder:more script:guard"],
    ["java --class-path=lib Main", "folder:lib script:Main"],
    ["kotlin -classpath lib Main", "folder:lib script:Main"],
    ["jshell --module-path tools/B.JAR guard", "file:tools/B.JAR script:guard"],
    ["node -cp lib", "script:lib"]
  ])
})

describe("code in a line", () => {
  const a = "script:a.cjs script:a.js script:a.mjs script:a.ts"
  const module = (name: string) => `script:${name}.py script:${name}/__init__.py script:${name}/__main__.py`
  check([
    ["node -e \"require('./a')\" ./b.md", `operand:a operand:b.md ${a}`],
    ["node --eval=\"import('./a.mjs')\" bash guard", "script:a.mjs script:guard"],
    ["node --eval 'import(\"./a.mjs\")' ./b.md", "operand:b.md script:a.mjs"],
    ["node -p 'require(\"./a.js\")'", "script:a.js"],
    ["bun eval 'eval(\"./a.txt\")'", "file:.npmrc file:a.txt file:bunfig.toml file:package.json"],
    [
      "node -e \"child_process.run('bin/a')\"",
      "script:bin/a script:bin/a.cjs script:bin/a.js script:bin/a.mjs script:bin/a.ts"
    ],
    ["ruby -e \"load 'bin/a'\"", "operand:bin/a"],
    ["ruby -e \"\\$: << 'lib'; load 'b'\"", "folder:b folder:lib folder:load"],
    ["node -e 'f(1.5, \"b.c\")'", ""],
    ["node -e; cat ./a.md", "operand:a.md script:a.md"],
    ["node -e \"$CODE\" ./a.md", "script:a.md"],
    ["node -e \"$CODE; f('./a.md')\" ./b.md", "operand:a.md operand:b.md"],
    ["perl -e 'do \"./x.pl\"'", "script:x.pl"],
    ["perl -ne 'do (\"./x.txt\")'", "file:x.txt"],
    ["php -r 'include(\"./x.txt\");' ./a.md", "file:x.txt operand:a.md"],
    ["lua -e 'dofile (\"./x.txt\")'", "file:x.txt"],
    ["python -c 'import b'", module("b")],
    ["python -Ic 'import b' ./x.md", `operand:x.md ${module("b")}`],
    ["python -c 'import bb, c'", `${module("bb")} ${module("c")}`],
    ["python -c 'from b import c'", `${module("b")} ${module("c")}`],
    ["python -m b ./x.md", `operand:x.md ${module("b")}`],
    ["python -m b bash guard", `${module("b")} script:guard`.split(" ").sort().join(" ")],
    ["python -m b.c", "script:b.py script:b/__init__.py script:b/c.py script:b/c/__init__.py script:b/c/__main__.py"],
    ["python -m b-c.d", module("d")],
    ["python -m; cat ./a.md", "operand:a.md"],
    ["node -m b.mjs", "script:b.mjs"],
    ["python - <<'E'\nopen(\"./b.txt\")\nE", "operand:b.txt"],
    ["python <<'E'\nexec(open(\"./b.txt\").read())\nE", "file:b.txt"],
    ["python - ./a.md <<'E'\nopen(\"./b.txt\")\nE", "operand:b.txt"],
    ["node <<'A' <<'B'\n$CODE\nA\nf('./b.md')\nB", "script:b.md"],
    ["node -e 'import b from \"c\"'", ""],
    ["node /dev/stdin ./a.md <<'E'\nf('./b.md')\nE", "operand:b.md"]
  ])
})

describe("an interpreter that reads its input", () => {
  check([
    ["python < x.txt", "operand:x.txt script:x.txt"],
    ["cat ./x.txt | python", "operand:x.txt script:x.txt"],
    ["cat ./x.txt | python -", "operand:x.txt script:x.txt"],
    ["cat ./x.txt | python -x", "operand:x.txt script:x.txt"],
    ["cat ./x.txt | python -V", "operand:x.txt"],
    ["cat ./x.txt; python -V; node --version; node -h", "operand:x.txt"],
    ["cat ./x.txt | python -V -x", "operand:x.txt script:x.txt"],
    ["cat ./x.txt | bun", "file:.npmrc file:bunfig.toml file:package.json operand:x.txt"]
  ])
})

describe("a program that reads its code from a file", () => {
  check([
    ["awk -f x.txt ./in.txt", "operand:in.txt operand:x.txt script:x.txt"],
    ["gawk --file=x.txt in", "operand:x.txt script:x.txt"],
    ["mawk --file x.txt", "operand:x.txt script:x.txt"],
    ["awk -fx.awk", "operand:-fx.awk script:x.awk"],
    ["awk -f", ""],
    ["awk -f - ./in.md", "operand:in.md"],
    ["awk '{print}' ./in.md bash guard", "operand:in.md script:guard"],
    ["gsed -nf code ./in.md", "operand:in.md script:code"],
    ["jq -L lib . ./in.json", "operand:in.json script:lib"],
    ["gojq --from-file=code", "script:code"],
    ["awk --include lib '{}'", "script:lib"],
    ["awk -i lib '{}'", "script:lib"],
    ["vim -S x ./a.md", "operand:a.md script:x"],
    ["psql -f x ./a.md", "operand:a.md script:x"],
    ["emacs --script x", "script:x"],
    ["tool -f x", ""]
  ])
})

describe("a program that runs another one", () => {
  check([
    ["find ./a -name '*.py' -exec tools/x.sh {} +", "operand:a script:tools/x.sh"],
    ["find . -ok bash guard ;", "script:guard"],
    ["find . -exec ./x.sh {} \\; -exec ./y.sh {} \\;", "operand:y.sh script:x.sh"],
    ["find . -execdir ./x {} ;", "script:x"],
    ["find ./a.sh -print", "operand:a.sh"],
    ["fd . ./a --exec-batch python3 guard", "operand:a script:guard"],
    ["fd -e md -x ./x.sh ./y.md", "operand:y.md script:x.sh"],
    ["ls -exec ./x", "operand:x"],
    ["find a b -exec {} \\;", "folder:a folder:b"],
    ["find a -type f -exec sh -x {} +", "folder:. folder:a"],
    ["find a -exec sh x.sh {} +", "script:x.sh"],
    ["find a -exec cat {} +", ""],
    ["find a -name {} -print", ""],
    ["fd -x {}", "folder:."],
    ["run-parts --report tools", "folder:tools"],
    ["git -c core.hooksPath=hooks commit", "folder:hooks operand:core.hooksPath=hooks"],
    ["tool core.hooksPath=hooks", "operand:core.hooksPath=hooks"],
    ["sudo ./x ./a.md", "operand:a.md script:x"],
    ["sudo x", ""],
    ["sudo x.sh ./a.md", "operand:a.md script:x.sh"],
    ["sudo tools/x.sh", "script:tools/x.sh"],
    ["sudo -u nobody ./x", "script:x"],
    ["sudo -n ./x", "script:x"],
    ["sudo -n x.sh", "script:x.sh"],
    ["sudo -u bash guard", "script:guard"],
    ["sudo -n node x", "script:x"],
    ["sudo -n awk -f code", "script:code"],
    ["sudo -n flock ./lock x.sh", "script:x.sh"],
    ["sudo python3.exe guard", "script:guard"],
    ["sudo ~/x.sh", "script:/people/ada/x.sh"],
    ["nice -n 10 x.sh", "script:x.sh"],
    ["timeout 5 x.sh", "script:x.sh"],
    ["timeout 1.5m x.sh", "script:x.sh"],
    ["timeout --signal KILL 5 x.sh", "script:x.sh"],
    ["env A=./a.sh B=./b.md x.sh", "script:a.sh script:x.sh"],
    ["env -i PATH=bin x.sh", "folder:bin script:x.sh"],
    ["env +x x.sh", "script:x.sh"],
    ["xargs -I {} x.sh {}", "script:x.sh"],
    ["xargs -n1 \"cat ./a.md\"", "operand:a.md"],
    ["xargs -n1 \"$RUN ./a.md\"; cat ./b.md", "operand:b.md script:a.md script:b.md"],
    ["npx --package ./pkg x.sh", "script:pkg script:x.sh"],
    ["npx --package ./pkg.md x.sh", "script:x.sh"],
    ["flock ./lock x.sh", "script:x.sh"],
    ["flock -n ./lock x.sh", "script:x.sh"],
    ["flock", ""],
    ["nohup -x; cat ./a.md", "operand:a.md"],
    ["exec awk -f code", "script:code"],
    ["exec /usr/bin/sudo ./x", "script:x"],
    ["exec sudo x.sh", "script:x.sh"]
  ])
})

describe("an argument", () => {
  check([
    ["eslint --config ./c.js ./a.md", "file:c.js operand:a.md"],
    ["eslint -c c.txt", "operand:c.txt"],
    ["eslint --config=c.js", "file:c.js"],
    ["tool --other x.js", "operand:x.js"],
    ["tool --other=x.js", "operand:x.js"],
    ["tool x.js", "operand:x.js"],
    ["tool x", ""],
    ["tool 1.5 ..", ""],
    ["tool https://example.com/a.sh", ""],
    ["tool ./a bash guard", "operand:a script:guard"],
    ["tool python3 guard", "script:guard"],
    ["tool -v bash guard", "script:guard"],
    [`tool ${"x ".repeat(31)}bash guard`, "script:guard"],
    [`tool ${"x ".repeat(32)}bash guard`, ""]
  ])
})

describe("a task runner", () => {
  const npm = "file:.npmrc file:package.json"
  check([
    ["make", "file:GNUmakefile file:Makefile file:makefile"],
    ["gmake -f x.mk", "file:x.mk"],
    [
      "make -C tools x; ./y.sh",
      "file:GNUmakefile file:Makefile file:makefile file:tools/GNUmakefile file:tools/Makefile file:tools/makefile script:y.sh"
    ],
    ["make -fx.mk", "file:x.mk operand:-fx.mk"],
    ["make --file=x.mk", "file:x.mk operand:x.mk"],
    ["make -f", "file:GNUmakefile file:Makefile file:makefile"],
    ["make -f x.mk -C tools", "file:tools/x.mk file:x.mk"],
    ["npm --prefix=web run guard", `${npm} file:web/.npmrc file:web/package.json`],
    ["cd web; npm run lint ./a.md", `${npm} file:web/.npmrc file:web/package.json operand:a.md operand:web/a.md`],
    ["npm ./a.md exec x.sh", `${npm} operand:a.md script:x.sh`],
    ["npm run x.sh", `${npm} operand:x.sh`],
    ["uv run ./x ./a.md", "file:pyproject.toml file:uv.toml operand:a.md script:x"],
    ["uv x.py", "file:pyproject.toml file:uv.toml operand:x.py"],
    ["mise x -- x.sh", "file:.mise.toml file:mise.toml script:x.sh"],
    ["bundle exec ./x", "file:Gemfile script:x"],
    ["podman compose -f x.yml up", "file:x.yml operand:x.yml"],
    ["docker run -f x.yml", "operand:x.yml"],
    ["docker-compose -f x.yml logs", "operand:x.yml"],
    [
      "./gradlew x",
      "file:build.gradle file:build.gradle.kts file:settings.gradle file:settings.gradle.kts script:gradlew"
    ],
    ["tox -c x.ini", "file:x.ini operand:x.ini"],
    ["constructor -f x.md", "operand:x.md"]
  ])
})
