/** The types of the AI SDK survive the guard. */
import { Output, streamText, tool, ToolLoopAgent } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { expectTypeOf } from "vitest"
import * as z from "zod"
import * as AiSdk from "../src/AiSdk.ts"
import * as Guard from "../src/Guard.ts"

const guarded = AiSdk.make(Guard.make())
const model = new MockLanguageModelV4()
const tools = guarded.tools({
  act: tool({ inputSchema: z.object({ to: z.string() }), execute: ({ to }) => ({ sent: to }) })
})

// A tool keeps its input and its output.
expectTypeOf<Parameters<NonNullable<typeof tools.act.execute>>[0]>().toEqualTypeOf<{ to: string }>()
// @ts-expect-error there is no tool of this name
void tools.other
// @ts-expect-error the input needs a receiver
void tools.act.execute?.({}, { toolCallId: "1", messages: [], context: {} })

export const run = async () => {
  const plain = new ToolLoopAgent({ model, tools, output: Output.object({ schema: z.object({ n: z.number() }) }) })
  const agent = new ToolLoopAgent(
    guarded.settings({ model, tools, output: Output.object({ schema: z.object({ n: z.number() }) }) })
  )
  const result = await agent.generate({ prompt: "go" })
  expectTypeOf(result.output).toEqualTypeOf<Awaited<ReturnType<typeof plain.generate>>["output"]>()
  expectTypeOf(result.output).toEqualTypeOf<{ n: number }>()
  for (const call of result.toolCalls) {
    if (call.dynamic !== true) {
      expectTypeOf(call.toolName).toEqualTypeOf<"act">()
      expectTypeOf(call.input).toEqualTypeOf<{ to: string }>()
    }
  }
  const stream = streamText({ ...guarded.settings({ model, tools }), prompt: "go" })
  expectTypeOf(stream.textStream).toExtend<AsyncIterable<string>>()
}

// @ts-expect-error settings need a model
guarded.settings({ tools })
// @ts-expect-error a model is an object, because a name cannot be wrapped
guarded.model("vendor/model")
// @ts-expect-error there is no such option
AiSdk.make(Guard.make(), { approvers: "ada" })
