/** Texts of JSON are searched together, and the outcome is the same as if each was searched alone. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import * as Redaction from "@belay/hooks/Redaction"
import * as Secrets from "@belay/hooks/Secrets"
import { Scripted } from "@belay/testing"
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "vitest"

const key = "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4"
const parts: ReadonlyArray<Json> = [
  "plain",
  "",
  "a\u2028b",
  "ada@example.com",
  "write to ada@example.com",
  "example.com",
  key,
  "password",
  "password=",
  "hunter2hunter3",
  "password=hT7pQ2xZ9kL4",
  "hT7pQ2xZ9kL4",
  4111111111111111,
  "4111 1111",
  "1111 1111",
  1234567,
  7,
  true,
  null,
  "+49 30 901820"
]

/** What the model reads of a result. A custom detector that finds nothing makes the hook search each text alone. */
const read = async (output: Json, alone: boolean, strategy: "redact" | "placeholder"): Promise<string> => {
  const never = { detectors: alone ? [{ kind: "never", find: () => [] }] : [] }
  await using agent = createAgent({
    provider: Scripted.make([Scripted.toolCalls({ name: "act", args: {} }), "done"]),
    tools: [defineTool({ name: "act", description: "Acts", input: { type: "object" }, execute: () => output })],
    hooks: [Secrets.make({ ...never, strategy }), Redaction.make({ ...never, strategy })],
    log: false
  })
  const { messages } = await agent.run("go")
  return JSON.stringify(messages.find(({ role }) => role === "tool")!.content)
}

describe("JSON in which each text would be searched alone", () => {
  it("comes out the same when its texts are searched together", async () => {
    let changed = 0
    for (let seed = 0; seed < 200; seed++) {
      const { below, pick } = random(seed)
      const value = (depth: number): Json => {
        if (depth === 0 || below(3) > 0) return pick(parts)
        const items = Array.from({ length: below(6) }, () => value(depth - 1))
        return below(2) === 0
          ? items
          : Object.fromEntries(items.map((item, n) => [`${JSON.stringify(pick(parts))}${n}`, item]))
      }
      const output = [value(3), value(3), value(3)]
      const strategy = pick(["redact", "placeholder"] as const)
      const alone = await read(output, true, strategy)
      assert.strictEqual(await read(output, false, strategy), alone, `seed ${seed}`)
      if (alone !== JSON.stringify(output)) changed++
    }
    assert.isAbove(changed, 50)
  })
})
