import * as Inkeep from "@belay/hooks/Inkeep"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { project } from "./inkeepworld.ts"

describe("Inkeep.make", () => {
  it("E-07 DEC-06 DEC-07 DEC-10 refuses what cannot be attached, and says why", () => {
    const fine = { hookDefinitionId: "a", scope: project, hookPoint: "before-args" } as const
    const a: Inkeep.Definition = { id: "a", executeCode: "export default () => ({ action: 'proceed' })" }
    const limit = { ...a, schema: Schema.Struct({ rows: Schema.Finite }) as unknown as NonNullable<Inkeep.Definition["schema"]> }
    const cases: ReadonlyArray<readonly [ReadonlyArray<unknown>, ReadonlyArray<unknown>, RegExp]> = [
      [[a], [{ ...fine, hookDefinitionId: "b" }], /attachments\[0\]\.hookDefinitionId: there is no definition "b"/],
      [[a], [{ ...fine, hookPoint: "before-arg" }], /hookPoint: "before-arg" is not known; did you mean "before-args"\?/],
      [[a], [{ ...fine, scope: { _tag: "agent" } }], /scope: expected \{ _tag: "project" \}/],
      [[a], [{ ...fine, scope: "project" }], /scope: expected/],
      [[a], [{ ...fine, order: "1" }], /order: expected a number/],
      [[a], [{ ...fine, onError: "ignore" }], /onError: expected/],
      [[a], [fine, fine], /name: "a@project" is there twice at before-args/],
      [[a, a], [], /definitions\[1\]: there are two definitions "a"/],
      [[{ id: "a", run: () => 1 }], [], /expected executeCode, a text, or execution: "in-process"/],
      [[{ id: "a", execution: "in-process", executeCode: "x" }], [], /expected a function `run`/],
      [[{ ...a, dependencies: { lodash: "1" } }], [], /no packages in the sandbox/],
      [[limit], [{ ...fine, config: { rows: "many" } }], /config: does not fit a: .*rows/s]
    ]
    for (const [definitions, attachments, expected] of cases) {
      assert.throws(() => Inkeep.make({ definitions: definitions as never, attachments: attachments as never }), expected)
    }
    Inkeep.make({ definitions: [limit], attachments: [{ ...fine, config: { rows: 2 } }, { ...fine, config: { rows: 3 }, name: "again" }] })
  })
})
