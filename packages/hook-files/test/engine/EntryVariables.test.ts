/** `env` of entries: what a project may not set, and what it is filled in with. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { calls } from "../../../../test/support/agent.ts"
import { place } from "../support/places.ts"
import { write } from "../support/processes.ts"
import { type Files, start } from "../support/publicFiles.ts"

const line = `printf '%s|%s|%s' "$MODE" "$LD_PRELOAD" "$NODE_OPTIONS" > seen`
const env = { MODE: "strict", LD_PRELOAD: "/no/such.so", NODE_OPTIONS: "--require ./evil.cjs" }
const fileOf: { readonly [D in "copilot" | "gemini"]: (path: "project" | "user") => Files } = {
  copilot: (path) => ({
    [path === "user" ? "~/.copilot/hooks/a.json" : ".github/hooks/a.json"]: {
      version: 1,
      hooks: { preToolUse: [{ bash: line, env }] }
    }
  }),
  gemini: (path) => ({
    [path === "user" ? "~/.gemini/settings.json" : ".gemini/settings.json"]: {
      hooks: { BeforeTool: [{ hooks: [{ type: "command", command: line, env }] }] }
    }
  })
}

describe("env of an entry", () => {
  it.each(["copilot", "gemini"] as const)(
    "of a project's file may not say what programs load (%s), of the user's it may",
    async (dialect) => {
      const entry = dialect === "copilot"
        ? String.raw`a\.json: hooks\.preToolUse\[0\]`
        : String.raw`settings\.json: hooks\.BeforeTool\[0\]\.hooks\[0\]`
      for (const whose of ["project", "user"] as const) {
        const warnings = whose === "user"
          ? []
          : ["LD_PRELOAD", "NODE_OPTIONS"].map((name) => new RegExp(`${entry}\\.env\\.${name}: is not set`))
        const { agent: made, did, read } = start(dialect, { "README.md": "", ...fileOf[dialect](whose) }, [
          calls(["bash", { command: "ls" }])
        ], { warnings })
        await using agent = made
        await agent.run("go")
        assert.lengthOf(did, 1)
        assert.strictEqual(read("seen"), whose === "user" ? `strict|${env.LD_PRELOAD}|${env.NODE_OPTIONS}` : "strict||")
      }
    }
  )

  it("of a project is refused by name, whatever the system", () => {
    const refused = [
      "PATH",
      "HOME",
      "BASH_ENV",
      "ENV",
      "LD_LIBRARY_PATH",
      "DYLD_INSERT_LIBRARIES",
      "GIT_SSH_COMMAND",
      "PYTHONPATH",
      "PYTHONSTARTUP",
      "PERL5LIB",
      "PERL5OPT",
      "RUBYOPT",
      "NODE_PATH",
      "npm_config_prefix",
      "JAVA_TOOL_OPTIONS",
      "PROMPT_COMMAND",
      "PS4",
      "BASH_FUNC_ls%%"
    ]
    const fine = ["MODE", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "MY_PATH", "ENVIRONMENT", "RUBBER", "HOMEPAGE"]
    const { cwd, load } = place()
    const variables = Object.fromEntries([...refused, ...fine].map((name) => [name, "x"]))
    write(
      join(cwd, ".github/hooks/a.json"),
      JSON.stringify({ version: 1, hooks: { preToolUse: [{ bash: "true", env: variables }] } })
    )
    const { sources, warnings } = load({ sources: ["copilot"] })
    assert.deepEqual(warnings.map(({ key }) => key), refused.map((name) => `hooks.preToolUse[0].env.${name}`))
    assert.deepEqual(Object.keys(sources[0]!.config.handlers[0]!.env ?? {}), fine)
  })

  it(
    "of Copilot is filled in with what the command sees, and says once what it does not",
    async () => {
      const preToolUse = [{
        bash: `printf '%s\\n' "$LIB" "$HOME/lib" "[$TOKEN]" > seen`,
        env: { LIB: "$HOME/lib", TOKEN: "x${BELAY_SECRET}" }
      }]
      const files: Files = { ".github/hooks/a.json": { version: 1, hooks: { preToolUse } } }
      const step = calls(["bash", { command: "ls" }])
      const { agent: made, heard, home, read } = start("copilot", files, [step, step])
      await using agent = made
      await agent.run("go")
      assert.strictEqual(read("seen"), `${home}/lib\n${home}/lib\n[x]\n`)
      assert.lengthOf(heard.warnings, 1)
      assert.match(
        heard.warnings[0]!,
        /a\.json: hooks\.preToolUse\[0\]\.env\.TOKEN: BELAY_SECRET is empty, .*`passEnv`/
      )
    }
  )
})
