/**
 * What clients receive, letter by letter: the same turns in every protocol that is written as a stream. Ids and times
 * are replaced, in the order in which they come.
 */
import type { AgentConfig } from "@belay/core/AgentConfig"
import type { AgentHook } from "@belay/core/AgentHook"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { Auth } from "@belay/core/ProviderError"
import * as AgUi from "@belay/server/AgUi"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import type * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { assert, describe, expect, it } from "vitest"
import { plain } from "./support/plain.ts"
import { bodyOf, request } from "./support/requests.ts"
import { asking, served, talker, tools } from "./support/served.ts"

const handlers: { readonly [path: string]: (serve: Serve.Serve) => Serve.Handler } = {
  "/v1/chat/completions": OpenAiChat.handler,
  "/v1/responses": OpenAiResponses.handler,
  "/api/chat": (serve) => UiStream.handler(serve, { hooks: true }),
  "/ag-ui": AgUi.handler
}

const broken = defineTool({
  name: "broken",
  description: "fails",
  input: { type: "object" },
  execute: () => Promise.reject(new Error("no disk"))
})
const refusing = { name: "no", tools: "weather", preToolCall: () => HookAction.reject("not today") }
const editing: AgentHook = {
  name: "edits",
  tools: "weather",
  preToolCall: (call) => HookAction.transform({ ...call, args: { city: "Chur" } })
}
const stopping = { name: "stops", tools: "weather", postToolCall: () => HookAction.abort("enough") }
const answering = { name: "answers", preTurn: () => HookAction.respond({ text: "from a hook" }) }

/** What is said, and how the agent differs. */
const turns: { readonly [what: string]: readonly [words: string, config?: Partial<AgentConfig>] } = {
  "a text": ["hello there"],
  "a tool": ["call weather"],
  "two tools": ["call weather and broken"],
  "a tool that a hook refuses": ["call weather", { hooks: [refusing] }],
  "arguments that a hook changes": ["call weather", { hooks: [editing] }],
  "a question": ["call delete_file"],
  "a tool and a question": ["call weather and delete_file"],
  "a limit": ["call weather", { limits: { steps: 1 } }],
  "a hook that stops": ["call weather", { hooks: [stopping] }],
  "a hook that answers": ["hello", { hooks: [answering] }],
  "a model that fails": ["hello", {
    provider: talker({ before: () => Promise.reject(new Auth({ provider: "demo", message: "secret" })) })
  }]
}

describe("on the wire", () => {
  for (const [path, handlerOf] of Object.entries(handlers)) {
    it(`${path} sends exactly these events`, async () => {
      const written: Array<string> = []
      for (const [what, [words, config = {}]] of Object.entries(turns)) {
        await using server = await served(handlerOf, {}, {
          // Without a stream, so that a text is one piece.
          provider: { name: "demo", complete: talker().complete },
          tools: [...tools(), broken],
          hooks: [asking],
          ...config
        })
        const body = { ...bodyOf[path]!(words), stream: true, stream_options: { include_usage: true } }
        const handle = handlerOf(server.serve)
        const response = await handle(request(path, body))
        const text = await response.text()
        assert.notInclude(text, "secret")
        written.push(`# ${what}: ${response.status} ${response.headers.get("content-type")}\n\n${plain(text).trim()}\n`)
      }
      await expect(written.join("\n")).toMatchFileSnapshot(`./support/wire/${path.split("/").at(-1)}.txt`)
    })
  }
})
