/** Programs that run what a file of the project says: that file belongs to the decision. */
import * as Trust from "@belay/hook-files/Trust"
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { place, settings } from "../support/places.ts"
import { write } from "../support/processes.ts"

/** Lines of a hook, and the files that they make a program run. */
const lines: { readonly [line: string]: ReadonlyArray<string> } = {
  "./gradlew guard": ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
  "gradle --init-script init.gradle guard": ["init.gradle"],
  "gradle -I init.gradle guard": ["init.gradle"],
  "gradle -b other.gradle guard": ["other.gradle"],
  "./mvnw verify": ["pom.xml"],
  "mvn -f web/pom.xml verify": ["web/pom.xml"],
  "mvn --file web/pom.xml verify": ["web/pom.xml"],
  "make -f rules.mk lint": ["rules.mk"],
  "make --makefile rules.mk lint": ["rules.mk"],
  "just guard": ["justfile", "Justfile", ".justfile"],
  "just --justfile my.just guard": ["my.just"],
  "just -f my.just guard": ["my.just"],
  "task guard": [
    "Taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yml",
    "taskfile.yaml",
    "Taskfile.dist.yml",
    "Taskfile.dist.yaml"
  ],
  "task -t my.yml guard": ["my.yml"],
  "task --taskfile my.yml guard": ["my.yml"],
  "npm run guard": ["package.json", ".npmrc"],
  "npm --prefix web run guard": ["web/package.json"],
  "npm --prefix=web run guard": ["web/package.json"],
  "pnpm -C web guard": ["web/package.json"],
  "bun run --cwd web guard": ["web/package.json"],
  "make --directory tools guard": ["tools/Makefile"],
  "pnpm --dir web guard": ["web/package.json"],
  "pnpm guard": ["package.json", ".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"],
  "yarn guard": ["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml"],
  "deno task -c my.json guard": ["my.json"],
  "deno task --config my.json guard": ["my.json"],
  "pdm run guard": ["pyproject.toml"],
  "hatch run guard": ["pyproject.toml"],
  "rye run guard": ["pyproject.toml"],
  "poe guard": ["pyproject.toml"],
  "pipenv run guard": ["Pipfile"],
  "pipenv run ./tools/guard": ["tools/guard"],
  "uv run ./tools/guard": ["tools/guard"],
  "mise exec ./tools/guard": ["tools/guard"],
  "mise x ./tools/guard": ["tools/guard"],
  "mise exec node -- ./tools/guard": ["tools/guard"],
  "rake -f my.rake guard": ["my.rake"],
  "rake --rakefile my.rake guard": ["my.rake"],
  "nox -f my.py": ["my.py"],
  "nox --noxfile my.py": ["my.py"],
  "tox -c my.ini": ["my.ini"],
  "pre-commit run": [".pre-commit-config.yaml"],
  "pre-commit run -c my.yaml": ["my.yaml"],
  "pre-commit run --config my.yaml": ["my.yaml"],
  "docker compose --file stack.yml run guard": ["stack.yml"],
  "nerdctl compose run guard": ["compose.yaml"],
  "docker compose up": [
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
    "docker-compose.override.yml"
  ],
  "guard.exe; bash.exe steps": ["steps"],
  "python3 -m tools.guard": ["tools/guard.py", "tools/__init__.py"],
  "python3 -m tools": ["tools/__main__.py", "tools/__init__.py", "tools.py"],
  "gmake lint": ["Makefile", "makefile", "GNUmakefile"],
  "make --file=rules.mk lint": ["rules.mk"],
  "make -frules.mk lint": ["rules.mk"],
  "inv guard": ["tasks.py"],
  "go-task guard": ["Taskfile.yml"],
  "docker-compose run guard": ["compose.yaml", "docker-compose.yml"],
  "podman compose run guard": ["compose.yaml"],
  "podman-compose run guard": ["compose.yaml"],
  "rake guard": ["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"],
  "bundle exec rake guard": ["Gemfile"],
  "nox -s guard": ["noxfile.py"],
  "tox -e guard": ["tox.ini"],
  "composer run guard": ["composer.json"],
  "cargo run": ["Cargo.toml", "build.rs"],
  "bun run guard": ["package.json", "bunfig.toml"],
  "deno task guard": ["deno.json", "deno.jsonc"],
  "uv run guard": ["pyproject.toml", "uv.toml"],
  "poetry run guard": ["pyproject.toml"],
  "mise run guard": ["mise.toml", ".mise.toml"],
  "lefthook run guard": ["lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml"],
  "bash -c './guard.sh' name ./args.sh": ["guard.sh", "args.sh"],
  "bash -c './tools/guard.sh' name": ["tools/guard.sh"],
  "bash -x -c './guard.sh'": ["guard.sh"]
}

