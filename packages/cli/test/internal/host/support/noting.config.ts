/** A config file with a host that notes its calls and answers what a test wants. */
import * as Awaitable from "@belay/core/Awaitable"
import * as Effect from "effect/Effect"

/** The calls so far, as text. */
export const calls: Array<string> = []

/** What each method answers next, or a function that makes it. An error is what it fails with. */
export const answers: { [method: string]: unknown } = {}

const method = (name: string) => (...args: ReadonlyArray<unknown>) =>
  Awaitable.make(Effect.suspend(() => {
    calls.push(`${name} ${args.map((arg) => JSON.stringify(arg) ?? "nothing").join(" ")}`)
    const given = answers[name]
    const answer: unknown = typeof given === "function" ? given() : given
    return answer instanceof Error ? Effect.fail(answer) : Effect.succeed(answer)
  }))

const names = [
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
  "erase",
  "events",
  "activity",
  "start"
]

/** What `start` can answer. */
export const running = { drain: method("drain") }

export default { ...Object.fromEntries(names.map((name) => [name, method(name)])), running: () => [] }
