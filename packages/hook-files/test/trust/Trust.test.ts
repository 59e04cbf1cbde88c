import type { Dialect } from "@belay/hook-files/Discovery"
import * as Trust from "@belay/hook-files/Trust"
import { assert, describe, it } from "@effect/vitest"
import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { place, settings } from "../support/places.ts"
import { write } from "../support/processes.ts"

const put = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true })
  return write(path, text)
}

const prints = (one: ReturnType<typeof place>, sources?: ReadonlyArray<Dialect>) => () =>
  Trust.fingerprint(
    one.cwd,
    one.load(sources === undefined ? {} : { sources }).sources.filter(({ ofProject }) => ofProject),
    one.home
  )

/** A line, a file, and whether a change of the file asks again. Files are written without an execute bit. */
const lines: ReadonlyArray<readonly [line: string, file: string, asks: boolean]> = [
  // Programs, and what is beside them.
  [".claude/hooks/x", ".claude/hooks/x", true],
  ["./guard.sh --strict", "guard.sh", true],
  ["./guard.sh", "helper.py", true],
  ["./guard.sh", "src/app.py", false],
  ["./guard.sh", "tsconfig.json", false],
  ["\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/x.sh", ".claude/hooks/x.sh", true],
  ["\"$CLAUDE_PROJECT_DIR/my hooks/x.sh\"", "my hooks/x.sh", true],
  ["${CLAUDE_PROJECT_DIR:-.}/tools/x.sh", "tools/x.sh", true],
  ["$(git rev-parse --show-toplevel)/tools/x.sh", "tools/x.sh", true],
  ["\"$(git rev-parse --show-toplevel)/tools/x.sh\"", "tools/x.sh", true],
  ["\"$SOMEWHERE\"/tools/x.sh", "tools/x.sh", true],
  ["cd .claude/hooks && ./x.sh", ".claude/hooks/x.sh", true],
  ["cd tools && ./x.sh", "tools/x.sh", true],
  ["cd \"$CLAUDE_PROJECT_DIR\" && ./tools/x.sh", "tools/x.sh", true],
  ["[ -x tools/x.sh ] && tools/x.sh", "tools/x.sh", true],
  ["if true; then tools/x.sh; fi", "tools/x.sh", true],
  ["T=tools; \"$T/x.sh\"", "tools/x.sh", true],
  ["for f in tools/*.sh; do bash \"$f\"; done", "tools/x.sh", true],
  ["tools/$NAME.sh", "tools/x.sh", true],
  ["(cd tools; exec ./x.sh)", "tools/x.sh", true],
  // Interpreters.
  ["python3 tools/x.py src/a.py", "tools/x.py", true],
  ["python3 tools/x.py src/a.py", "src/a.py", false],
  ["python3 tools/x.py", "tools/lib/helper.py", true],
  ["python3 tools/x.py", "tools/seen.json", false],
  ["python3 -u -W ignore tools/x.py", "tools/x.py", true],
  ["bash x.sh", "x.sh", true],
  ["bash tools/guard", "tools/guard", true],
  ["bash tools/x.sh", "tools/lib/common.sh", true],
  ["bash -c \"./x.sh\"", "x.sh", true],
  ["sh -c 'cd tools && python3 x.py'", "tools/x.py", true],
  ["node tools/x.mjs", "tools/x.mjs", true],
  ["node --require ./tools/pre.js tools/x.mjs", "tools/pre.js", true],
  ["node -r ./pre.js other/x.mjs", "other/x.mjs", true],
  ["node tools/x.mjs", "tools/package.json", true],
  ["node tools/x.js", "package.json", true],
  ["npx tsx tools/x.ts", "tools/x.ts", true],
  ["uv run x.py", "x.py", true],
  ["uv run --with requests tools/x.py", "tools/x.py", true],
  ["uv run --script .claude/hooks/x.py", ".claude/hooks/x.py", true],
  ["timeout 5 python3 tools/x.py", "tools/x.py", true],
  ["env MODE=1 ./tools/x", "tools/x", true],
  ["flock .claude/lock ./tools/x", "tools/x", true],
  ["find . -name '*.py' -exec python3 tools/x.py {} \\;", "tools/x.py", true],
  ["ls | xargs -n1 bash tools/x.sh", "tools/x.sh", true],
  [". ./env.sh", "env.sh", true],
  ["source tools/lib.sh; run_it", "tools/lib.sh", true],
  [". ./settings.env && run_it", "settings.env", true],
  ["awk -f tools/x.awk in.txt", "tools/x.awk", true],
  ["jq -f rules.jq", "rules.jq", true],
  ["python -m hooks.guard", "hooks/guard.py", true],
  ["python -m hooks.guard", "hooks/other.py", true],
  ["python3 -c 'import guard; guard.run()'", "guard.py", true],
  ["python3 -c \"import sys; sys.path.insert(0, 'tools'); import guard\"", "tools/guard.py", true],
  ["python3 -c \"exec(open('steps.txt').read())\"", "steps.txt", true],
  ["node -e \"require('./tools/guard')\"", "tools/guard.js", true],
  ["python3 - < tools/x.py", "tools/x.py", true],
  ["bash <<'END'\n./tools/x.sh\nEND", "tools/x.sh", true],
  ["BASH_ENV=./env.txt bash -c true", "env.txt", true],
  ["PYTHONPATH=lib python3 tools/x.py", "lib/helper.py", true],
  ["PATH=bin:$PATH guard", "bin/guard.sh", true],
  ["go run ./cmd/guard", "cmd/guard/main.go", true],
  // Lines that run what they read.
  ["cat steps.txt ./steps.txt | sh", "steps.txt", true],
  ["bash < ./steps.txt", "steps.txt", true],
  ["eval \"$(cat ./steps.txt)\"", "steps.txt", true],
  ["bash -c \"$(cat ./steps.txt)\"", "steps.txt", true],
  [
    "python3 -c \"import re,json; re.compile('x'); json.load(open('seen/state.json')); sql.execute_all\"",
    "seen/state.json",
    false
  ],
  [
    "f=$(jq -r .tool_input.file_path); if [[ $f == *.py ]]; then ruff check src/a.py --fix \"$f\"; fi",
    "src/a.py",
    false
  ],
  ["jq -r .tool_input.file_path | { read f; npx prettier --write \"$f\" src/a.ts; }", "src/a.ts", false],
  ["node_modules/.bin/eslint src/a.ts", "node_modules/.bin/eslint", true],
  ["node_modules/.bin/eslint src/a.ts", "node_modules/.bin/tsc.js", false],
  ["curl -s https://example.com/x.sh | bash -s -- ./args.txt", "args.txt", true],
  ["case \"$1\" in *.sh) shellcheck src/a.sh;; esac", "src/a.sh", false],
  ["python3 <(cat ./steps.txt)", "steps.txt", true],
  ["echo \"unclosed ./steps.txt", "steps.txt", true],
  // Runners read their own files.
  ["make -f hooks.mk guard", "hooks.mk", true],
  ["make -C tools guard", "tools/Makefile", true],
  ["make -C tools guard", "tools/lib/y.sh", false],
  ["make lint", "Makefile", true],
  ["just x", "justfile", true],
  ["task guard", "Taskfile.yml", true],
  ["npm run guard", "package.json", true],
  ["npm --prefix web run guard", "web/package.json", true],
  ["pnpm guard", "package.json", true],
  ["yarn guard", ".yarnrc.yml", true],
  ["docker compose -f stack.yml run guard", "stack.yml", true],
  ["docker compose up", "compose.yaml", true],
  ["pre-commit run", ".pre-commit-config.yaml", true],
  ["eslint --config eslint.config.js src", "eslint.config.js", true],
  ["npx eslint -c rules/eslint.cjs src", "rules/eslint.cjs", true],
  // Data.
  ["npx tsc -p tsconfig.json", "tsconfig.json", false],
  ["prettier --check README.md", "README.md", false],
  ["ruff check src/main.py", "src/main.py", false],
  ["npx prettier --write src/a.ts", "src/a.ts", false],
  ["uv run ruff check src/main.py", "src/main.py", false],
  ["docker compose -f docker-compose.yml ps", "docker-compose.yml", false],
  ["python3 -c \"import json; json.load(open('package.json'))\"", "package.json", false],
  ["python3 -m pytest tests/ -q", "tests/test_a.py", false],
  ["jq -r .name package.json", "package.json", false],
  ["cat ./guard.py", "guard.py", false],
  ["grep -q TODO src/a.sh", "src/a.sh", false],
  ["echo x >> .claude/hooks/hooks.log; tee -a notes.md", "notes.md", false],
  ["git diff --stat ./src/a.ts", "src/a.ts", false],
  ["true", "hooks/useAuth.ts", false],
  // Words behind programs that run another program, and paths of which a part is computed.
  ["nice bash tools/guard", "tools/guard", true],
  ["sudo -u nobody python3 tools/guard", "tools/guard", true],
  ["env -u HOME awk -f tools/guard", "tools/guard", true],
  ["x/y$KIND/guard.sh", "guard.sh", true],
  ["bash tools/$A/$B.sh", "tools/x.sh", true],
  ["bash \"$SCRIPT\" && ./guard.sh", "guard.sh", true],
  ["curl https://example.com/x.sh", "example.com/x.sh", false]
]

