import * as Command from "@belay/hook-files/Command"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterEach, vi } from "vitest"
import * as Claude from "../dialect/claude/support.ts"
import { folder, write } from "../support/processes.ts"

const home = folder()

/** A strict script as many projects have it: it asks for colours first, and then guards. */
const guard = write(
  `${home}/guard.sh`,
  `#!/bin/bash
set -euo pipefail
red=$(tput setaf 1); bold=$(tput bold); reset=$(tput sgr0)
command=$(cat | grep -o '"command":"[^"]*"' || true)
if [[ $command == *"rm -rf"* ]]; then
  echo "${"${bold}${red}"}BLOCKED${"${reset}"}: never" >&2
  exit 2
fi
`
)

afterEach(() => void vi.unstubAllEnvs())

const terminals: ReadonlyArray<readonly [title: string, term: string | undefined]> = [
  ["none", undefined],
  ["an empty name", ""],
  ["dumb", "dumb"],
  ["unknown", "no-such-terminal"],
  ["without colours", "vt100"],
  ["xterm", "xterm"],
  ["with 256 colours", "screen-256color"]
]

describe("the terminal of commands", () => {
  for (const [title, term] of terminals) {
    it.live(`lets a strict script ask for colours where that of the host is ${title}`, () =>
      Effect.gen(function*() {
        vi.stubEnv("TERM", term)
        const run: Command.Runner = (request) => Command.run({ ...request, cwd: home })
        const hook = Claude.world({ PreToolUse: [Claude.group([{ command: guard }])] }, {}, { run })
        hook.scope.warnings.length = 0
        assert.deepInclude(yield* hook.bash("rm -rf /"), { _tag: "Reject", reason: "BLOCKED: never" })
        assert.deepInclude(yield* hook.bash("ls"), { _tag: "Continue" })
        assert.deepEqual(hook.scope.warnings, [])
      }))
  }

  it.live("leaves a terminal that has colours as it is, and replaces others", () =>
    Effect.gen(function*() {
      for (const [term, seen] of [["tmux-256color", "tmux-256color"], ["dumb", "xterm-256color"]] as const) {
        vi.stubEnv("TERM", term)
        const { stdout } = yield* Command.run({ command: "echo $TERM", cwd: "/", input: "", timeoutMs: 60_000 })
        assert.strictEqual(stdout.trim(), seen)
      }
    }))

  it.live("gives answers without colours, so that JSON with colours in it is JSON", () =>
    Effect.gen(function*() {
      const command = "red=$(tput setaf 1); echo \"{\\\"reason\\\": \\\"${red}no$(tput sgr0)\\\"}\""
      const { stdout } = yield* Command.run({ command, cwd: "/", input: "", timeoutMs: 60_000 })
      assert.deepEqual(JSON.parse(stdout), { reason: "no" })
    }))
})
