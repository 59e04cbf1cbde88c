/** What one search has shown, the next one leaves out: in this turn, in later ones, and for sub-agents. */
import { success } from "@belay/core/Tool"
import { createAgent, defineHook, defineTool, HookAction, HookState } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as Schema from "effect/Schema"
import * as z from "zod"

const index: { readonly [query: string]: ReadonlyArray<string> } = {
  lamps: ["https://a.example/1", "https://b.example/2", "https://a.example/1"],
  lights: ["https://b.example/2", "https://c.example/3"],
  suns: ["https://c.example/3"]
}
const search = defineTool({
  name: "search",
  description: "Search the web",
  input: z.object({ query: z.string() }),
  readOnly: true,
  execute: ({ query }) => (index[query] ?? []).map((url) => ({ url }))
})
const Found = z.array(z.looseObject({ url: z.string() }))
const seenUrls = HookState.key("seen_urls", Schema.Array(Schema.String), [])
const dedup = defineHook({
  name: "search-dedup",
  tools: search,
  postToolCall: ({ result }, { state: { durable: { conversation } } }) => {
    const found = result.ok ? Found.safeParse(result.output) : undefined
    if (found?.success !== true) return undefined
    const seen = conversation.get(seenUrls)
    const fresh = found.data.filter(({ url }, at, all) =>
      !seen.includes(url) && all.findIndex((other) => other.url === url) === at
    )
    // The newest thousand: what is kept has a limit.
    conversation.set(seenUrls, [...seen, ...fresh.map(({ url }) => url)].slice(-1_000))
    return HookAction.transform(
      success({ results: fresh.map(({ url }) => url), alreadySeen: found.data.length - fresh.length })
    )
  }
})

const asks = (query: string) => Scripted.toolCalls({ name: "search", args: { query } })
const agent = createAgent({
  provider: Scripted.make([asks("lamps"), asks("lights"), "so far", asks("suns"), "done"]),
  tools: [search],
  hooks: [dedup]
})
const session = await agent.session()
await session.run("Search for lamps and lights")
const { messages } = await session.run("Search for suns")
for (const { content, role } of messages) if (role === "tool") console.log(JSON.stringify(content))
await agent.close()
