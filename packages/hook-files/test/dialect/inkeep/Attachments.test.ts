import { createAgent } from "@belay/core/createAgent"
import * as Inkeep from "@belay/hook-files/Inkeep"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { project } from "./support.ts"

describe("Inkeep.make", () => {
  // rows: E-07, DEC-06, DEC-07, DEC-10
  it("refuses what cannot be attached, and says why", () => {
    const fine = { hookDefinitionId: "a", scope: project, hookPoint: "before-args" } as const
    const a: Inkeep.Definition = { id: "a", executeCode: "export default () => ({ action: 'proceed' })" }
    const limit = {
      ...a,
      schema: Schema.Struct({ rows: Schema.Finite }) as unknown as NonNullable<Inkeep.Definition["schema"]>
    }
    const cases: ReadonlyArray<readonly [ReadonlyArray<unknown>, ReadonlyArray<unknown>, RegExp]> = [
      [[a], [{ ...fine, hookDefinitionId: "b" }], /attachments\[0\]\.hookDefinitionId: there is no definition "b"/],
      [
        [a],
        [{ ...fine, hookPoint: "before-arg" }],
        /hookPoint: "before-arg" is not known; did you mean "before-args"\?/
      ],
      [[a], [{ ...fine, scope: { _tag: "agent" } }], /scope: expected "project", \{ _tag: "project" \}/],
      [[a], [{ ...fine, scope: "agent" }], /scope: expected/],
      [[a], [{ ...fine, scope: "agent", agentId: "" }], /scope: expected/],
      [[a], [{ ...fine, scope: "project", agentId: "support" }], /scope: expected/],
      [[a], [{ ...fine, agentId: "support" }], /scope: expected/],
      [[{ ...a, schema: { type: "object" } }], [], /definitions\[0\]: expected a schema of Effect in `schema`/],
      [[a], [{ ...fine, scope: null }], /scope: expected/],
      [[a], [{ ...fine, order: "1" }], /order: expected a number/],
      [[a], [{ ...fine, onError: "ignore" }], /onError: expected/],
      [[a], [fine, fine], /name: "a@project" is used twice at before-args/],
      [[a, a], [], /definitions\[1\]: there are two definitions "a"/],
      [[{ id: "a", run: () => 1 }], [], /expected executeCode, a text, or execution: "in-process"/],
      [[{ id: "a", execution: "in-process", executeCode: "x" }], [], /expected a function `run`/],
      [[{ ...a, dependencies: { lodash: "1" } }], [], /needs lodash: add packages with Inkeep.bundle/],
      [[limit], [{ ...fine, config: { rows: "many" } }], /config: does not fit a: .*rows/s]
    ]
    for (const [definitions, attachments, expected] of cases) {
      assert.throws(
        () => Inkeep.make({ definitions: definitions as never, attachments: attachments as never }),
        expected
      )
    }
    Inkeep.make({
      definitions: [limit],
      attachments: [{ ...fine, config: { rows: 2 } }, { ...fine, config: { rows: 3 }, name: "again" }]
    })
  })

  it("takes rows of a database as they are: null is as good as absent", async () => {
    const row = {
      scope: "project",
      agentId: null,
      order: null,
      onError: null,
      name: null,
      config: null,
      sandboxConfig: null,
      writes: null
    } as const
    const definition = { description: null, execution: null, dependencies: null, schema: null, name: null } as const
    const { provider } = scripted([calls(["bash", { command: "ls" }])])
    const { ran, tools } = recording()
    await using agent = createAgent({
      name: "support",
      provider,
      tools,
      hooks: [Inkeep.make({
        definitions: [
          {
            ...definition,
            id: "a",
            executeCode: "export default ({ args }) => ({ action: 'proceed', args: { command: args.command + ' a' } })"
          },
          {
            ...definition,
            id: "b",
            executeCode:
              "export default ({ args, config }) => ({ action: 'proceed', args: { command: args.command + ' b ' + typeof config } })"
          }
        ],
        attachments: [
          { ...row, hookDefinitionId: "b", hookPoint: "before-args", order: 1 },
          { ...row, hookDefinitionId: "a", hookPoint: "before-args" },
          { ...row, hookDefinitionId: "a", hookPoint: "before-args", scope: "agent", agentId: "support" },
          { ...row, hookDefinitionId: "a", hookPoint: "before-args", scope: "agent", agentId: "sales" }
        ]
      })]
    })
    await agent.run("go")
    assert.deepEqual(ran, ["ls a b undefined a"])
  })

  it("says that a default export is expected, where code is of another kind", async () => {
    for (
      const executeCode of [
        "module.exports = async () => ({ action: 'proceed' })",
        "exports.default = () => ({ action: 'proceed' })"
      ]
    ) {
      const { provider } = scripted([calls(["bash", { command: "ls" }])])
      const warnings: Array<string> = []
      await using agent = createAgent({
        provider,
        tools: recording().tools,
        hooks: [Inkeep.make({
          definitions: [{ id: "old", executeCode }],
          attachments: [{ hookDefinitionId: "old", scope: "project", hookPoint: "before-args" }]
        })]
      })
      agent.on((event) => event.type === "warning" ? void warnings.push(event.message) : undefined)
      await agent.run("go")
      assert.match(
        warnings.join("\n"),
        /old@project .*is not defined: expected a default export, export default async \(ctx\)/
      )
    }
  })
})
