/** Calls the hooks of a plugin as opencode does. */
import type { OpenCodeHooks, OpenCodeInput } from "../../src/OpenCode.ts"

const parents: { readonly [id: string]: string | undefined } = {
  ses_main: undefined,
  ses_child: "ses_main",
  ses_loop: "ses_loop"
}

const input: OpenCodeInput = {
  client: {
    session: {
      get: ({ path: { id } }) =>
        Promise.resolve(
          Object.hasOwn(parents, id) ? { data: { id, parentID: parents[id] } } : { error: { name: "NotFoundError" } }
        )
    }
  }
}

const part = (text: string) => ({ type: "text", text })

const make = (hooks: OpenCodeHooks) => {
  const messageIn = async (sessionID: string, ...texts: ReadonlyArray<string>) => {
    const parts = texts.map(part)
    await hooks["chat.message"]({ sessionID, agent: "build" }, { parts })
    return parts.map(({ text }) => text)
  }
  const beforeIn = (sessionID: string, tool: string, args: object, callID: string) =>
    hooks["tool.execute.before"]({ tool, sessionID, callID }, { args })
  return {
    message: Object.assign((...texts: ReadonlyArray<string>) => messageIn("ses_main", ...texts), { in: messageIn }),
    before: Object.assign(
      (tool: string, args: object, callID: string) => beforeIn("ses_main", tool, args, callID),
      { in: beforeIn }
    ),
    after: (tool: string, output: object | undefined, callID: string) =>
      hooks["tool.execute.after"]({ tool, sessionID: "ses_main", callID, args: {} }, output),
    /** Returns what the model reads of a call that failed. */
    reads: async (tool: string, callID: string, error: string) => {
      const state = { status: "error", input: {}, error }
      const failed = { type: "tool", id: `prt_${callID}`, callID, tool, state }
      const info = { id: "msg_1", role: "assistant", sessionID: "ses_main" }
      const messages = [{ info, parts: [part("hi"), failed] }]
      await hooks["experimental.chat.messages.transform"]({}, { messages })
      return state.error
    },
    dispose: hooks.dispose
  }
}

export const events = Object.assign(make, { input })
