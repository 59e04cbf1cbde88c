/** Settings files with ten thousand entries. */
import * as HookConfig from "@belay/hook-files/HookConfig"
import { assert, describe, it } from "@effect/vitest"
import { cpuMs } from "../../../../../test/support/cpu.ts"

const count = 10_000

const fileOf = (group: (index: number) => object): string =>
  JSON.stringify({ hooks: { PreToolUse: Array.from({ length: count }, (_, index) => group(index)) } })

/** The least CPU time of several runs, in milliseconds. */
const leastMs = (run: () => unknown): number =>
  Math.min(...Array.from({ length: 5 }, () => {
    const start = cpuMs()
    run()
    return cpuMs() - start
  }))

describe("a settings file with ten thousand entries", () => {
  for (
    const [what, group] of [
      ["one matcher", () => ({ matcher: "Bash", hooks: [{ type: "command", command: "./check.sh" }] })],
      [
        "a pattern for each",
        (index) => ({ matcher: `^Tool_${index}.*(a|b)$`, hooks: [{ type: "command", command: `./check-${index}.sh` }] })
      ],
      [
        "a condition for each",
        (index) => ({ hooks: [{ type: "command", command: "./check.sh", if: `Bash(git push ${index} *)` }] })
      ]
    ] as ReadonlyArray<readonly [string, (index: number) => object]>
  ) {
    it(`with ${what} is read in at most 12 times the time in which its JSON is read and written`, () => {
      const text = fileOf(group)
      const { handlers, warnings } = HookConfig.decode(text, "settings.json")
      assert.deepEqual([handlers.length, warnings], [count, []])
      const json = leastMs(() => JSON.stringify(JSON.parse(text)))
      const read = leastMs(() => HookConfig.decode(text, "settings.json"))
      assert.isAtMost(read, 12 * json, `${read} ms and ${json} ms`)
    })
  }

  it("finds the same with patterns that are compiled when they are needed", () => {
    for (
      const [pattern, yes, no] of [
        ["Edit.*", "NotebookEdit", "Read"],
        ["^mcp__(a|b)__\\w+$", "mcp__b__get", "mcp__c__get"],
        ["^(Write|Edit)$|x?y+", "xy", "Writer"]
      ] as const
    ) {
      const { handlers: [handler] } = HookConfig.decode(
        JSON.stringify({ hooks: { PreToolUse: [{ matcher: pattern, hooks: [{ type: "command", command: "x" }] }] } }),
        "settings.json"
      )
      assert.deepEqual([yes, no].map((name) => handler!.matcher.test(name)), [true, false], pattern)
    }
    const { warnings } = HookConfig.decode(
      JSON.stringify({
        hooks: {
          PreToolUse: ["(", "a(?=b)"].map((matcher) => ({ matcher, hooks: [{ type: "command", command: "x" }] }))
        }
      }),
      "settings.json"
    )
    assert.deepEqual(warnings.map(({ reason }) => reason.replace(/^.*?(?=matches)/, "")), [
      "matches nothing",
      "matches everything"
    ])
  })
})
