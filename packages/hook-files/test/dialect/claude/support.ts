/** A hook of settings files whose commands are answered by the test. */
import * as HookChain from "@belay/core/HookChain"
import type { In } from "@belay/core/HookPoint"
import type { Json } from "@belay/core/Json"
import * as ClaudeCode from "@belay/hook-files/ClaudeCode"
import type * as Command from "@belay/hook-files/Command"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as TestScope from "@belay/testing/TestScope"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call } from "../../../../../test/support/events.ts"

type Entry = { readonly command: string; readonly [key: string]: unknown }

export const group = (hooks: ReadonlyArray<Entry>, matcher?: string) => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: hooks.map((one) => ({ type: "command", ...one }))
})

const decoded = (events: { readonly [event: string]: ReadonlyArray<object> }) => {
  const { handlers, warnings } = HookConfig.decode(JSON.stringify({ hooks: events }), "settings.json")
  assert.deepEqual(warnings.filter(({ key }) => !key.endsWith(".if")), [])
  return handlers
}

export const answer = (stdout: unknown = "", exitCode = 0, stderr = ""): Command.Finished => ({
  exitCode,
  stdout: typeof stdout === "string" ? stdout : JSON.stringify(stdout),
  stderr,
  timedOut: false,
  overflowed: false,
  durationMs: 1
})

/** A hook whose commands the test answers, and what the commands read. */
export const world = (
  events: { readonly [event: string]: ReadonlyArray<object> },
  answers: { readonly [command: string]: Command.Finished | Effect.Effect<Command.Finished> } = {},
  options: Partial<ClaudeCode.Options> = {}
) => {
  const told: Array<
    { readonly command: string; readonly input: { readonly [key: string]: Json }; readonly request: Command.Request }
  > = []
  const heard = { injected: [] as Array<string>, users: [] as Array<string>, follow: [] as Array<string> }
  const run: Command.Runner = (request) =>
    Effect.suspend(() => {
      told.push({ command: request.command, input: JSON.parse(request.input), request })
      const found = answers[request.command] ?? answer()
      return Effect.isEffect(found) ? found : Effect.succeed(found)
    })
  const hook = ClaudeCode.make({ handlers: decoded(events), projectDir: "/p", home: "/h", run, ...options })
  const chain = HookChain.makeUnsafe([hook])
  const scope = TestScope.make({
    cwd: "/p",
    inject: (text) => void heard.injected.push(text),
    notifyUser: (message) => void heard.users.push(message),
    followUp: (message) => void heard.follow.push(message)
  })
  type Action = {
    readonly _tag: string
    readonly reason?: string
    readonly value?: unknown
    readonly userMessage?: string
  }
  const at = <P extends Parameters<typeof chain.run>[0]>(point: P, event: In<P>, of = scope) =>
    Effect.map(chain.run(point, event as never, of), ({ action, event: changed, failure }) => {
      assert.isUndefined(failure, JSON.stringify(failure))
      return { ...action as Action, event: changed as unknown as { readonly [key: string]: unknown } }
    })
  return { told, heard, scope, at, hook, bash: (command: string) => at("preToolCall", call("bash", { command })) }
}

export const specific = (hookEventName: string, fields: object) => ({
  hookSpecificOutput: { hookEventName, ...fields }
})

export const result = (name: string, args: Json, output: Json) => ({
  call: { id: "call-1", name, args },
  tool: call(name).tool,
  result: { ok: true as const, output },
  elapsedMs: 7,
  executed: true
})
