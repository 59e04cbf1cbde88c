import type { AgentHook } from "@belay/core/AgentHook"
import type { Json } from "@belay/core/Json"
import * as BaseCoat from "@belay/hook-files/BaseCoat"
import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
import * as Codex from "@belay/hook-files/Codex"
import type { Finished } from "@belay/hook-files/Command"
import * as Copilot from "@belay/hook-files/Copilot"
import * as Cursor from "@belay/hook-files/Cursor"
import * as Gemini from "@belay/hook-files/Gemini"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as Inkeep from "@belay/hook-files/Inkeep"
import * as Kodelet from "@belay/hook-files/Kodelet"
import type { Runners } from "@belay/hook-files/Runners"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call } from "../../../test/support/events.ts"
import { answer } from "./dialect/claude/support.ts"
import { answered } from "./support/runners.ts"

/** How an entry ends: as a process, or as code that returns or fails. */
interface Reply {
  readonly finished: Finished
  /** Absent where code cannot do that. */
  readonly code?: () => unknown
}

interface Options {
  readonly onBroken?: "continue" | "block"
  readonly refuse?: () => string | undefined
}

/** One system: a hook with entries named `one` and `two` before a call of a tool, and how its entries answer. */
interface System {
  readonly make: (replies: ReadonlyArray<Reply>, options: Options, runners: Runners) => AgentHook
  readonly allow: Json
  readonly deny: Json
  readonly rewrite: Json
}

const names = ["one", "two"]
const specific = (fields: object) => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } }) as Json
const projectDir = "/p"
const commands = (replies: ReadonlyArray<Reply>) => names.slice(0, replies.length)

const systems: { readonly [name: string]: System } = {
  claude: {
    make: (replies, options, runners) => {
      const hooks = commands(replies).map((command) => ({ type: "command", command }))
      const { handlers } = HookConfig.decode(JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }), "s.json")
      return ClaudeCode.make({ handlers, projectDir, runners, ...options })
    },
    allow: specific({ permissionDecision: "allow" }),
    deny: specific({ permissionDecision: "deny", permissionDecisionReason: "never" }),
    rewrite: specific({ updatedInput: { command: "pwd" } })
  },
  codex: {
    make: (replies, options, runners) => {
      const hooks = commands(replies).map((command) => ({ type: "command", command }))
      const { handlers } = Codex.decode(JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }), "hooks.json")
      // Each line runs in the user's login shell: the test sees the line itself.
      const lines: Runners = (task, ctx) => {
        const { work } = task
        const command = work.type === "command" ? work.args?.at(-1) ?? "" : ""
        return runners({ ...task, work: { type: "command", command } }, ctx)
      }
      return Codex.make({ handlers, projectDir, runners: lines, ...options })
    },
    allow: {},
    deny: specific({ permissionDecision: "deny", permissionDecisionReason: "never" }),
    rewrite: specific({ permissionDecision: "allow", updatedInput: { command: "pwd" } })
  },
  copilot: {
    make: (replies, options, runners) => {
      const preToolUse = commands(replies).map((bash) => ({ bash }))
      const { handlers } = Copilot.decode(JSON.stringify({ version: 1, hooks: { preToolUse } }), "hooks.json")
      return Copilot.make({ handlers, projectDir, runners, ...options })
    },
    allow: { permissionDecision: "allow" },
    deny: { permissionDecision: "deny", permissionDecisionReason: "never" },
    rewrite: { modifiedArgs: { command: "pwd" } }
  },
  gemini: {
    make: (replies, options, runners) => {
      const hooks = commands(replies).map((command) => ({ type: "command", command }))
      const { handlers } = Gemini.decode(JSON.stringify({ hooks: { BeforeTool: [{ hooks }] } }), "settings.json")
      return Gemini.make({ handlers, projectDir, runners, ...options })
    },
    allow: { decision: "allow" },
    deny: { decision: "deny", reason: "never" },
    rewrite: { hookSpecificOutput: { tool_input: { command: "pwd" } } }
  },
  cursor: {
    make: (replies, options, runners) => {
      const preToolUse = commands(replies).map((command) => ({ command }))
      const { handlers } = Cursor.decode(JSON.stringify({ version: 1, hooks: { preToolUse } }), "hooks.json")
      return Cursor.make({ handlers, projectDir, runners, ...options })
    },
    allow: { permission: "allow" },
    deny: { permission: "deny", agent_message: "never" },
    rewrite: { updated_input: { command: "pwd" } }
  },
  kodelet: {
    make: (replies, options, runners) => {
      const handlers = commands(replies).map((key): Kodelet.Handler => ({
        event: "run",
        file: key,
        key,
        ofProject: false,
        work: { type: "command", command: key, args: ["run"] }
      }))
      const typed: Runners = (task, ctx) =>
        task.work.type === "command" && task.work.args?.[0] === "hook"
          ? Effect.succeed(answer("before_tool_call\n"))
          : runners(task, ctx)
      return Kodelet.make({ handlers, projectDir, runners: typed, ...options })
    },
    allow: { blocked: false },
    deny: { blocked: true, reason: "never" },
    rewrite: { blocked: false, input: { command: "pwd" } }
  },
  basecoat: {
    make: (replies, options, runners) => {
      const PreToolUse = commands(replies).map((command) => ({ command }))
      const { handlers } = BaseCoat.decode(JSON.stringify({ version: 1, hooks: { PreToolUse } }), "hooks.json")
      return BaseCoat.make({ handlers, projectDir, runners, ...options })
    },
    allow: { action: "passThrough" },
    deny: { action: "block", reason: "never" },
    rewrite: { action: "modify", modifiedInput: { command: "pwd" } }
  },
  inkeep: {
    make: (replies, { onBroken }) =>
      Inkeep.make({
        definitions: replies.map(({ code }, index) => ({ id: names[index]!, execution: "in-process", run: code! })),
        attachments: replies.map((_, index) => ({
          hookDefinitionId: names[index]!,
          scope: "project",
          hookPoint: "before-args",
          order: index,
          onError: onBroken === "block" ? "abort" : "proceed",
          sandboxConfig: { timeoutMs: 20 }
        }))
      }),
    allow: { action: "proceed" },
    deny: { action: "abort", reason: "never" },
    rewrite: { action: "proceed", args: { command: "pwd" } }
  }
}

