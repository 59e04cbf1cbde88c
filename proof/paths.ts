/**
 * The paths on which guards have been seen not to run. On each, the guard denies the tool `leak` and asks a person about
 * `mail`. A path holds if nothing has happened that the guard did not allow.
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { type Driver, type Setup, type Step } from "./driver.ts"

/** The name of a tool without that of the server which has it. */
const plain = (name: string): string => name.replace(/^mcp__[a-z]+__/, "")

/** The guard of most paths. */
const guard: ReadonlyArray<AgentHook> = [defineHook({
  name: "guard",
  kind: "policy",
  preToolCall: ({ args, name: given }) => {
    const name = plain(given)
    if (name === "leak" || Object(args)["to"] === "eve") return HookAction.reject("not allowed")
    return name === "mail" ? HookAction.ask("a person decides about mails") : undefined
  }
})]

/** A path: a program that returns what it has to happen, and what has happened. */
export interface Path {
  readonly name: string
  /** Whether the mechanism of an SDK can be asked to do the same. */
  readonly forOwn: boolean
  readonly run: (
    driver: Driver,
    own: boolean
  ) => Promise<{ readonly expected: ReadonlyArray<string>; readonly ran: Array<string> }>
}

type Parts = Omit<Setup, "guard" | "ran" | "script"> & { readonly hooks?: ReadonlyArray<AgentHook> }

/** The tool `helper` has a text as its only argument. Its name depends on the SDK. */
const task = { message: "help", input: "help" }
const calls = (...names: ReadonlyArray<"leak" | "read" | "helper">): Step => ({
  calls: names.map((name) => name === "helper" ? { name, args: task } : { name })
})
const mail = (to: string, id = "m1"): Step => ({ calls: [{ name: "mail", args: { to }, id }] })
const end: Step = { says: "done" }

const path = (
  name: string,
  script: ReadonlyArray<Step>,
  expected: ReadonlyArray<string>,
  { forOwn = true, hooks = guard, next, ...parts }: Parts & {
    readonly forOwn?: boolean
    readonly next?: (conversation: ReturnType<Driver["start"]>, asked: ReadonlyArray<string>) => Promise<unknown>
  } = {}
): Path => ({
  name,
  forOwn,
  run: async (driver, own) => {
    const ran: Array<string> = []
    const conversation = driver.start({ ...parts, script, guard: own ? "own" : hooks, ran })
    // A guard may end a turn with an error. What counts is what has happened.
    const asked = await conversation.send("go").catch((error: unknown) => {
      if (error instanceof Error && error.constructor.name === "Absent") throw error
      return []
    })
    await next?.(conversation, asked)
    return { expected, ran }
  }
})

/** All paths. */
export const paths: ReadonlyArray<Path> = [
  path("first call", [calls("leak"), end], []),
  path("parallel calls", [calls("read", "leak", "read"), end], ["read", "read"]),
  path("later step", [calls("read"), calls("leak"), end], ["read"]),
  path("streamed", [calls("leak"), end], [], { stream: true }),
  path("after a failed model call", [{ fails: true }, calls("leak"), end], []),
  path("sub-agent", [calls("helper"), end], ["read"], { helpers: [[calls("read", "leak"), end]] }),
  path("sub-agent of a sub-agent", [calls("helper"), end], ["read"], {
    helpers: [[calls("helper"), end], [calls("read", "leak"), end]]
  }),
  path("handoff", [calls("helper"), end], ["read"], {
    handsOver: true,
    helpers: [[calls("read"), calls("leak"), end]]
  }),
  path("the handoff itself", [calls("helper"), end], [], {
    forOwn: false,
    handsOver: true,
    helpers: [[calls("read"), end]],
    hooks: [defineHook({ name: "keeps", kind: "policy", preDelegation: () => HookAction.reject("stay here") })]
  }),
  path("a question nobody answers", [mail("ann"), end], []),
  path("an approved question", [mail("ann"), end], ["mail ann"], { next: (one) => one.approve() }),
  path("approved, after a restart", [mail("ann"), end], ["mail ann"], {
    store: SessionStore.inMemory(),
    next: (one) => one.approve({ elsewhere: true })
  }),
  path("after a restart, nobody was asked", [mail("ann"), end], [], {
    forOwn: false,
    next: (one) => one.approve({ elsewhere: true })
  }),
  path("approved, but the stored call was changed", [mail("ann"), end], [], {
    next: (one) => one.approve({ to: "eve" })
  }),
  path("one approval, and then another call", [mail("ann"), mail("ann", "m2"), end], ["mail ann"], {
    next: (one) => one.approve()
  }),
  path("one approval, and then another call with its id", [mail("ann"), mail("bob"), end], ["mail ann"], {
    next: (one) => one.approve()
  }),
  path("a question in a sub-agent that nobody answers", [calls("helper"), end], ["read"], {
    helpers: [[calls("read"), mail("ann"), end]]
  }),
  path("a limit over parallel calls", [calls("read", "read", "read"), end], ["read", "read"], {
    forOwn: false,
    hooks: [limit(2)]
  }),
  path("a limit over steps and agents", [calls("read"), calls("helper"), calls("read"), end], ["read", "read"], {
    forOwn: false,
    helpers: [[calls("read"), calls("read"), end]],
    hooks: [limit(2)]
  }),
  path("a guard that throws", [calls("leak"), end], [], {
    forOwn: false,
    hooks: [defineHook({
      name: "throws",
      kind: "policy",
      preToolCall: () => {
        throw new Error("the guard is broken")
      }
    })]
  }),
  path("a guard that hangs", [calls("leak"), end], [], {
    forOwn: false,
    hooks: [defineHook({ name: "hangs", kind: "policy", timeout: 50, preToolCall: () => new Promise(() => {}) })]
  }),
  path("a cancelled turn", [calls("leak"), end], [], {
    forOwn: false,
    cancelAfterMs: 20,
    hooks: [defineHook({
      name: "slow",
      kind: "policy",
      preToolCall: async () => {
        await new Promise((done) => setTimeout(done, 60))
      }
    })],
    next: () => new Promise((done) => setTimeout(done, 120))
  }),
  path("a message that is refused", [calls("leak"), end], [], {
    forOwn: false,
    hooks: [defineHook({ name: "doorman", kind: "policy", preTurn: () => HookAction.reject("not here") })]
  }),
  path("an answer that is refused", [calls("leak"), end], [], {
    forOwn: false,
    hooks: [defineHook({ name: "reader", kind: "policy", postLlmCall: () => HookAction.reject("not this") })]
  })
]

/** Allows so many reads in a conversation, of all its agents. */
function limit(max: number): AgentHook {
  return defineHook({
    name: "limit",
    kind: "policy",
    preToolCall: ({ name }, { state }) =>
      plain(name) === "read" && Number(state.update("reads", (n) => Number(n ?? 0) + 1)) > max
        ? HookAction.reject("no more")
        : undefined
  })
}
