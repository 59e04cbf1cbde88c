/** Calls the listeners of the plugin as Strands does. */
import type { Strands } from "../../src/Strands.ts"

class TextBlock {
  readonly type = "textBlock"
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
class ToolResultBlock {
  readonly status: string
  readonly content: ReadonlyArray<TextBlock>
  constructor({ content, status }: { readonly status: string; readonly content: ReadonlyArray<TextBlock> }) {
    this.status = status
    this.content = content
  }
}
export const sdk = {
  BeforeModelCallEvent: "model",
  BeforeToolCallEvent: "before",
  AfterToolCallEvent: "after",
  TextBlock,
  ToolResultBlock
}

type Listener = (event: object) => Promise<void>

/** Returns functions that fire the events with the fields that the SDK documents. */
export const events = ({ plugin }: Pick<Strands, "plugin">, more: object = {}) => {
  const listeners = new Map<unknown, Listener>()
  plugin(sdk).initAgent({ addHook: (event: unknown, listener: Listener) => listeners.set(event, listener) })
  const agent = { messages: [{ role: "user", content: [new TextBlock("go")] }], ...more }
  const before = async (
    name: string,
    input: object,
    id = "1",
    interrupt: () => unknown = () => undefined,
    tool?: object
  ) => {
    const event = {
      agent,
      tool,
      selectedTool: undefined as unknown,
      toolUse: { name, input, toolUseId: id },
      cancel: false as boolean | string,
      interrupt
    }
    await listeners.get("before")?.(event)
    return event
  }
  const after = async (
    name: string,
    text: string,
    id = "1",
    status = "success",
    more: ReadonlyArray<TextBlock> = []
  ) => {
    const result = { status, content: [new TextBlock(text), ...more] }
    const error = status === "error" ? new Error(text) : undefined
    const event = { toolUse: { name, input: {}, toolUseId: id }, result, error }
    await listeners.get("after")?.(event)
    return { ...event.result, error: event.error?.message }
  }
  const read = async (message: object) => {
    const event = { agent: { messages: [message] }, cancel: false }
    await listeners.get("model")?.(event)
    return event.cancel
  }
  const model = (text: string, content: ReadonlyArray<object> = [new TextBlock(text)]) =>
    read({ role: "user", content })
  return { after, before, model, read }
}
