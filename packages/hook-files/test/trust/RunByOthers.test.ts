import * as Discovery from "@belay/hook-files/Discovery"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Trust from "@belay/hook-files/Trust"
import { assert, describe, it } from "@effect/vitest"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { folder, write } from "../support/processes.ts"

const files =
  "tools/x.txt tools/x.ts tools/b.sh tools/x.rb tools/list lib/M.pm lib/x.pl lib/m.rb lib/Main.class lib/a.jar x.bat"

const project = (...lines: ReadonlyArray<string>) => {
  const root = folder()
  const cwd = join(root, "p")
  for (const file of [...files.split(" "), "x.ts", "tools/plain", "steps"]) write(join(cwd, file), "x")
  chmodSync(join(cwd, "tools/plain"), 0o755)
  const hooks = lines.map((command) => ({ matcher: "Bash", hooks: [{ type: "command", command }] }))
  write(join(cwd, ".claude/settings.json"), JSON.stringify({ hooks: { PreToolUse: hooks } }))
  const places = { cwd, home: join(root, "home"), managed: join(root, "managed"), sources: ["claude"] }
  return { cwd, places, trust: join(root, "trust") }
}

describe("what a decision about a project covers", () => {
  for (
    const [line, file] of [
      ["sh < tools/x.txt", "tools/x.txt"],
      ["python3 < tools/x.txt", "tools/x.txt"],
      ["run-parts --report tools", "tools/plain"],
      ["find tools -name plain -exec {} \\;", "tools/plain"],
      ["find ./tools -type f -exec sh {} +", "tools/b.sh"],
      ["find -name x -exec sh {} +", "x.bat"],
      ["perl -I lib lib/x.pl", "lib/M.pm"],
      ["perl -Ilib -MM -e 1", "lib/M.pm"],
      ["ruby -I lib tools/x.rb", "lib/m.rb"],
      ["ruby -Ilib -rm -e 1", "lib/m.rb"],
      ["npx --no-install x.ts", "x.ts"],
      ["npx --no-install tsx tools/x.ts", "tools/x.ts"],
      ["cmd /c x.bat", "x.bat"],
      ["cmd.exe /d /c \"x.bat a\"", "x.bat"],
      ["java -cp lib Main", "lib/Main.class"],
      ["java -cp other:lib/a.jar Main", "lib/a.jar"],
      ["for f in tools/*.sh; do sh $f; done", "tools/b.sh"],
      ["for f in tools/*; do . $f; done", "tools/plain"],
      ["sh < steps", "steps"],
      ["sh -s < later", "later"],
      ["cat steps | sh", "steps"],
      ["eval \"$(cat steps)\"", "steps"],
      ["source <(cat steps)", "steps"],
      ["while read f; do sh $f; done < steps", "steps"],
      ["xargs -a steps sh", "steps"],
      ["HOME=$PWD bash -l", ".bash_profile"],
      ["vim -es -S tools/x.txt", "tools/x.txt"],
      ["psql -f tools/x.txt", "tools/x.txt"],
      ["git -c core.hooksPath=tools commit", "tools/b.sh"]
    ] as const
  ) {
    it(`includes ${file}, which \`${line}\` runs`, () => {
      const { cwd, places } = project(line)
      const sources = Discovery.find(places).sources.filter(({ ofProject }) => ofProject)
      assert.include(Trust.scripts(cwd, sources, places.home).map(({ path }) => path), join(cwd, file))
    })
  }

  for (
    const line of [
      "npx --no-install prettier --check .",
      "docker build .",
      "pytest",
      "husky",
      "code --wait",
      "ssh build@example.com ./check.sh"
    ]
  ) {
    it(`includes nothing of \`${line}\``, () => {
      const { cwd, places } = project(line)
      write(join(cwd, "node_modules/.bin/prettier"), "x")
      const sources = Discovery.find(places).sources.filter(({ ofProject }) => ofProject)
      const found = Trust.scripts(cwd, sources, places.home).filter(({ state }) => state !== "absent")
      assert.deepEqual(found, [])
    })
  }

  it("is decided for thousands of entries that run the same line, each once", () => {
    const { places, trust } = project(...Array.from({ length: 5_000 }, () => "exit 0"))
    const load = () => HookFiles.load({ ...places, trust, transcripts: false })
    load().untrusted[0]!.trust()
    const { hooks, sources, untrusted } = load()
    assert.deepEqual(untrusted, [])
    assert.lengthOf(hooks, 1)
    assert.lengthOf(sources[0]!.config.handlers, 5_000)
  })
})