describe("a decision covers what a program runs:", () => {
  it.each(Object.entries(lines))("%s", (line, files) => {
    const one = place()
    write(join(one.cwd, ".claude/settings.json"), settings(line))
    const put = (file: string, text: string) => {
      const path = join(one.cwd, file)
      mkdirSync(dirname(path), { recursive: true })
      write(path, text)
    }
    for (const file of files) put(file, "{}")
    const print = () => Trust.fingerprint(one.cwd, one.load().sources.filter(({ ofProject }) => ofProject), one.home)
    for (const file of files) {
      const before = print()
      put(file, `{"scripts":{"guard":"evil"},"tasks":{"guard":"evil"}}`)
      assert.notStrictEqual(print(), before, file)
    }
  })
})

describe("of the file of a runner,", () => {
  const changes = (line: string, file: string, before: string, after: string): boolean => {
    const one = place()
    write(join(one.cwd, ".claude/settings.json"), settings(line))
    write(join(one.cwd, file), before)
    const print = () => Trust.fingerprint(one.cwd, one.load().sources.filter(({ ofProject }) => ofProject), one.home)
    const first = print()
    write(join(one.cwd, file), after)
    return print() !== first
  }

  it("what decides which code runs asks again, and nothing else does", () => {
    const toml = (before: string, after: string) => changes("uv run guard", "pyproject.toml", before, after)
    const project = `[project]\nname = "a"\n`
    assert.isFalse(toml(project, `${project}description = "b"\ndependencies = ["c"]\n`))
    assert.isFalse(toml(project, `${project}[tool.ruff]\nline-length = 100\n`))
    assert.isFalse(toml(`[tool.poetry]\nversion = "1"\n`, `[tool.poetry]\nversion = "2"\n`))
    assert.isFalse(toml(`[tool.poetry.dependencies]\na = "1"\n`, `[tool.poetry.dependencies]\na = "2"\n`))
    assert.isFalse(toml(`[tool.poetry.dev-dependencies]\na = "1"\n`, `[tool.poetry.dev-dependencies]\na = "2"\n`))
    assert.isFalse(toml(`[tool.poetry.group.x]\na = "1"\n`, `[tool.poetry.group.x]\na = "2"\n`))
    for (
      const table of [
        "build-system",
        "project.scripts",
        "project.gui-scripts",
        "project.entry-points.x",
        "tool.poetry.scripts",
        ...["uv", "pdm", "hatch", "rye", "poe", "taskipy", "invoke"].map((name) => `tool.${name}`)
      ]
    ) {
      assert.isTrue(toml(project, `${project}[${table}]\nx = "1"\n`), table)
    }
    assert.isTrue(toml(project, `${project}[broken`))
    const json = (more: object) =>
      changes("npm run guard", "package.json", `{"name":"a"}`, JSON.stringify({ name: "a", ...more }))
    for (const key of ["description", "version", "keywords", "license", "engines", "dependencies", "devDependencies"]) {
      assert.isFalse(json({ [key]: "1" }), key)
    }
    for (const key of ["scripts", "bin", "main", "exports", "imports", "type", "workspaces"]) {
      assert.isTrue(json({ [key]: "1" }), key)
    }
  })

  it("the order of its fields does not matter, and of another file every letter does", () => {
    assert.isFalse(changes("npm run x", "package.json", `{"bin":"a","main":"b"}`, `{"main":"b","bin":"a"}`))
    assert.isTrue(changes("./guard.toml", "guard.toml", `[project]\nname = "a"`, `[project]\nname = "b"`))
    assert.isTrue(changes("make x", "Makefile", `{"version":1}`, `{"version":2}`))
  })

  it("nothing counts where the program only looks", () => {
    for (
      const word of ["config", "events", "images", "logs", "ls", "port", "ps", "stats", "top", "version", "volumes"]
    ) {
      assert.isFalse(changes(`docker compose ${word}`, "compose.yaml", "a: 1", "a: 2"), word)
    }
    assert.isFalse(changes("docker run x", "compose.yaml", "a: 1", "a: 2"))
    assert.isFalse(changes("uv --version", "tasks.py", "a = 1", "a = 2"))
  })
})
