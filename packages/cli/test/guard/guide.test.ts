/** The guide of the guard as a command, followed step by step with the payloads that it shows. */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { assert, it } from "vitest"
import { projectWith } from "./support/guarded.ts"

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

it("the JSON config of the guide runs", async () => {
  const { configure, text } = projectWith()
  configure(blocks("json")[0]!, "belay.guard.json")
  assert.include((await text("claude", blocks("json payload")[0]!)).stdout, "\"permissionDecision\":\"deny\"")
})
