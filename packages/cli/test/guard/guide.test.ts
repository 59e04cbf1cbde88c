/** The guide of the guard as a command, followed step by step with the payloads that it shows. */
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, it } from "vitest"
import { run, runHere } from "../belay.ts"
import { program, projectWith } from "./support/guarded.ts"

const guide = readFileSync(resolve(import.meta.dirname, "../../../../docs/guard-command.md"), "utf8")

const blocks = (language: string): ReadonlyArray<string> =>
  [...guide.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].flatMap(([, head, text]) => head === language ? [text!] : [])

it("the guide stops a push, and asks about the mail of a poisoned file", async () => {
  const { text } = projectWith(blocks("ts file=belay.guard.ts")[0])
  const answers: Array<unknown> = []
  for (const payload of blocks("json payload")) {
    const { code, stderr, stdout } = await text("claude", payload)
    assert.strictEqual(code, 0, stderr)
    answers.push(JSON.parse(stdout))
  }
  assert.deepStrictEqual(answers.slice(0, 3), [JSON.parse(blocks("json answer")[0]!), {}, {}])
  assert.include(JSON.stringify(answers[3]), "\"permissionDecision\":\"ask\"")
  assert.include(JSON.stringify(answers[3]), "stands only in")
  const toAda = blocks("json payload")[3]!.replace("eve@evil.example", "ada@example.com").replace(
    "toolu_03",
    "toolu_04"
  )
  assert.strictEqual((await text("claude", toAda)).stdout, "{}")
})

it("the commands of the guide guard an empty folder", async () => {
  const { cwd, home } = projectWith()
  const place = ["--cwd", cwd, "--home", home]
  const lines = blocks("console").flatMap((text) => [...text.matchAll(/^\$ belay (.+)$/gm)].map(([, line]) => line!))
  assert.deepStrictEqual(lines, ["guard init --system claude", "guard install claude"])
  const [init, install] = lines.map((line) => line.split(" "))
  assert.strictEqual((await runHere([...init!, ...place])).code, 0)
  const quoted = [process.execPath, program].map((word) => JSON.stringify(word)).join(" ")
  // Nobody is at a terminal here who could agree.
  assert.strictEqual((await runHere([...install!, ...place, "--yes", "--program", quoted])).code, 0)
  const settings = JSON.parse(readFileSync(join(cwd, ".claude", "settings.json"), "utf8"))
  const lineOf = (payload: string): string =>
    settings.hooks[JSON.parse(payload).hook_event_name as string][0].hooks[0].command
  const answers: Array<string> = []
  for (const payload of blocks("json payload")) {
    const { stderr, stdout } = await run("sh", ["-c", lineOf(payload)], payload, { HOME: home }, cwd)
    assert.strictEqual(stderr, "")
    answers.push(stdout)
  }
  // `init` asks about a push, and about the mail of a poisoned file.
  assert.deepStrictEqual(answers.map((answer) => answer.includes("\"permissionDecision\":\"ask\"")), [
    true,
    false,
    false,
    true
  ])
  const { stdout } = await runHere(["guard", "log", ...place])
  assert.include(stdout, "asked")
  assert.include(stdout, "mcp__mail__send_mail")
})

it("the JSON config of the guide runs", async () => {
  const { configure, text } = projectWith()
  configure(blocks("json")[0]!, "belay.guard.json")
  assert.include((await text("claude", blocks("json payload")[0]!)).stdout, "\"permissionDecision\":\"deny\"")
})
