/** Sections are appended to a draft outside the window; the model reads how far it is. */
import * as ArtifactStore from "@belay/core/ArtifactStore"
import { success } from "@belay/core/Tool"
import { createAgent, defineHook, defineTool, HookAction, HookState } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as Effect from "effect/Effect"
import * as z from "zod"

const writeSection = defineTool({
  name: "write_section",
  description: "Write the next section of the report",
  input: z.object({ text: z.string() }),
  execute: () => "written"
})
const sections = HookState.key("report_sections", 0)
const words = (text: string): number => text.split(/\s+/).filter(Boolean).length
const draft = defineHook({
  name: "draft",
  tools: writeSection,
  failOpen: false,
  postToolCall: async ({ call, result }, ctx) => {
    if (!result.ok) return undefined
    await ctx.artifacts.append("report::draft", `${call.args.text}\n\n`)
    const number = ctx.state.durable.conversation.update(sections, (n) => n + 1)
    const all = await ctx.artifacts.read("report::draft") ?? ""
    const total = words(all).toLocaleString("en-US")
    return HookAction.transform(
      success(`Section ${number} written (${words(call.args.text)} words). Total draft: ${total} words.`)
    )
  }
})

const section = (count: number) => Scripted.toolCalls({ name: "write_section", args: { text: "word ".repeat(count) } })
const artifacts = ArtifactStore.inMemory()
const agent = createAgent({
  provider: Scripted.make([section(600), section(628), section(612), "The report is written."]),
  artifacts,
  tools: [writeSection],
  hooks: [draft]
})
const session = await agent.session()
const { messages } = await session.run("Write the report")
for (const { content, role } of messages) if (role === "tool") console.log(content)
console.log(
  `the draft has ${words(await Effect.runPromise(artifacts.read(session.id, "hook:report::draft")) ?? "")} words`
)
await agent.close()