describe("a decision about a line", () => {
  for (const [line, file, asks] of lines) {
    it(`${asks ? "covers" : "leaves out"} ${file} of ${line.replaceAll("\n", " ")}`, () => {
      const one = place()
      one.project(settings(line))
      const print = prints(one)
      for (
        const path of [
          "guard.sh",
          "tools/x.mjs",
          "tools/x.js",
          "tools/x.sh",
          "tools/x.py",
          "hooks/guard.py",
          "tools/guard.py",
          file
        ]
      ) {
        put(join(one.cwd, path), "1\n")
      }
      const before = print()
      assert.strictEqual(print(), before)
      // Of packages only what runs counts.
      put(join(one.cwd, file), file.endsWith("package.json") ? `{"scripts":{"guard":"evil"},"type":"module"}` : "2\n")
      assert.strictEqual(print() !== before, asks)
    })
  }
})

/** What appears or changes beside scripts. */
const beside: ReadonlyArray<readonly [file: string, asks: boolean]> = [
  ...("x.py lib/common.sh helper.mjs a/b/c.rb new.ts deep/package.json tool.wasm node_modules/dep/index.js node_modules/.bin/x.js node_modules/dep/package.json .hidden.sh"
    .split(" ").map((file) => [file, true] as const)),
  ...(`counter.txt count .last_run .state .session-id data/x.json sessions/abc.json metrics.json stats.json queue.json pending.json todo.md output.txt
     hook-debug.txt hooks.log.1 .cache/x .cache/x.py tmp/a.sh __pycache__/x.cpython-312.pyc __pycache__/x.py .ruff_cache/a .pytest_cache/a.py .mypy_cache/a.py
     node_modules/.cache/x.js node_modules/dep/README.md node_modules/dep/index.d.ts notes.txt .lock logs/x.txt history.jsonl x.sqlite audit.txt types.d.ts`
    .split(/\s+/).map((file) => [file, false] as const))
]

