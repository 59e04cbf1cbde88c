/** Hook files of Factory's Droid on the command line. */
import { assert, describe, it } from "vitest"
import { settings, world } from "./belay.ts"

describe("hooks of Droid", () => {
  it("are listed, explained, tried and checked", async () => {
    const { home, hooks, json } = world({
      "home/.factory/settings.json": settings("PreToolUse", [{
        command: "jq -e '.tool_input.command | contains(\"push\") | not' > /dev/null || { echo no >&2; exit 2; }"
      }], "Execute")
    })
    assert.match((await hooks("list")).stdout, /factory, user\n {2}PreToolUse {2}Execute {2}may refuse the call/)
    const tried = await json("test", "PreToolUse", "--tool", "Bash", "--input", "{\"command\":\"git push\"}")
    assert.deepInclude(tried.value, { decision: "deny", reason: "no" })
    assert.match((await hooks("explain", "PreToolUse", "--source", "factory")).stdout, /FACTORY_PROJECT_DIR/)
    assert.strictEqual(
      (await json("list", "--file", `${home}/.factory/settings.json`)).value.files[0].dialect,
      "factory"
    )
    assert.deepEqual((await json("doctor")).value.errors, 0)
    const wrong = world({
      "home/.factory/settings.json": settings("PreToolUse", [{ command: "echo blocked; exit 1", if: "x" }])
    })
    assert.deepEqual(
      (await wrong.json("doctor")).value.findings.map(({ rule }: { readonly rule: string }) => rule).toSorted(),
      ["exit-one", "unknown-key"]
    )
  })
})
