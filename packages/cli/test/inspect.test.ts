/** `belay inspect` and `belay backtest`, on recordings, session files and stores of real runs. */
import { createAgent, defineTool } from "@belay/core"
import * as Recorder from "@belay/observe/Recorder"
import * as SessionFile from "@belay/providers/SessionFile"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Scripted from "@belay/testing/Scripted"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, expect, it } from "vitest"
import { runHere } from "./belay.ts"

const folder = mkdtempSync(join(tmpdir(), "belay-inspect-"))
const at = (name: string) => join(folder, name)

const hook = (pattern: string) =>
  `export default {
  name: "no-${pattern}",
  tools: "bash",
  preToolCall: ({ args }) => JSON.stringify(args).includes("${pattern}") ? { _tag: "Reject", reason: "not ${pattern}" } : undefined
}
`

beforeAll(async () => {
  const bash = defineTool({ name: "bash", description: "Runs", input: { type: "object" }, execute: () => "ok" })
  const runs = (command: string) => Scripted.toolCalls({ name: "bash", args: { command } })
  const { close, sessions } = SqliteStore.make({ path: at("agent.db") })
  const agent = createAgent({
    provider: Scripted.make([runs("ls"), runs("git push --force"), "done", "second"]),
    tools: [bash],
    store: sessions,
    records: true,
    plugins: [Recorder.make({ path: at("run.jsonl") })]
  })
  const session = await agent.session({ id: "s1" })
  await session.run("push it")
  const state = await Effect.runPromise(sessions.load("s1"))
  writeFileSync(at("session.jsonl"), SessionFile.exportJsonl(state!, await Effect.runPromise(sessions.records("s1"))))
  await agent.close()
  close()
  writeFileSync(at("force.mjs"), hook("--force"))
  writeFileSync(at("nothing.mjs"), hook("--nothing"))
  writeFileSync(at("none.mjs"), "export default 3\n")
})

