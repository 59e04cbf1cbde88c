/** How the files of a project differ from those that a person trusted. */
import { assert, describe, it } from "vitest"
import { between } from "../../../src/trust/internal/changes.ts"

const [one, two] = ["a".repeat(64), "b".repeat(64)]
type File = { readonly state: string; readonly real?: string; readonly text?: string }

/** The change of a settings file, whose texts are kept. */
const change = (was: File | undefined, is: File | undefined) =>
  between(
    was === undefined ? {} : { claude: { "/p/a": was } },
    new Map([[
      "claude",
      new Map(is === undefined ? [] : [["/p/a", { real: "/p/a", isSource: true as const, ...is }]])
    ]]),
    () => "now"
  )

describe("a file of a trusted project", () => {
  it.for<readonly [string, File | undefined, File | undefined, object | undefined]>([
    ["is the same", { state: `644 ${one}`, text: "then" }, { state: `644 ${one}` }, undefined],
    ["did not exist and does not exist", { state: "absent" }, { state: "absent" }, undefined],
    ["is new", undefined, { state: `644 ${one}` }, { kind: "new", after: "now" }],
    ["did not exist", { state: "absent" }, { state: `644 ${one}` }, { kind: "new", after: "now" }],
    ["is gone", { state: `644 ${one}`, text: "then" }, undefined, { kind: "removed", before: "then" }],
    ["is gone, and its text was not kept", { state: `644 ${one}` }, undefined, { kind: "removed" }],
    ["has another text", { state: `644 ${one}`, text: "then" }, { state: `644 ${two}` }, {
      kind: "changed",
      before: "then",
      after: "now"
    }],
    ["has other bits", { state: `644 ${one}` }, { state: `755 ${one}` }, { kind: "mode", after: "now" }],
    ["leads to another file", { state: `644 ${one}`, real: "/q" }, { state: `644 ${one}` }, {
      kind: "link",
      after: "now"
    }]
  ])("that %s", ([, was, is, expected]) => {
    assert.deepEqual(change(was, is), expected === undefined ? [] : [{ path: "/p/a", ...expected } as never])
  })

  it("is listed in the order of the paths, whatever system it belongs to", () => {
    const found = between(
      { codex: { "/p/c": { state: `644 ${one}` } }, claude: { "/p/a": { state: `644 ${one}` } } },
      new Map([["gemini", new Map([["/p/b", { real: "/p/b", state: `644 ${one}` }]])]]),
      () => undefined
    )
    assert.deepEqual(found.map(({ kind, path }) => `${kind} ${path}`), ["removed /p/a", "new /p/b", "removed /p/c"])
  })
})
