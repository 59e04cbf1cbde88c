/** A page is kept as it came; the model reads what was found in it, and where the page is. */
import * as ArtifactStore from "@belay/core/ArtifactStore"
import { success } from "@belay/core/Tool"
import { createAgent, defineHook, defineTool, HookAction, OpenAiCompatible } from "@belay/sdk"
import * as Effect from "effect/Effect"
import * as z from "zod"

const page = `<html>${Array.from({ length: 12 }, (_, n) => `<li class="product">Lamp ${n}</li>`).join("\n")}${
  "<p>filler</p>".repeat(500)
}</html>`
const scrape = defineTool({
  name: "scrape_page",
  description: "Scrape a page",
  input: z.object({ url: z.string() }),
  readOnly: true,
  execute: () => page
})
const keepRaw = defineHook({
  name: "keep-raw",
  tools: scrape,
  postToolCall: async ({ call, result }, ctx) => {
    if (!result.ok || typeof result.output !== "string") return undefined
    const key = `scrape::${call.args.url}::raw`
    const products = result.output.match(/<li class="product">/g)?.length ?? 0
    await ctx.artifacts.write(key, result.output, { mimeType: "text/html", toolCallId: call.id })
    return HookAction.transform(success(`extracted ${products} products, stored raw at artifacts://${key}`))
  }
})

const artifacts = ArtifactStore.inMemory()
const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), artifacts, tools: [scrape], hooks: [keepRaw] })
const session = await agent.session()
const { messages } = await session.run("Scrape the page https://shop.example/lamps")
console.log(messages.find(({ role }) => role === "tool")?.content)
for (const { key, mimeType, size } of await Effect.runPromise(artifacts.list(session.id))) {
  console.log(`kept ${key}: ${mimeType}, ${size} characters`)
}
console.log(JSON.stringify(messages).includes("<li") ? "the model saw the page" : "the model never saw the page")
await agent.close()
