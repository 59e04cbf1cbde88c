/** No meetings, no briefing: one hook ends the whole flow, in whichever agent it is. */
import { agentTool, createAgent, defineHook, defineTool, HookAction } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as z from "zod"

const brief = async (meetings: ReadonlyArray<string>) => {
  const listMeetings = defineTool({
    name: "list_meetings",
    description: "List the meetings of today",
    input: z.object({}),
    readOnly: true,
    execute: () => meetings
  })
  const gate = defineHook({
    name: "calendar-gate",
    tools: listMeetings,
    postToolCall: ({ result }) =>
      result.ok && Array.isArray(result.output) && result.output.length === 0
        ? HookAction.abort("no meetings today")
        : undefined
  })
  const hands = (name: string) => Scripted.toolCalls({ name, args: { message: "go on" } })
  const [planner, writer] = [
    Scripted.make([Scripted.toolCalls({ name: "list_meetings" }), "planned"]),
    Scripted.make(["the briefing"])
  ]
  const agent = createAgent({
    provider: Scripted.make([hands("plan"), hands("write"), "Here is the briefing."]),
    tools: [
      agentTool({
        name: "plan",
        description: "Plans",
        agent: createAgent({ name: "planner", provider: planner, tools: [listMeetings] })
      }),
      agentTool({ name: "write", description: "Writes", agent: createAgent({ name: "writer", provider: writer }) })
    ],
    hooks: [gate]
  })
  const { status, text } = await agent.run("Brief me for today")
  console.log(
    `${meetings.length} meetings: ${status}, ${text} (planner asked ${planner.requests.length} times, writer ` +
      `${writer.requests.length})`
  )
  await agent.close()
}
await brief(["10:00 design review"])
await brief([])
