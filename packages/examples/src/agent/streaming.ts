/** Events while a turn goes on, and a guardrail that nothing slips past, however the text is cut. */
import { createAgent, OpenAiCompatible, OutputGuardrail } from "@belay/sdk"

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  hooks: [OutputGuardrail.make({ patterns: ["sk-[a-z0-9]+"], redact: "[key]", hold: { chars: 40 } })]
})
const stream = agent.stream("Repeat after me: the key is sk-test0000example, keep it safe")
let text = ""
for await (const event of stream) {
  if (event.type === "retract") text = ""
  if (event.type === "text-delta") text += event.text
  if (event.type === "turn-end") console.log(`${event.status}: ${text}`)
}
const { usage } = await stream.result
console.log(`${usage.inputTokens > 0 ? "counted" : "uncounted"} tokens`)
await agent.close()