const fails = (message: string) => () => Promise.reject(new Error(message))
const says = (value: Json): Reply => ({ finished: answer(value), code: () => value })
const missing: Reply = { finished: answer("", 127, "guard.sh: not found"), code: fails("not found") }
const late: Reply = {
  finished: { ...answer(), exitCode: undefined, timedOut: true },
  code: () => new Promise(() => {})
}

/** What becomes of the call: it runs, as it is or with other arguments, is refused, or a person decides. */
type Outcome = "runs" | "runs with pwd" | "asks" | RegExp

interface Expected {
  readonly outcome: Outcome
  /** What the developer reads; absent where that is nothing. */
  readonly warning?: RegExp
}

interface Law {
  readonly title: string
  readonly replies: (system: System) => ReadonlyArray<Reply>
  readonly options?: Options
  /** What happens in most systems, and in those that differ. */
  readonly most: Expected
  readonly others?: { readonly [system: string]: Expected }
}

const runs = { outcome: "runs" } as const

const laws: ReadonlyArray<Law> = [
  {
    title: "an entry that cannot be started is a warning",
    replies: () => [missing],
    most: { outcome: "runs", warning: /not found/ },
    others: {
      // Copilot denies with every code but 0, and Gemini CLI with every text behind another code than 0 and 1.
      copilot: { outcome: /hook errored\): guard\.sh: not found/, warning: /ended with 127/ },
      gemini: { outcome: /guard\.sh: not found/ }
    }
  },
  {
    title: "an entry that cannot be started blocks where the host wants that",
    replies: () => [missing],
    options: { onBroken: "block" },
    most: { outcome: /a hook broke: it ended with 127/, warning: /ended with 127/ },
    others: {
      copilot: { outcome: /hook errored\)/, warning: /ended with 127/ },
      gemini: { outcome: /guard\.sh: not found/ },
      inkeep: { outcome: /broke: not found/, warning: /not found/ }
    }
  },
  {
    title: "a text is no answer",
    replies: () => [{ finished: answer("all is well\n"), code: () => "all is well" }],
    most: runs,
    others: {
      cursor: { outcome: "runs", warning: /not JSON/ },
      kodelet: { outcome: "runs", warning: /not JSON/ },
      basecoat: { outcome: "runs", warning: /not JSON/ },
      inkeep: { outcome: "runs", warning: /expected \{ action/ }
    }
  },
  {
    title: "an entry that takes too long is a warning",
    replies: () => [late],
    most: { outcome: "runs", warning: /too long|longer than/ }
  },
  {
    title: "an entry that says nothing decides nothing",
    replies: () => [{ finished: answer(), code: () => undefined }],
    most: runs,
    // Stored code has to return an action.
    others: { inkeep: { outcome: "runs", warning: /found nothing/ } }
  },
  {
    title: "of two that disagree the one that denies decides",
    replies: ({ allow, deny }) => [says(allow), says(deny)],
    most: { outcome: /never/ }
  },
  {
    title: "of two that disagree the one that denies decides, whichever is first",
    replies: ({ allow, deny }) => [says(deny), says(allow)],
    most: { outcome: /never/ }
  },
  {
    title: "an entry changes the arguments",
    replies: ({ rewrite }) => [says(rewrite)],
    most: { outcome: "runs with pwd" }
  },
  {
    title: "an answer of bytes that are no text decides nothing",
    replies: () => [{ finished: answer("\u0000\uFFFD{\u0001\uFFFD\uFFFD"), code: () => new Uint8Array([0, 255]) }],
    most: runs,
    others: {
      cursor: { outcome: "runs", warning: /not JSON/ },
      kodelet: { outcome: "runs", warning: /not JSON/ },
      basecoat: { outcome: "runs", warning: /not JSON/ },
      inkeep: { outcome: "runs", warning: /expected \{ action/ }
    }
  },
  {
    title: "of an entry that may not run a person decides",
    replies: ({ deny }) => [says(deny)],
    options: { refuse: () => "nobody trusts it" },
    most: { outcome: "asks", warning: /was not run: nobody trusts it/ },
    others: {
      kodelet: { outcome: "asks", warning: /was not asked for its event: nobody trusts it/ },
      // Stored code belongs to the host, and is never refused.
      inkeep: { outcome: /never/ }
    }
  }
]

const outcomeOf = (action: { readonly _tag: string; readonly reason?: string }, command: string): string => {
  if (action._tag === "Ask") return "asks"
  if (action._tag === "Continue" || action._tag === "Transform") {
    return command === "ls"
      ? "runs"
      : `runs with ${command}`
  }
  return `${action._tag}: ${action.reason}`
}

describe("every dialect", () => {
  for (const { most, options = {}, others = {}, replies, title } of laws) {
    for (const [name, system] of Object.entries(systems)) {
      it.live(`${name}: ${title}`, () =>
        Effect.gen(function*() {
          const all = replies(system)
          const answers = Object.fromEntries(all.map(({ finished }, index) => [names[index]!, finished]))
          const world = answered((runners) => system.make(all, options, runners), answers)
          const tool = name === "gemini" ? "run_shell_command" : "bash"
          const { event, ...action } = yield* world.at("preToolCall", call(tool, { command: "ls" }))
          const args = event["args"]
          const command = typeof args === "object" && args !== null && "command" in args ? args.command : ""
          const { outcome, warning } = others[name] ?? most
          const found = outcomeOf(action, typeof command === "string" ? command : "")
          if (outcome instanceof RegExp) assert.match(found, outcome)
          else assert.strictEqual(found, outcome)
          if (warning === undefined) assert.deepEqual(world.scope.warnings, [])
          else assert.match(world.scope.warnings.join("\n"), warning)
        }))
    }
  }
})
