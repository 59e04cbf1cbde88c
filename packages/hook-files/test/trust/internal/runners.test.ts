/** Which files of a project a task runner reads. */
import { assert, describe, it } from "@effect/vitest"
import * as Inline from "../../../src/trust/internal/inline.ts"
import * as Kinds from "../../../src/trust/internal/kinds.ts"
import { filesOf, runnerOf } from "../../../src/trust/internal/runners.ts"

/** The files of a command, and after `in` the folders in which they also can be. */
const files = (line: string): string => {
  const [name = "", ...rest] = line.split(" ")
  const runner = runnerOf(name, rest)
  if (runner === undefined) return "nothing"
  const { files, folders } = filesOf(runner, rest)
  return [...files, ...(folders.length === 0 ? [] : ["in", ...folders])].join(" ")
}

const python = "pyproject.toml uv.toml"
const make = "GNUmakefile makefile Makefile"
const compose = "compose.yaml compose.yml docker-compose.yaml docker-compose.yml docker-compose.override.yml"
const gradle = "build.gradle build.gradle.kts settings.gradle settings.gradle.kts"

describe("a task runner", () => {
  const task = "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml"
  const rows: ReadonlyArray<readonly [line: string, files: string]> = [
    ["make", make],
    ["gmake", make],
    ["just", "justfile Justfile .justfile"],
    ["task", task],
    ["go-task", task],
    ["npm", "package.json .npmrc"],
    ["pnpm", "package.json .npmrc .pnpmfile.cjs pnpm-workspace.yaml"],
    ["yarn", "package.json .npmrc .yarnrc .yarnrc.yml"],
    ["bun", "package.json .npmrc bunfig.toml"],
    ["deno", "deno.json deno.jsonc"],
    ...["uv", "poetry", "pdm", "hatch", "rye", "poe"].map((name) => [name, python] as const),
    ["pipenv", "Pipfile"],
    ["rake", "Rakefile rakefile Rakefile.rb rakefile.rb"],
    ["bundle", "Gemfile"],
    ["invoke", "tasks.py"],
    ["inv", "tasks.py"],
    ["nox", "noxfile.py"],
    ["tox", "tox.ini"],
    ["composer", "composer.json"],
    ["cargo", "Cargo.toml build.rs"],
    ["gradle", gradle],
    ["gradlew", gradle],
    ["mvn", "pom.xml"],
    ["mvnw", "pom.xml"],
    ["mise", "mise.toml .mise.toml"],
    ["lefthook", "lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml"],
    ["pre-commit", ".pre-commit-config.yaml"],
    ["docker-compose", compose],
    ["podman-compose", compose],
    ...["docker", "podman", "nerdctl"].map((name) => [`${name} compose up`, compose] as const),
    ["docker run x", "nothing"],
    ["other compose", "nothing"],
    ["constructor", "nothing"]
  ]
  it.each(rows)("%s reads %s", (line, expected) => assert.strictEqual(files(line), expected))

  const named: ReadonlyArray<readonly [line: string, files: string]> = [
    ...[
      "make -f",
      "make --file",
      "make --makefile",
      "just -f",
      "just --justfile",
      "task -t",
      "task --taskfile",
      "deno -c",
      "deno --config",
      "rake -f",
      "rake --rakefile",
      "invoke -c",
      "invoke --collection",
      "nox -f",
      "nox --noxfile",
      "tox -c",
      "gradle -b",
      "gradle -I",
      "gradle --init-script",
      "mvn -f",
      "mvn --file",
      "pre-commit -c",
      "pre-commit --config",
      "docker-compose -f",
      "docker-compose --file"
    ].map((line) => [`${line} x`, "x"] as const),
    ["make --file=x", "x"],
    ["make -fx", "x"],
    ["make -f x -f y", "x y"],
    ["make -f", make],
    ["make -f=x", make],
    ["make --other=x -jx", make],
    ["npm -f x", "package.json .npmrc"],
    ["make x-f y", make],
    ...[
      "-C",
      "-d",
      "--prefix",
      "--cwd",
      "--dir",
      "--directory",
      "--project",
      "--project-directory",
      "--working-directory"
    ].map((option) => [`uv ${option} x`, `${python} in x`] as const),
    ["uv --directory=x", `${python} in x`],
    ["make -Cx -f y", "y in x"]
  ]
  it.each(named)("with %s reads %s", (line, expected) => assert.strictEqual(files(line), expected))

  it.each(["config", "events", "images", "logs", "ls", "port", "ps", "stats", "top", "version", "volumes"])(
    "reads nothing that runs with docker compose %s",
    (word) => {
      assert.strictEqual(files(`docker compose -f x ${word}`), "")
      assert.strictEqual(files(`make ${word}`), make)
    }
  )

  it.each<readonly [name: string, runs: string, not: string]>([
    ["uv", "run", "x"],
    ["pipenv", "run", "exec"],
    ["mise", "exec", "run"],
    ["mise", "x", "run"],
    ["mise", "--", "run"]
  ])("%s runs the words after %s, and not after %s", (name, runs, not) => {
    const { wraps } = runnerOf(name, [])!
    assert.deepEqual([wraps!.test(runs), wraps!.test(not)], [true, false])
  })
})

describe("inline code", () => {
  it.each<readonly [name: string, language: string]>([
    ["python3", "python"],
    ["pypy", "python"],
    ["ipython", "python"],
    ["node", "javascript"],
    ["bun", "javascript"],
    ["deno", "javascript"],
    ["tsx", "javascript"],
    ["ts-node", "javascript"],
    ["php8", "php"],
    ["ruby", "other"],
    ["my-php", "other"]
  ])("of %s is %s", (name, language) => assert.strictEqual(Inline.languageOf(name), language))

  it("imports modules with at most 16 parts", () => {
    assert.lengthOf(Inline.modules(Array.from({ length: 16 }, () => "a").join(".")), 33)
    assert.lengthOf(Inline.modules(Array.from({ length: 17 }, () => "a").join(".")), 33)
  })
})

describe("the name of a file", () => {
  it("says what it is", () => {
    assert.isTrue(["x.sh", "a/x.PY", ".x.js", "a.b.ts"].every(Kinds.isScript))
    assert.isFalse(["sh", "x.sh/y", "x.md", "x.", ""].some(Kinds.isScript))
    assert.isTrue(["x.md", ".env", "a/x.JSON", "x.d.ts", "x.d.mts"].every(Kinds.isData))
    assert.isFalse(["md", "x.sh", "x"].some(Kinds.isData))
    assert.isTrue(["a/package.json", "Gemfile"].every(Kinds.isSetting))
    assert.isFalse(Kinds.isSetting("package.json/a"))
    assert.isTrue([".git", "tmp", ".temp", "cache", ".my_cache", "__pycache__", "TMP"].every(Kinds.isKept))
    assert.isFalse(["git", "mytmp", "my_cache", "tmp2"].some(Kinds.isKept))
  })

  it("is one of the system, unless the project is there", () => {
    assert.isTrue(["/usr/bin/x", "/nix/x", "/proc", "/bin/sh"].every((path) => Kinds.isOfSystem(path, "/project")))
    assert.isFalse(["/users/x", "/people/usr/x", "/srv/x"].some((path) => Kinds.isOfSystem(path, "/project")))
    assert.isFalse(Kinds.isOfSystem("/opt/a/x", "/opt/a"))
  })
})
