import { assert, describe, it } from "@effect/vitest"
import { oldNode } from "../../../src/agent/internal/config/oldNode.ts"

describe("an old version of Node", () => {
  it("is reported in one sentence", () => {
    assert.strictEqual(
      oldNode({ node: "20.19.5" }),
      "Belay needs Node 22.22 or newer, and this is Node 20.19.5: some parts will not work"
    )
    assert.isDefined(oldNode({ node: "22.21.9" }))
  })

  it("is not found in newer versions, in other runtimes and in browsers", () => {
    for (
      const versions of [{ node: "22.22.0" }, { node: "24.0.0" }, { node: "20.0.0", bun: "1.4.5" }, {
        node: "20.0.0",
        deno: "2.9.6"
      }, {}]
    ) {
      assert.isUndefined(oldNode(versions))
    }
    assert.isUndefined(oldNode())
  })
})