describe("belay backtest", () => {
  it("prints exactly this", async () => {
    writeFileSync(
      at("fails.mjs"),
      "export const a = () => ({ name: \"fails\", preToolCall: () => { throw new Error(\"no\") } })\n"
    )
    writeFileSync(
      at("changes.mjs"),
      "export default [{ name: \"changes\", tools: \"bash\", preToolCall: (call) => ({ _tag: \"Transform\", value: { ...call, args: { command: \"pwd\" } } }) }]\n"
    )
    const met = { session: "s1", turn: 1, step: 1, point: "preToolCall", expect: "Continue" }
    writeFileSync(at("met.jsonl"), `${JSON.stringify(met)}\n\n`)
    writeFileSync(at("unmet.jsonl"), `${JSON.stringify({ ...met, expect: "Reject" })}\n${JSON.stringify(met)}\n`)
    writeFileSync(at("half.jsonl"), `${JSON.stringify(met)}\n{"session":"s1"}\n`)
    writeFileSync(at("other.jsonl"), "{\"expect\":\"Reject\"}\n")
    const told: Array<string> = []
    const backtest = async (...args: ReadonlyArray<string>) => {
      const shown = args.map((one) => /^[\w-]+\.(?:mjs|jsonl|db)$/.test(one) ? at(one) : one)
      const { code, stderr, stdout } = await runHere(["backtest", at("run.jsonl"), ...shown])
      const text = `# ${args.join(" ")}: ${code}\n${stdout}${stderr}`.replaceAll(folder, "FOLDER")
      told.push(text.replaceAll(/turn-\w+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID"))
    }
    await backtest("--hook", "force.mjs")
    await backtest("--hook", "nothing.mjs", "--max-stricter", "0")
    await backtest("--hook", "force.mjs", "--max-stricter", "0.5%")
    await backtest("--hook", "force.mjs", "--max-stricter", "0.5")
    await backtest("--hook", "force.mjs", "--max-stricter", "x")
    await backtest("--hook", "force.mjs", "--max-stricter", "1.")
    // It would let everything pass.
    await backtest("--hook", "force.mjs", "--max-stricter", "3")
    await backtest("--hook", "fails.mjs")
    await backtest("--hook", "changes.mjs", "--hook", "force.mjs")
    for (const file of ["met", "unmet", "half", "other", "missing"]) {
      await backtest("--hook", "nothing.mjs", "--expect", `${file}.jsonl`)
    }
    await backtest("--hook", "none.mjs")
    await backtest("--hook", "missing.mjs")
    await expect(told.join("\n")).toMatchFileSnapshot("./support/printed/backtest.txt")
  })
})

describe("belay inspect", () => {
  it("writes the same calls for a recording, a session file and a store", async () => {
    for (const file of ["run.jsonl", "session.jsonl", "agent.db"]) {
      const { code, stderr, stdout } = await runHere(["inspect", at(file), "--title", "My run"])
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^<!doctype html>/)
      assert.include(stdout, "git push --force")
      assert.include(stdout, "My run")
    }
  })

  it("writes to a file that only its owner can read", async () => {
    const { code, stderr, stdout } = await runHere(["inspect", at("run.jsonl"), "--out", at("report.html")])
    assert.strictEqual(code, 0)
    assert.strictEqual(stdout, "")
    assert.include(stderr, "report.html")
    assert.include(readFileSync(at("report.html"), "utf8"), "git push")
  })

  it("says what is wrong with a file that it cannot show", async () => {
    writeFileSync(at("other.txt"), "hello")
    for (
      const [file, text] of [["missing.jsonl", /cannot be read/], [
        "other.txt",
        /not a recording.*Recorder\.make/
      ]] as const
    ) {
      const { code, stderr } = await runHere(["inspect", at(file)])
      assert.strictEqual(code, 2)
      assert.match(stderr, text)
    }
    const { close, sessions } = SqliteStore.make({ path: at("several.db") })
    const agent = createAgent({ provider: Scripted.make(["one", "two"]), store: sessions, log: false })
    const none = await runHere(["inspect", at("several.db")])
    assert.deepStrictEqual([none.code, none.stderr], [2, `belay: ${at("several.db")} has no sessions\n`])
    for (const id of ["first", "second"]) await (await agent.session({ id })).run(`hello ${id}`)
    const several = await runHere(["inspect", at("several.db")])
    assert.strictEqual(several.code, 2)
    assert.match(
      several.stderr,
      /has several sessions: choose one with --session, such as (?:second, first|first, second)/
    )
    const chosen = await runHere(["inspect", at("several.db"), "--session", "first"])
    assert.include(chosen.stdout, "hello first")
    assert.notInclude(chosen.stdout, "hello second")
    await agent.close()
    close()
    const unknown = await runHere(["inspect", at("agent.db"), "--session", "nobody"])
    assert.include(unknown.stderr, "has no session nobody")
  })

  it("shows what is added while it watches, to this machine alone", async () => {
    const file = at("growing.jsonl")
    writeFileSync(file, readFileSync(at("run.jsonl")))
    const bin = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))
    const child = spawn(process.execPath, ["--conditions=@belay/source", bin, "inspect", file, "--watch"])
    let stderr = ""
    child.stderr.on("data", (data) => stderr += String(data))
    while (!/http:\S+/.test(stderr)) await once(child.stderr, "data")
    const [url = ""] = /http:\S+/.exec(stderr) ?? []
    assert.include(await (await fetch(url)).text(), "git push")
    const reader = (await fetch(`${url}events`)).body!.pipeThrough(new TextDecoderStream()).getReader()
    const first = (await reader.read()).value ?? ""
    appendFileSync(file, readFileSync(at("run.jsonl")))
    const second = (await reader.read()).value ?? ""
    assert.isAbove(second.length, first.length)
    const { port } = new URL(url)
    const { request } = await import("node:http")
    const statusOf = (host: string, path = "/") =>
      new Promise((resolve) =>
        request({ host: "127.0.0.1", port, path, headers: { host } }, (response) => {
          resolve(response.statusCode)
          response.destroy()
        }).end()
      )
    const others = ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1.evil:${port}`, "localhost:"]
    for (const host of [...others, `evil-localhost:${port}`]) {
      assert.strictEqual(await statusOf(host), 403, host)
      assert.strictEqual(await statusOf(host, "/events"), 403, host)
    }
    assert.strictEqual(await statusOf(`localhost:${port}`), 200)
    assert.strictEqual(await statusOf(`127.0.0.1:${port}`, "/other"), 404)
    const kinds = await Promise.all(["", "events"].map(async (path) => {
      const { body, headers } = await fetch(`${url}${path}`)
      await body?.cancel()
      return `${headers.get("content-type")}, ${headers.get("cache-control")}`
    }))
    assert.deepStrictEqual(kinds, ["text/html; charset=utf-8, no-store", "text/event-stream, no-store"])
    // A line that is only half written is not an end of what was there before.
    const lines = readFileSync(at("run.jsonl"), "utf8")
    appendFileSync(file, lines.slice(0, 40))
    const third = (await reader.read()).value ?? ""
    assert.isAtLeast(third.length, second.length)
    const again = await runHere(["inspect", file, "--watch", "--port", port])
    assert.deepStrictEqual([again.code, again.stdout], [2, ""])
    assert.match(again.stderr, /^belay: --port: .*EADDRINUSE/)
    child.kill("SIGINT")
    await once(child, "exit")
  })
})

describe("belay backtest", () => {
  it("shows what a hook would refuse, and fails above the allowed share", async () => {
    for (const file of ["run.jsonl", "session.jsonl", "agent.db"]) {
      const { code, stdout } = await runHere(["backtest", "--hook", at("force.mjs"), at(file)])
      assert.strictEqual(code, 0)
      assert.include(stdout, "1 would be stopped now")
      assert.match(stdout, /stricter s1 turn 1 step 2 preToolCall bash: Reject no---force not --force/)
    }
    const strict = await runHere(["backtest", "--hook", at("force.mjs"), "--max-stricter", "1%", at("run.jsonl")])
    assert.strictEqual(strict.code, 1)
    assert.include(strict.stdout, "50% stopped, at most 1% allowed")
    const quiet = await runHere(["backtest", "--hook", at("nothing.mjs"), "--max-stricter", "0", at("run.jsonl")])
    assert.strictEqual(quiet.code, 0)
  })

  it("compares with a file of expectations", async () => {
    writeFileSync(
      at("cases.jsonl"),
      "{\"session\":\"s1\",\"step\":2,\"expect\":\"Reject\"}\n\n{\"session\":\"s1\",\"step\":1,\"expect\":\"Continue\"}\n"
    )
    const args = ["--expect", at("cases.jsonl"), at("run.jsonl")]
    const good = await runHere(["backtest", "--hook", at("force.mjs"), ...args])
    assert.include(good.stdout, "2 of 2 expectations hold")
    assert.strictEqual(good.code, 0)
    const bad = await runHere(["backtest", "--hook", at("nothing.mjs"), ...args])
    assert.include(bad.stdout, "1 of 2 expectations hold")
    assert.strictEqual(bad.code, 1)
  })

  it("writes a page with all findings that only its owner may read", async () => {
    const page = at("backtest.html")
    const { code, stderr } = await runHere(["backtest", "--report", page, "--hook", at("force.mjs"), at("run.jsonl")])
    assert.deepStrictEqual([code, stderr], [0, `belay: the report is in ${page}\n`])
    assert.match(readFileSync(page, "utf8"), /Would be stopped now, and were not \(\d+\)/)
    assert.strictEqual(statSync(page).mode & 0o777, 0o600)
    const lost = await runHere(["backtest", "--report", at("none/x.html"), "--hook", at("force.mjs"), at("run.jsonl")])
    assert.match(lost.stderr, /^belay: --report: .*none\/x\.html cannot be written/)
  })

  it("writes JSON, and says what is wrong with what it was given", async () => {
    const { stdout } = await runHere(["backtest", "--json", "--hook", at("force.mjs"), at("run.jsonl")])
    assert.deepInclude(JSON.parse(stdout), { sessions: 1, inputs: 2, stricterShare: 0.5 })
    writeFileSync(at("wrong.jsonl"), "{}\n")
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [["--hook", at("none.mjs"), at("run.jsonl")], /exports no hook/],
      [["--hook", at("missing.mjs"), at("run.jsonl")], /there is no file/],
      [["--hook", at("force.mjs"), "--max-stricter", "many", at("run.jsonl")], /expected a share/],
      [["--hook", at("force.mjs"), "--expect", at("wrong.jsonl"), at("run.jsonl")], /line 1 of/]
    ]
    for (const [args, text] of cases) {
      const { code, stderr } = await runHere(["backtest", ...args])
      assert.notStrictEqual(code, 0)
      assert.match(stderr, text)
    }
  })
})