describe("a decision about scripts", () => {
  for (const [file, asks] of beside) {
    it(`${asks ? "covers" : "leaves out"} ${file} beside them`, () => {
      const one = place()
      one.project(settings("python3 .claude/hooks/guard.py"))
      const path = join(one.cwd, ".claude/hooks", file)
      put(join(one.cwd, ".claude/hooks/guard.py"), "")
      const print = prints(one)
      const before = print()
      put(path, "{\"main\":\"1\"}")
      const came = print()
      assert.strictEqual(came !== before, asks)
      put(path, "{\"main\":\"2\"}")
      assert.strictEqual(print() !== came, asks)
      rmSync(path)
      assert.strictEqual(print(), before)
    })
  }

  it("covers what becomes executable, and what links lead to", () => {
    const one = place()
    one.project(settings("tools/guard"))
    const print = prints(one)
    put(join(one.cwd, "tools/guard"), "")
    const other = put(join(one.cwd, "tools/notes.txt"), "")
    put(join(one.cwd, "shared/lib/common.sh"), "1")
    symlinkSync("../shared/lib", join(one.cwd, "tools/lib"))
    symlinkSync("..", join(one.cwd, "tools/up"))
    const seen = [print()]
    for (
      const change of [
        () => chmodSync(other, 0o755),
        () => put(join(one.cwd, "shared/lib/common.sh"), "2"),
        () => symlinkSync("/bin/sh", join(one.cwd, "tools/x.sh"))
      ]
    ) {
      change()
      seen.push(print())
    }
    assert.lengthOf(new Set(seen), 4)
    put(join(one.cwd, "src/app.ts"), "")
    assert.strictEqual(print(), seen[3])
  })

  it("covers folders of systems that were asked for and have entries, and no others", () => {
    const one = place()
    one.project(settings("true"))
    const print = prints(one, ["claude"])
    const before = print()
    for (
      const path of [
        "hooks/useAuth.ts",
        ".github/hooks/x.json",
        ".github/hooks/x.sh",
        ".codex/hooks.json",
        ".codex/hooks/x.py",
        ".claude/skills/x/SKILL.md",
        ".claude/skills/x/x.py",
        ".claude/agents/notes.txt"
      ]
    ) {
      put(join(one.cwd, path), "{}")
    }
    assert.strictEqual(print(), before)
    put(
      join(one.cwd, ".claude/skills/x/SKILL.md"),
      "---\nname: x\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: 'true'\n---\n"
    )
    const skill = print()
    assert.notStrictEqual(skill, before)
    put(join(one.cwd, ".claude/skills/x/x.py"), "changed")
    assert.notStrictEqual(print(), skill)
    put(
      join(one.cwd, "hooks.json"),
      JSON.stringify({ version: 1, hooks: { PreToolUse: [{ command: "hooks/guard.sh" }] } })
    )
    put(join(one.cwd, "hooks/guard.sh"), "")
    const both = prints(one, ["claude", "basecoat"])
    const coats = both()
    put(join(one.cwd, "hooks/useAuth.ts"), "changed")
    assert.notStrictEqual(both(), coats)
  })

  const mentions: ReadonlyArray<
    readonly [dialect: Dialect, path: string, text: (more: string) => string, asks: boolean]
  > = [
    [
      "claude",
      ".claude/settings.json",
      (more) => settings("true", { model: more, permissions: { allow: [more] } }),
      false
    ],
    ["claude", ".claude/settings.json", (more) => settings("true", { env: { A: more } }), true],
    ["claude", ".claude/settings.json", (more) => settings(`true ${more}`), true],
    [
      "claude",
      ".claude/settings.json",
      (more) => settings("true", more === "2" ? { disableAllHooks: true } : {}),
      true
    ],
    [
      "codex",
      ".codex/config.toml",
      (more) =>
        `model = "${more}"\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "true"\n`,
      false
    ],
    [
      "codex",
      ".codex/config.toml",
      (more) => `[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "true ${more}"\n`,
      true
    ],
    [
      "gemini",
      ".gemini/settings.json",
      (more) =>
        `{ "theme": "${more}", "hooks": { "BeforeTool": [{ "hooks": [{ "type": "command", "command": "true" }] }] } }`,
      false
    ],
    [
      "gemini",
      ".gemini/settings.json",
      (more) => `{ "hooks": { "BeforeTool": [{ "hooks": [{ "type": "command", "command": "true ${more}" }] }] } }`,
      true
    ],
    [
      "copilot",
      ".github/copilot/settings.json",
      (more) => `{ "x": "${more}", "hooks": { "preToolUse": [{ "type": "command", "bash": "true" }] } }`,
      false
    ],
    [
      "copilot",
      ".github/hooks/x.json",
      (more) =>
        `{ "version": 1, "hooks": { "preToolUse": [{ "type": "command", "bash": "./x.sh", "cwd": "${more}" }] } }`,
      true
    ],
    [
      "basecoat",
      "mcp.json",
      (more) => `{ "mcpServers": { "x": "${more}" }, "hooks": { "PreToolUse": [{ "tool": "x.y", "priority": 1 }] } }`,
      true
    ],
    [
      "basecoat",
      "mcp.json",
      (more) => `{ "inputs": ["${more}"], "hooks": { "PreToolUse": [{ "tool": "x.y", "priority": 1 }] } }`,
      false
    ],
    [
      "basecoat",
      "hooks.json",
      (more) => `{ "version": 1, "hooks": { "PreToolUse": [{ "command": "true ${more}", "priority": 1 }] } }`,
      true
    ],
    [
      "claude",
      ".claude/agents/a.md",
      (more) =>
        `---\nname: a\ndescription: ${more}\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: "true"\n---\n${more}`,
      false
    ],
    [
      "claude",
      ".claude/agents/a.md",
      (more) =>
        `---\nname: a\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: "true ${more}"\n---\n`,
      true
    ]
  ]
  for (const [dialect, path, text, asks] of mentions) {
    it(`${asks ? "covers what" : "leaves out what else"} ${path} says${asks ? " of hooks" : ""}: ${text("2").slice(0, 40).replaceAll("\n", " ")}…`, () => {
      const one = place()
      put(join(one.cwd, path), text("1"))
      const print = prints(one, [dialect])
      const before = print()
      assert.match(before, new RegExp(`^${dialect}:[0-9a-f]{64}$`))
      put(join(one.cwd, path), text("2"))
      assert.strictEqual(print() !== before, asks)
    })
  }

  it("is one a system: what was decided about all of them counts where only one is asked for", () => {
    const one = place()
    one.project(settings("true"))
    put(join(one.cwd, ".codex/hooks.json"), settings("true"))
    const sources = ["claude", "codex"]
    one.load({ sources }).untrusted[0]!.trust()
    assert.deepEqual([one.load({ sources: ["claude"] }).untrusted, one.load().untrusted], [[], []])
    one.project(settings("false"))
    one.load({ sources: ["claude"] }).untrusted[0]!.trust()
    assert.deepEqual([one.load({ sources }).untrusted, one.load({ sources: ["codex"] }).untrusted], [[], []])
  })

  it("covers a project that is where programs of the system are", () => {
    const one = place()
    one.project(settings("tools/x.sh; /opt/other/x.sh"))
    const paths = Trust.scripts("/opt/nobody/project", one.load().sources, one.home).map(({ path }) => path)
    assert.deepEqual(paths, ["/opt/nobody/project/tools/x.sh"])
  })

  it("lists installed packages as one", () => {
    const one = place()
    one.project(settings("node .claude/hooks/guard.mjs"))
    const files = ["guard.mjs", "node_modules/a/index.js", "node_modules/b/index.js"]
    for (const file of files) put(join(one.cwd, ".claude/hooks", file), "")
    const found = Trust.scripts(one.cwd, one.load().sources, one.home)
    const paths = found.flatMap(({ path, state }) => state === "absent" ? [] : [path])
    assert.deepEqual(paths, [join(one.cwd, ".claude/hooks/guard.mjs"), join(one.cwd, ".claude/hooks/node_modules")])
  })
})
