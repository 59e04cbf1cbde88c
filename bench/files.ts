/** What hooks of files cost: those that do not fit, a process against a bare spawn, and many processes at once. */
import * as HookChain from "@belay/core/HookChain"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
import * as Command from "@belay/hook-files/Command"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { measure, table } from "./measure.ts"
import { scope } from "./scope.ts"

const call: PreToolCallEvent = {
  id: "call-1",
  name: "bash",
  args: { command: "npm run build --workspace web && git status" },
  tool: { name: "bash", description: "", inputSchema: {} },
  grant: { sandbox: "none" }
}

let spawned = 0
const counting: Command.Runner = () => {
  spawned++
  return Effect.succeed({ exitCode: 0, stdout: "", stderr: "", timedOut: false, overflowed: false, durationMs: 0 })
}

const chainOf = (groups: ReadonlyArray<object>) => {
  const { handlers } = HookConfig.decode(JSON.stringify({ hooks: { PreToolUse: groups } }), "settings.json")
  return HookChain.makeUnsafe([ClaudeCode.make({ handlers, projectDir: "/srv/app", run: counting })])
}

const entry = (more: object = {}) => ({ type: "command", command: "./guard.sh", ...more })

const skipping = async (): Promise<string> => {
  const touch = HookChain.makeUnsafe([{ name: "touch", preToolCall: ({ name }) => void (name === "" && spawned++) }])
  const chains = [
    ["a hook that does nothing", touch],
    ["1 entry, other tool", chainOf([{ matcher: "Write", hooks: [entry()] }])],
    [
      "50 entries, other tools",
      chainOf(Array.from({ length: 50 }, (_, i) => ({ matcher: `Tool${i}|mcp__.*`, hooks: [entry()] })))
    ],
    [
      "1 entry, this tool, `if` that does not hold",
      chainOf([{ matcher: "Bash", hooks: [entry({ if: "Bash(git push *)" })] }])
    ]
  ] as const
  const figures = await measure(
    chains.map(([name, chain]) => ({
      name,
      run: (times) => {
        for (let i = 0; i < times; i++) chain.runNow("preToolCall", call, scope)
      }
    })),
    20_000
  )
  if (spawned > 0) throw new Error("something was started")
  return table("Entries that do not fit (nothing is started)", figures)
}

const line = "cat > /dev/null; exit 0"
const input = `${JSON.stringify({ hook_event_name: "PreToolUse", tool_input: call.args })}\n`

const bare = () =>
  new Promise<void>((resolve) => {
    const child = spawn("/bin/bash", ["-c", line], { stdio: ["pipe", "pipe", "pipe"] })
    child.stdout.resume()
    child.stderr.resume()
    child.once("close", () => resolve())
    child.stdin.end(input)
  })

const ours = () => Effect.runPromise(Command.run({ command: line, cwd: "/", input, timeoutMs: 30_000 }))

const starting = async (): Promise<string> => {
  const repeat = (act: () => Promise<unknown>) => async (times: number) => {
    for (let i = 0; i < times; i++) await act()
  }
  const figures = await measure(
    [{ name: "child_process.spawn", run: repeat(bare) }, { name: "Command.run", run: repeat(ours) }],
    10,
    9
  )
  return table("One process, from start to end", figures)
}

const many = async (): Promise<string> => {
  const groups = Array.from({ length: 50 }, (_, i) => ({ hooks: [entry({ command: `${line} # ${i}` })] }))
  const { handlers } = HookConfig.decode(JSON.stringify({ hooks: { PreToolUse: groups } }), "settings.json")
  const chain = (concurrency: number) =>
    HookChain.makeUnsafe([ClaudeCode.make({ handlers, projectDir: "/", concurrency })])
  const here = { ...scope, cwd: "/", contexts: [] }
  const contender = (name: string, concurrency: number) => {
    const made = chain(concurrency)
    return {
      name,
      run: async (times: number) => {
        for (let i = 0; i < times; i++) await Effect.runPromise(made.run("preToolCall", call, here))
      }
    }
  }
  const all = async (times: number) => {
    for (let i = 0; i < times; i++) await Promise.all(Array.from({ length: 50 }, bare))
  }
  const figures = await measure(
    [
      { name: "50 bare spawns, all at once", run: all },
      contender("50 entries, 10 at once (default)", 10),
      contender("50 entries, 50 at once", 50),
      contender("50 entries, one by one", 1)
    ],
    1,
    5
  )
  return table("50 entries that fit one event", figures)
}

/** Runs the part. */
export const files = async (): Promise<string> => [await skipping(), await starting(), await many()].join("\n")
