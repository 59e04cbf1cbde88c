/** The types of Mastra, Strands and pi survive the guard. Compiled, and not run. */
import { Guard } from "@belay/guard"
import * as Guarding from "@belay/guard/Mastra"
import * as Pi from "@belay/guard/Pi"
import * as Strands from "@belay/guard/Strands"
import type { ExtensionAPI, ExtensionFactory } from "@earendil-works/pi-coding-agent"
import { Agent } from "@mastra/core/agent"
import { ModelRouterLanguageModel } from "@mastra/core/llm"
import { createTool } from "@mastra/core/tools"
import * as sdk from "@strands-agents/sdk"
import { expectTypeOf } from "vitest"
import { z } from "zod"

const guard = Guard.make()

// Mastra
const guarded = Guarding.make(guard)
const send = createTool({
  id: "send",
  description: "Sends",
  inputSchema: z.object({ to: z.string() }),
  outputSchema: z.object({ sent: z.boolean() }),
  execute: async () => await Promise.resolve({ sent: true })
})
const tools = { send }
const model = new ModelRouterLanguageModel("openai/gpt-5")
const parts = { id: "lead", name: "lead", instructions: "be", model, tools }
const config = guarded.config(parts)
expectTypeOf(config).toEqualTypeOf<typeof parts>()
expectTypeOf(guarded.tools(tools)).toEqualTypeOf<typeof tools>()
expectTypeOf(new Agent(config)).toEqualTypeOf(new Agent(parts))
// @ts-expect-error there is no tool of this name
void config.tools.other
// @ts-expect-error an agent needs instructions
export const bad = new Agent(guarded.config({ id: "lead", name: "lead", model }))
// @ts-expect-error there is no such option
Guarding.make(guard, { approvers: "ada" })

// Strands
const plugin = Strands.make(guard).plugin(sdk)
expectTypeOf(plugin).toExtend<sdk.Plugin>()
export const agent = new sdk.Agent({ plugins: [plugin] })
// @ts-expect-error the module of the SDK has more classes
Strands.make(guard).plugin({ TextBlock: sdk.TextBlock })

// pi
const extension = Pi.make(guard)
expectTypeOf(extension).toExtend<ExtensionFactory>()
export const load = (pi: ExtensionAPI) => extension(pi)
// @ts-expect-error each conversation of pi has an id already
Pi.make(guard, { id: "s" })
