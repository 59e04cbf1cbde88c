/** The output of a response while it is written: the items, and their events. */

interface OutputItem {
  readonly id: string
  readonly type: string
  readonly [field: string]: unknown
}

type Events = Iterable<{ readonly type: string }>

/** What is open: an item whose text still grows. */
interface Open {
  readonly kind: "text" | "reasoning"
  readonly id: string
  text: string
}

/** A class, because it is the state of a response that is written. */
export class OutputWriter {
  readonly items: Array<OutputItem> = []
  /** Whether the client gets nothing before the end, so that hooks after the last answer count for it. */
  readonly isWhole: boolean
  private readonly response: string
  private open: Open | undefined
  /** How many items there were when the model began its last answer. */
  private begun = 0

  constructor(response: string, isWhole: boolean) {
    this.response = response
    this.isWhole = isWhole
  }

  /** The model begins an answer. */
  *beginAnswer(): Events {
    yield* this.close()
    this.begun = this.items.length
  }

  /** Puts the text that hooks have left in the place of the last answer. */
  replaceAnswer(text: string): void {
    const answer = this.items.splice(this.begun)
    const last = answer.findLast(isAnswer)
    this.items.push(...answer.filter((item) => !isAnswer(item)))
    if (last !== undefined) this.items.push(message(last.id, "completed", [textPart(text)]))
  }

  /** Leaves out what the model wrote. */
  dropTexts(): void {
    const others = this.items.filter(({ type }) => type !== "message" && type !== "reasoning")
    this.items.splice(0, Infinity, ...others)
  }

  /** Whether the last item is a message. */
  get hasAnswer(): boolean {
    return this.accepted.at(-1)?.type === "message"
  }

  *text(delta: string): Events {
    const { id, isNew, place } = yield* this.begin("text")
    if (isNew) {
      yield { type: "response.output_item.added", output_index: place, item: message(id, "in_progress", []) } as Event
      yield { type: "response.content_part.added", ...at(id, place), part: textPart("") } as Event
    }
    this.open!.text += delta
    yield { type: "response.output_text.delta", ...at(id, place), delta, logprobs: [] } as Event
  }

  *reasoning(delta: string): Events {
    const { id, isNew, place } = yield* this.begin("reasoning")
    const where = { item_id: id, output_index: place, summary_index: 0 }
    if (isNew) {
      const item = { id, type: "reasoning", status: "in_progress", summary: [] }
      yield { type: "response.output_item.added", output_index: place, item } as Event
      yield { type: "response.reasoning_summary_part.added", ...where, part: summary("") } as Event
    }
    this.open!.text += delta
    yield { type: "response.reasoning_summary_text.delta", ...where, delta } as Event
  }

  /** The items without the texts that were taken back. */
  get accepted(): ReadonlyArray<OutputItem> {
    return this.items.filter(({ status }) => status !== "incomplete")
  }

  /** Ends the text that is written. `incomplete`: the model begins it again. */
  *close(status: "completed" | "incomplete" = "completed"): Events {
    if (this.open === undefined) return
    const { id, kind, text } = this.open
    const place = this.items.length
    this.open = undefined
    if (kind === "text") {
      yield { type: "response.output_text.done", ...at(id, place), text, logprobs: [] } as Event
      yield { type: "response.content_part.done", ...at(id, place), part: textPart(text) } as Event
      return yield* this.done(message(id, status, [textPart(text)]))
    }
    const where = { item_id: id, output_index: place, summary_index: 0 }
    yield { type: "response.reasoning_summary_text.done", ...where, text } as Event
    yield { type: "response.reasoning_summary_part.done", ...where, part: summary(text) } as Event
    yield* this.done({ id, type: "reasoning", status, summary: [summary(text)] })
  }

  /** Adds an item that is complete. */
  *item(item: OutputItem): Events {
    yield* this.close()
    const place = this.items.length
    const isCall = item.type === "function_call"
    const added = isCall ? { ...item, arguments: "", status: "in_progress" } : item
    yield { type: "response.output_item.added", output_index: place, item: added } as Event
    if (isCall) {
      const { arguments: args, name } = item
      const where = { item_id: item.id, output_index: place }
      yield { type: "response.function_call_arguments.delta", ...where, delta: args } as Event
      yield { type: "response.function_call_arguments.done", ...where, arguments: args, name } as Event
    }
    yield* this.done(item)
  }

  private *begin(kind: Open["kind"]): Generator<Event, { id: string; isNew: boolean; place: number }> {
    if (this.open !== undefined && this.open.kind !== kind) {
      for (const event of this.close()) yield event as Event
    }
    const isNew = this.open === undefined
    const place = this.items.length
    this.open ??= { kind, id: `${kind === "text" ? "msg" : "rs"}_${this.response}_${place}`, text: "" }
    return { id: this.open.id, isNew, place }
  }

  private *done(item: OutputItem): Events {
    const place = this.items.length
    this.items.push(item)
    yield { type: "response.output_item.done", output_index: place, item } as Event
  }
}

const isAnswer = ({ status, type }: OutputItem): boolean => type === "message" && status === "completed"

/** An event of any type; its fields are those of its type. */
interface Event {
  readonly type: string
}

const at = (id: string, place: number) => ({ item_id: id, output_index: place, content_index: 0 })
const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] })
const summary = (text: string) => ({ type: "summary_text", text })
const message = (id: string, status: string, content: ReadonlyArray<object>): OutputItem => ({
  id,
  type: "message",
  role: "assistant",
  status,
  content
})
