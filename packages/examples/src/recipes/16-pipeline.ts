/**
 * Several hooks around the same tools. Before: the tenant, then the token. After: what came is kept, errors get one
 * shape, large results are projected.
 */
import * as ArtifactStore from "@belay/core/ArtifactStore"
import { failure } from "@belay/core/Tool"
import { createAgent, defineHook, defineTool, HookAction, Projection, ToolArguments } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as Effect from "effect/Effect"
import * as z from "zod"

const vault = new Map([["api_get", "fake-token-42"]])
const tenant = ToolArguments.make({
  name: "tenant",
  tools: "api_*",
  confidential: true,
  rewrite: (args) => ({ ...Object(args), tenant_id: "acme" })
})
/** Nobody else may see the token: it is put in around the call itself. */
const token = defineHook({
  name: "token",
  kind: "policy",
  confidential: true,
  tools: "api_*",
  wrapToolCall: (call, next) => next({ ...call, args: { ...Object(call.args), token: vault.get(call.name) ?? "" } })
})
/** After a call the highest number comes first. */
const raw = defineHook({
  name: "raw",
  priority: 90,
  tools: "api_*",
  postToolCall: async ({ call, result }, ctx) => {
    await ctx.artifacts.write(`raw::${call.id}`, JSON.stringify(result), {
      mimeType: "application/json",
      toolCallId: call.id
    })
  }
})
const errors = defineHook({
  name: "standard-errors",
  priority: 60,
  tools: "api_*",
  postToolCall: ({ call, result }) =>
    result.ok
      ? undefined
      : HookAction.transform(
        failure(
          JSON.stringify({ error: { tool: call.name, message: result.error, retryable: /timeout/.test(result.error) } })
        )
      )
})
const smaller = Projection.make({
  projections: { "api_*": { expression: "{total: length(items), first: items[0:2].id}", maxTokens: 10_000 } }
})

const get = defineTool({
  name: "api_get",
  description: "Get a page",
  input: z.object({ path: z.string(), tenant_id: z.string().optional(), token: z.string().optional() }),
  execute: ({ path, tenant_id, token: given }) => {
    console.log(`GET ${path} for ${tenant_id}, ${given === vault.get("api_get") ? "with" : "without"} the token`)
    if (path === "/broken") throw new Error("timeout of the upstream")
    return { items: Array.from({ length: path === "/all" ? 5_000 : 2 }, (_, id) => ({ id, note: "some words" })) }
  }
})
const artifacts = ArtifactStore.inMemory()
const calls = ["/few", "/all", "/broken"].map((path) =>
  Scripted.toolCalls({ name: "api_get", args: { path }, id: path.slice(1) })
)
const provider = Scripted.make([...calls, "done"])
const agent = createAgent({ provider, artifacts, tools: [get], hooks: [tenant, token, raw, errors, smaller] })
const session = await agent.session()
const { messages } = await session.run("Get the pages")
for (const { content, role } of messages) {
  if (role === "tool") {
    console.log(`the model reads: ${typeof content === "string" ? content : JSON.stringify(content)}`)
  }
}
for (const { key, size } of await Effect.runPromise(artifacts.list(session.id))) {
  console.log(`kept: ${key}, ${size} characters`)
}
const seen = JSON.stringify([provider.requests, messages])
console.log(/fake-token|acme/.test(seen) ? "the model saw token or tenant" : "the model saw neither token nor tenant")
await agent.close()
