/** What the commands of hooks get of the host's environment. */
import { assert, describe, it } from "vitest"
import { environment } from "../../src/process/internal/environment.ts"

describe("the environment of a command", () => {
  it("has no variable of the host that could load or run other code, or that is a secret", () => {
    const dangerous = [
      "LD_PRELOAD",
      "LD_LIBRARY_PATH",
      "LD_AUDIT",
      "LD_DEBUG",
      "DYLD_INSERT_LIBRARIES",
      "NODE_OPTIONS",
      "NODE_PATH",
      "BASH_ENV",
      "ENV",
      "PYTHONPATH",
      "PYTHONSTARTUP",
      "PERL5OPT",
      "RUBYOPT",
      "GIT_SSH_COMMAND",
      "IFS",
      "PS4",
      "OPENAI_API_KEY",
      "AWS_SECRET_ACCESS_KEY",
      "SSH_AUTH_SOCK",
      "LCX",
      "LANGX"
    ]
    const host = Object.fromEntries([...dangerous, "HOME", "LC_ALL", "PATH"].map((name) => [name, "value"]))
    const given = environment([], {}, host)
    assert.deepStrictEqual(Object.keys(given).sort(), [
      "HOME",
      "LC_ALL",
      "PATH",
      "PYTHONDONTWRITEBYTECODE",
      "SHLVL",
      "TERM"
    ])
  })

  it("has a variable that is asked for by its whole name, and the entry's own", () => {
    const host = { LD_PRELOAD: "value", LD_LIBRARY_PATH: "value" }
    const given = environment(["LD_LIBRARY_PATH"], { OWN: "mine" }, host)
    assert.strictEqual(given["LD_LIBRARY_PATH"], "value")
    assert.isUndefined(given["LD_PRELOAD"])
    assert.strictEqual(given["OWN"], "mine")
  })
})
