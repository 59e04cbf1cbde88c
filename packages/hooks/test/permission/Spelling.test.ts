/** The option `ignoreCase` of the guards that read paths. */
import type { AgentHook } from "@belay/core/AgentHook"
import type { Json } from "@belay/core/Json"
import * as DestructiveCommands from "@belay/hooks/DestructiveCommands"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import * as ProtectedPaths from "@belay/hooks/ProtectedPaths"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { decide } from "../support/decide.ts"
import { isConfigError } from "../support/options.ts"

type Make = (options: { readonly ignoreCase?: boolean }) => AgentHook

const guards: ReadonlyArray<readonly [name: string, make: Make]> = [
  ["ProtectedPaths", (options) => ProtectedPaths.make({ home: "/h/ada", ...options })],
  ["PermissionRules", (options) => PermissionRules.make({ deny: ["Write(.env)"], home: "/h/ada", ...options })]
]

const write = (hook: AgentHook, path: string) =>
  Effect.map(decide(hook, "write_file", { path, content: "x" }, { cwd: "/p" }), ({ _tag }) => _tag === "Reject")

describe("letter case of paths", () => {
  it.effect.each(guards)(
    "does not count in %s, unless the file system tells them apart",
    ([, make]) =>
      Effect.gen(function*() {
        assert.isTrue(yield* write(make({}), ".ENV"))
        assert.isTrue(yield* write(make({ ignoreCase: true }), ".ENV"))
        assert.isFalse(yield* write(make({ ignoreCase: false }), ".ENV"))
        assert.isTrue(yield* write(make({ ignoreCase: false }), ".env"))
      })
  )

  it.each<readonly [string, Make]>([...guards, ["DestructiveCommands", DestructiveCommands.make]])(
    "is an option of %s that is true or false",
    (_name, make) => {
      // A program without types may pass anything.
      const options = { ignoreCase: "no" } as never
      let error: unknown
      try {
        make(options)
      } catch (thrown) {
        error = thrown
      }
      assert.isTrue(isConfigError(error))
    }
  )
})

describe("the files that ProtectedPaths protects by default", () => {
  const all = [
    ...["~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.bash_profile", "~/.gitconfig", "~/.config/x"],
    ...["~/.npmrc", "~/.netrc", "~/.kube/config", "~/.aws/credentials", "~/.gnupg/x", ".gitmodules", ".envrc"],
    ...[".vscode/settings.json", ".idea/x", ".cursor/hooks.json", ".codex/config.toml", ".gemini/settings.json"]
  ]
  it.effect.each(all)(
    "have %s among them",
    (path) => Effect.map(write(ProtectedPaths.make({ home: "/h/ada" }), path), (isRefused) => assert.isTrue(isRefused))
  )
})

describe("what ProtectedPaths takes for the change of a file", () => {
  const decided = (name: string, args: Json) =>
    Effect.map(decide(ProtectedPaths.make({ home: "/h/ada" }), name, args, { cwd: "/p" }), ({ _tag }) => _tag)

  it.effect.each(["sync_file", "syncDir", "sync_folder", "fs-sync"])(
    "has the target of %s in it",
    (name) => Effect.map(decided(name, { target: ".git" }), (tag) => assert.strictEqual(tag, "Reject"))
  )

  it.effect.each(["yq -i .a=1 .env", "yq --in-place .a=1 .env", "yq --inplace .a=1 .env"])(
    "has %s in it",
    (command) => Effect.map(decided("bash", { command }), (tag) => assert.strictEqual(tag, "Reject"))
  )
})
