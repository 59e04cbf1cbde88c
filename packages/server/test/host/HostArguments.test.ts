/** What callers without types pass to a host. */
import { assert, describe, it } from "vitest"
import { failure, hosted, newFile } from "./support/hosted.ts"

const values: ReadonlyArray<unknown> = [
  undefined,
  null,
  7,
  "x",
  "a b",
  {},
  [],
  { limit: "x" },
  { limit: -1 },
  { status: "dead", limit: undefined },
  { limit: NaN },
  { status: 5 },
  { before: "x" },
  { after: {} },
  { state: null },
  { session: null },
  { principal: {} }
]

describe("the methods of a host", () => {
  it.each(
    [
      "send",
      "decide",
      "cancel",
      "result",
      "status",
      "conversation",
      "list",
      "entries",
      "overview",
      "retry",
      "drop",
      "move",
      "events",
      "advance",
      "erase"
    ] as const
  )("%s fails with an error that says what is wrong, whatever it gets", async (name) => {
    const { close, host } = hosted(newFile())
    const method = host[name] as unknown as (...args: ReadonlyArray<unknown>) => unknown
    // Some of them wait for ever.
    const soon = () => new Promise<void>((resolve) => void setTimeout(resolve, 10))
    const wrong: Array<string> = []
    for (const first of values) {
      for (const second of [undefined, null, "k", {}]) {
        for (const third of [undefined, null]) {
          const act = async (): Promise<unknown> => {
            const given = method(first, second, third)
            if (name !== "events") return given
            const events = (given as AsyncIterable<unknown>)[Symbol.asyncIterator]()
            return events.next().finally(() => void events.return?.())
          }
          await Promise.race([act(), soon()]).catch((error: unknown) => {
            const { _tag, problem } = Object(error) as { readonly _tag?: unknown; readonly problem?: unknown }
            if (_tag !== "HostError" || problem === "store") {
              wrong.push(`${JSON.stringify([first, second, third])}: ${String(error)}`)
            }
          })
        }
      }
    }
    assert.deepStrictEqual(wrong, [])
    await close()
  })

  it("names a session in an error only if the call had one", async () => {
    const { close, host } = hosted(newFile())
    const wrong = [
      host.list({ limit: "x" } as never),
      host.erase({} as never),
      host.status(5 as never, "k"),
      host.status("s", 5 as never)
    ]
    const errors = await Promise.all(wrong.map(failure))
    assert.deepStrictEqual(errors.map(({ problem }) => problem), wrong.map(() => "wrong-input"))
    assert.deepStrictEqual(errors.map((error) => "sessionId" in error && error["sessionId"]), [
      false,
      false,
      false,
      "s"
    ])
    await close()
  })
})
