/**
 * What each protocol makes of the events of a turn, letter by letter: also of those that are rare, such as a text that
 * is taken back. `Wire.test.ts` has the whole way.
 */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { Message } from "@belay/core/Message"
import type { Conversation } from "@belay/server/Host"
import type { Outcome } from "@belay/server/Outcome"
import type { Serve } from "@belay/server/Serve"
import { describe, expect, it } from "vitest"
import { runTurn } from "../../../src/serve/internal/acp/turn.ts"
import { agUiEvents } from "../../../src/serve/internal/agUi/writeAgUi.ts"
import { piecesOf } from "../../../src/serve/internal/chat/writeChat.ts"
import type { Item } from "../../../src/serve/internal/follow.ts"
import { askAgent } from "../../../src/serve/internal/mcp/askAgent.ts"
import { responseEvents } from "../../../src/serve/internal/responses/writeResponses.ts"
import { uiChunks } from "../../../src/serve/internal/ui/writeUi.ts"
import { token, turns } from "../support/rareTurns.ts"

const principals = { whyNot: async () => undefined }
const serve = { maxEventLength: 24, onError: () => {}, principals } as unknown as Serve

async function* itemsOf(events: ReadonlyArray<AgentEvent>, outcome: Outcome | undefined): AsyncGenerator<Item> {
  for (const [index, event] of events.entries()) yield { type: "event", id: String(index), event }
  if (outcome !== undefined) yield { type: "end", outcome }
}

/** Without the fields that every response has, and the items that other events have. */
async function* shortened(all: AsyncIterable<{ readonly response?: object }>): AsyncGenerator<object> {
  for await (const { response, ...event } of all) {
    if (response === undefined) yield event
    else {
      const { error, incomplete_details, output, status, usage } = response as { readonly [field: string]: unknown }
      const ids = (output as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
      yield { ...event, response: { status, error, incomplete_details, usage, output: ids } }
    }
  }
}

const base = { id: "resp_1", created_at: 0, model: "m", previous_response_id: null }
const writers: {
  readonly [name: string]: (
    items: AsyncGenerator<Item>,
    messages: ReadonlyArray<Message> | undefined
  ) => AsyncIterable<object>
} = {
  chat: (items) => piecesOf(serve, token, items),
  responses: (items) => shortened(responseEvents(serve, token, base, items)),
  ui: (items, messages) =>
    uiChunks(serve, {
      token,
      messageId: "m1",
      hooks: true,
      conversation: async () => messages === undefined ? undefined : { messages } as unknown as Conversation
    }, items),
  "ag-ui": (items) => agUiEvents(serve, { threadId: "t1", runId: "r1", token }, items)
}

/** Everything that is written, a line each, and the error if there is one. */
const written = async (all: AsyncIterable<object>): Promise<string> => {
  const lines: Array<string> = []
  try {
    for await (const one of all) lines.push(JSON.stringify(one))
  } catch (error) {
    lines.push(`throws ${JSON.stringify(error)} ${String(error)}`)
  }
  return lines.join("\n")
}

describe("what is written", () => {
  it.each(Object.entries(writers))("for %s is exactly this", async (name, write) => {
    const all: Array<string> = []
    for (const [what, [events, outcome, messages]] of Object.entries(turns)) {
      all.push(`# ${what}\n\n${await written(write(itemsOf(events, outcome), messages))}\n`)
    }
    await expect(all.join("\n")).toMatchFileSnapshot(`../support/rare/${name}.txt`)
  })

  /** A host whose session has this turn, and what was done with it. */
  const hostOf = (events: ReadonlyArray<AgentEvent>, outcome: Outcome, log: Array<string>) => {
    const note = (what: string) => (...args: ReadonlyArray<unknown>) => {
      log.push(`${what} ${JSON.stringify(args)}`)
      return Promise.resolve({ key: "k1" })
    }
    const ended = { type: "turn-end", seq: 99, status: outcome.status }
    return {
      result: async () => outcome,
      conversation: async () => undefined,
      cancel: note("cancel"),
      send: async () => ({ key: "k1" }),
      events: async function*(_session: string, { signal }: { readonly signal: AbortSignal }) {
        for (const event of [...events, ended]) yield { id: "1", key: "k1", event }
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve))
      }
    }
  }
  const finished = Object.entries(turns).flatMap(([what, [events, outcome]]) =>
    outcome === undefined ? [] : [[what, events, outcome] as const]
  )

  it("for an editor is exactly this", async () => {
    const all: Array<string> = []
    for (const [what, events, outcome] of finished) {
      const log: Array<string> = []
      const editor = {
        notify: async (_method: string, { update }: { readonly update: object }) =>
          void log.push(JSON.stringify(update)),
        request: async (method: string, asked: object) => {
          log.push(`${method} ${JSON.stringify(asked)}`)
          return { outcome: { outcome: "cancelled" } }
        }
      }
      const session = {
        id: "s1",
        sessionId: "s1",
        principal: "ada",
        client: editor,
        mode: () => "ask",
        signal: new AbortController().signal
      }
      const part = { sessionId: "s1", key: "k1" }
      const one = { ...serve, host: hostOf(events, outcome, log) } as never
      const ends = await runTurn(one, session as never, part).catch(String)
      all.push(`# ${what}\n\n${[...log, `ends with ${ends}`].join("\n")}\n`)
    }
    await expect(all.join("\n")).toMatchFileSnapshot("../support/rare/acp.txt")
  })

  it("for a client of MCP is exactly this", async () => {
    const all: Array<string> = []
    for (const [what, events, outcome] of finished) {
      const log: Array<string> = []
      const context = {
        mcpReq: {
          requestState: () => undefined,
          signal: new AbortController().signal,
          _meta: { progressToken: 7 },
          notify: async (one: object) => void log.push(JSON.stringify(one))
        }
      }
      const host = hostOf(events, outcome, log)
      const one = {
        ...serve,
        host: {
          ...host,
          send: async (_session: string, _input: object, { key }: { readonly key: string }) => {
            // The events are those of the message that was just sent.
            Object.assign(host, { key })
          },
          events: async function*(session: string, options: { readonly signal: AbortSignal }) {
            for await (const event of host.events(session, options)) yield { ...event, key: Object(host).key }
          }
        }
      }
      const args = { message: "hi", session: token }
      const result = await askAgent(one as never, { args, context, principal: "ada" } as never)
      all.push(`# ${what}\n\n${[...log, JSON.stringify(result)].join("\n")}\n`)
    }
    await expect(all.join("\n")).toMatchFileSnapshot("../support/rare/mcp.txt")
  })

  it("for a client that does not want them has no decisions of hooks", async () => {
    const [events, outcome] = turns["decisions of hooks"]!
    const turn = { token, messageId: "m1", hooks: false, conversation: async () => undefined }
    expect(await written(uiChunks(serve, turn, itemsOf(events, outcome)))).not.toContain("data-hook")
  })
})
