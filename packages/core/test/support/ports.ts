/** A memory and a policy that log when they are asked. */
import * as Effect from "effect/Effect"
import type { MemoryPlugin } from "../../src/port/MemoryPlugin.ts"
import type { RuntimePolicy } from "../../src/port/RuntimePolicy.ts"

export const memoryOf = (log: Array<string>): MemoryPlugin => ({
  preTurnContext: (input) =>
    Effect.sync(() => {
      log.push("memory.preTurnContext")
      return [{ role: "user", content: `recalled for ${input.message}`, source: "memory" }]
    }),
  postTurnObserve: (_input, output) => Effect.sync(() => void log.push(`memory.postTurnObserve ${output.text}`))
})

export const policyOf = (log: Array<string>): RuntimePolicy => ({
  check: () => {
    log.push("policy")
    return { type: "allow", grant: { sandbox: "workspace", timeoutMs: 1_000, limits: { net: false } } }
  }
})
