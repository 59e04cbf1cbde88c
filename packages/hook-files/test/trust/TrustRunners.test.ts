/** Programs that run what a file of the project says: that file belongs to the decision. */
import * as Trust from "@belay/hook-files/Trust"
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { place, settings } from "../support/places.ts"
import { write } from "../support/processes.ts"

/** Lines of a hook, and the files that they make a program run. */
const lines: { readonly [line: string]: ReadonlyArray<string> } = {
  "./gradlew guard": ["build.gradle", "build.gradle.kts", "settings.gradle"],
  "gradle --init-script init.gradle guard": ["init.gradle"],
  "./mvnw verify": ["pom.xml"],
  "mvn -f web/pom.xml verify": ["web/pom.xml"],
  "gmake lint": ["Makefile", "GNUmakefile"],
  "make --file=rules.mk lint": ["rules.mk"],
  "make -frules.mk lint": ["rules.mk"],
  "inv guard": ["tasks.py"],
  "go-task guard": ["Taskfile.yml"],
  "docker-compose run guard": ["compose.yaml", "docker-compose.yml"],
  "podman compose run guard": ["compose.yaml"],
  "podman-compose run guard": ["compose.yaml"],
  "rake guard": ["Rakefile"],
  "bundle exec rake guard": ["Gemfile"],
  "nox -s guard": ["noxfile.py"],
  "tox -e guard": ["tox.ini"],
  "composer run guard": ["composer.json"],
  "cargo run": ["Cargo.toml", "build.rs"],
  "bun run guard": ["package.json", "bunfig.toml"],
  "deno task guard": ["deno.json"],
  "uv run guard": ["pyproject.toml"],
  "poetry run guard": ["pyproject.toml"],
  "mise run guard": ["mise.toml", ".mise.toml"],
  "lefthook run guard": ["lefthook.yml"],
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
