/**
 * The program of the page. It runs in a browser: `program` is written into the page as text, so it must not use
 * anything from outside of it.
 */
import type { Browser, Node } from "./dom.ts"

interface Part {
  type: string
  text?: string
  id?: string
  toolName?: string
  toolCallId?: string
  state?: string
  input?: unknown
  output?: unknown
  errorText?: string
  approval?: { id: string; approved?: boolean; reason?: string; requestReason?: string }
  data?: { readonly [field: string]: unknown }
}

interface Message {
  id: string
  role: string
  parts: Array<Part>
}

/** A chunk of the UI message stream. */
type Chunk = Omit<Part, "approval"> & { messageId?: string; delta?: string; approvalId?: string; reason?: string }

/** Starts the page. `api` is the path of the UI message stream. */
export const program = (browser: Browser, api: string): void => {
  const { document, history, localStorage, location } = browser
  const element = (id: string): Node => document.getElementById(id)
  const make = (tag: string, className = "", ...children: ReadonlyArray<Node | string>): Node => {
    const node = document.createElement(tag)
    if (className !== "") node.className = className
    node.append(...children)
    return node
  }

  let messages: Array<Message> = []
  let articles: Array<Node> = []
  let isBusy = false
  let chat = localStorage.getItem("belay.chat") ?? crypto.randomUUID()
  let run = 0
  localStorage.setItem("belay.chat", chat)
  const given = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (given !== undefined) {
    localStorage.setItem("belay.token", decodeURIComponent(given))
    // The token stays out of the history of the browser.
    history.replaceState(null, "", location.pathname)
  }

  const call = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(api + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${localStorage.getItem("belay.token") ?? ""}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const here = () => `/${encodeURIComponent(chat)}`
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  // What is shown.

  const say = (text: string, isError = false): void => {
    const node = element("status")
    node.textContent = text
    node.className = isError ? "error" : ""
  }

  const setBusy = (busy: boolean): void => {
    isBusy = busy
    element("stop").hidden = !busy
    element("send").hidden = busy
  }

  const json = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? ""

  const labels: Record<string, string> = {
    "input-available": "runs",
    "approval-requested": "needs your approval",
    "approval-responded": "answered",
    "output-available": "done",
    "output-error": "failed",
    "output-denied": "denied"
  }

  const toolNode = (part: Part): Node => {
    const isAsked = part.state === "approval-requested"
    const details = make("details", `tool ${part.state}`)
    const label = make("span", "label", labels[part.state ?? ""] ?? "")
    details.append(
      make("summary", "", make("b", "", part.toolName ?? ""), " ", label),
      make("pre", "", json(part.input))
    )
    if (part.output !== undefined) details.append(make("pre", "result", json(part.output)))
    if (part.errorText !== undefined) details.append(make("pre", "result", part.errorText))
    if (!isAsked) return details
    details.open = true
    const buttons = [true, false].map((approved) => {
      const button = make("button", approved ? "allow" : "deny", approved ? "Allow" : "Deny")
      button.setAttribute("aria-label", `${approved ? "Allow" : "Deny"} ${part.toolName}`)
      button.addEventListener("click", () => void answer(part, approved))
      return button
    })
    details.append(make("p", "reason", part.approval?.requestReason ?? ""), make("div", "buttons", ...buttons))
    return details
  }

  const partNode = (part: Part): Node | undefined => {
    if (part.type === "text") return make("p", "text", part.text ?? "")
    if (part.type === "reasoning") {
      return make("details", "reasoning", make("summary", "", "Thoughts"), make("p", "", part.text ?? ""))
    }
    if (part.type === "dynamic-tool") return toolNode(part)
    if (part.type === "data-hook") {
      const { action, by, point, subject, why } = part.data ?? {}
      const word = (value: unknown) => typeof value === "string" ? value : ""
      const what = `${word(by) || "a hook"}: ${word(action)} at ${word(point)}`
      const rest = [subject, why].map(word).filter((one) => one !== "").join(", ")
      return make("p", "hook", rest === "" ? what : `${what} (${rest})`)
    }
    return undefined
  }

  const articleOf = ({ parts, role }: Message): Node => {
    const nodes = parts.flatMap((part) => partNode(part) ?? [])
    const article = make("article", role, ...nodes)
    article.setAttribute("aria-label", role === "user" ? "You" : "Agent")
    return article
  }

  const show = (message: Message): void => {
    const index = messages.indexOf(message)
    const article = articleOf(message)
    const isAtEnd = browser.scrollY + browser.innerHeight > element("page").scrollHeight - 120
    const old = articles[index]
    if (old === undefined) element("messages").append(article)
    else {
      // What is open stays open.
      const details = article.querySelectorAll("details")
      old.querySelectorAll("details").forEach((one, at) => {
        if (one.open && details[at] !== undefined) details[at].open = true
      })
      old.replaceWith(article)
    }
    articles[index] = article
    if (isAtEnd) browser.scrollTo(0, element("page").scrollHeight)
  }

  const showAll = (): void => {
    articles = messages.map(articleOf)
    element("messages").replaceChildren(...articles)
    element("empty").hidden = messages.length > 0
    browser.scrollTo(0, element("page").scrollHeight)
  }

  // What happens.

  let current: Message | undefined
  const begin = (id: string): Message => {
    const found = messages.find((message) => message.id === id)
    if (found !== undefined) return found
    const made: Message = { id, role: "assistant", parts: [] }
    messages.push(made)
    return made
  }
  const partOf = (is: (part: Part) => boolean): Part | undefined => current?.parts.findLast(is)
  const toolOf = (chunk: Chunk): Part | undefined => partOf((part) => part.toolCallId === chunk.toolCallId)

  const changes: Record<string, (chunk: Chunk, message: Message) => void> = {
    "start-step": (_, { parts }) => void parts.push({ type: "step-start" }),
    "reset-step": (_, { parts }) => void parts.splice(parts.findLastIndex(({ type }) => type === "step-start") + 1),
    "text-start": ({ id }, { parts }) => void parts.push({ type: "text", id: id ?? "", text: "" }),
    "reasoning-start": ({ id }, { parts }) => void parts.push({ type: "reasoning", id: id ?? "", text: "" }),
    "tool-input-available": ({ input, toolCallId, toolName }, { parts }) => {
      const known = partOf((part) => part.toolCallId === toolCallId)
      const state = "input-available"
      if (known !== undefined) known.state = state
      else parts.push({ type: "dynamic-tool", toolCallId: toolCallId ?? "", toolName: toolName ?? "", input, state })
    },
    "tool-approval-request": (chunk) => {
      const part = toolOf(chunk)
      if (part === undefined) return
      part.state = "approval-requested"
      part.approval = { id: chunk.approvalId ?? "", requestReason: chunk.reason ?? "" }
    },
    "tool-output-available": (chunk) =>
      void Object.assign(toolOf(chunk) ?? {}, { state: "output-available", output: chunk.output }),
    "tool-output-error": (chunk) =>
      void Object.assign(toolOf(chunk) ?? {}, { state: "output-error", errorText: chunk.errorText }),
    "tool-output-denied": (chunk) => void Object.assign(toolOf(chunk) ?? {}, { state: "output-denied" }),
    "data-hook": (chunk, { parts }) => void parts.push({ type: "data-hook", data: chunk.data ?? {} })
  }

  const apply = (chunk: Chunk): void => {
    if (chunk.type === "start") {
      current = begin(chunk.messageId ?? "answer")
      // The whole turn comes again, unless it continues after a question.
      if (!current.parts.some(({ state }) => state === "approval-responded")) current.parts = []
      return
    }
    if (chunk.type === "error") return say(chunk.errorText ?? "the agent failed", true)
    if (chunk.type === "abort") return say("stopped")
    if (current === undefined) return
    if (chunk.type === "text-delta" || chunk.type === "reasoning-delta") {
      const part = partOf(({ id }) => id === chunk.id)
      if (part !== undefined) part.text += chunk.delta ?? ""
    } else changes[chunk.type]?.(chunk, current)
    show(current)
  }

  const frames = async function*(body: ReadableStream<Uint8Array>): AsyncGenerator<{ id: string; data: string }> {
    const reader = body.getReader()
    const decoder = new TextDecoder()
    let text = ""
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const blocks = text.split("\n\n")
      text = blocks.pop() ?? ""
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1]
        if (data !== undefined) yield { id: /^id: (.*)$/m.exec(block)?.[1] ?? "", data }
      }
    }
  }

  /** Reads a turn to its end. If the connection is lost, it goes on where it was. */
  const follow = async (first: () => Promise<Response>, again: () => Promise<Response>): Promise<void> => {
    const mine = ++run
    let next = first
    let known = ""
    setBusy(true)
    say("")
    for (let wait = 250; mine === run; wait = Math.min(2 * wait, 5_000)) {
      const answer = await next().catch(() => undefined)
      if (mine !== run) return
      if (answer?.status === 204) return await load(false)
      if (answer !== undefined && answer.status < 500 && !answer.ok) return await refuse(answer)
      const isDone = answer?.ok === true &&
        await read(answer, (id) => known = id, () => mine === run).catch(() => false)
      if (mine !== run) return
      if (isDone) break
      say("The connection was lost. Trying again …")
      await pause(wait)
      next = () => known === "" ? again() : call(`${here()}/stream`, undefined, { "last-event-id": known })
    }
    if (element("status").textContent?.startsWith("The connection") === true) say("")
    setBusy(false)
  }

  /** Returns whether the stream came to its end. */
  const read = async (answer: Response, onId: (id: string) => void, isCurrent: () => boolean): Promise<boolean> => {
    for await (const { data, id } of frames(answer.body!)) {
      if (!isCurrent() || data === "[DONE]") return true
      if (id !== "") onId(id)
      say("")
      apply(JSON.parse(data) as Chunk)
    }
    return false
  }

  const refuse = async (answer: Response): Promise<void> => {
    const { error } = await answer.json().catch(() => ({})) as { error?: string }
    setBusy(false)
    say(error ?? `the server answered with ${answer.status}`, true)
    if (answer.status === 401) element("login").hidden = false
  }

  const resume = () => call(`${here()}/stream`)

  /** Shows what is stored. If a turn runs, it is followed. */
  const load = async (isFirst: boolean): Promise<void> => {
    for (let wait = 250;; wait = Math.min(2 * wait, 5_000)) {
      const answer = await call(here()).catch(() => undefined)
      if (answer?.ok === true) {
        const stored = await answer.json() as { messages: Array<Message> }
        messages = stored.messages
        showAll()
        break
      }
      if (answer !== undefined && answer.status < 500) return await refuse(answer)
      say("The server cannot be reached. Trying again …")
      await pause(wait)
    }
    say("")
    setBusy(false)
    element("login").hidden = true
    if (!isFirst) return
    const running = await resume().catch(() => undefined)
    if (running?.ok === true && running.status !== 204) await follow(async () => running, resume)
  }

  const answer = async (part: Part, approved: boolean): Promise<void> => {
    const message = messages.find(({ parts }) => parts.includes(part))
    if (message === undefined || part.approval === undefined) return
    part.state = "approval-responded"
    part.approval.approved = approved
    show(message)
    // All questions of a message are answered together.
    if (message.parts.some(({ state }) => state === "approval-requested")) return
    const body = { id: chat, messages: [message] }
    await follow(() => call("", body), resume)
    element("text").focus()
  }

  const send = async (text: string): Promise<void> => {
    const message: Message = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] }
    messages.push(message)
    element("empty").hidden = true
    show(message)
    const post = () => call("", { id: chat, messages: [message] })
    // The server knows the message by its id, so sending it again does no harm.
    await follow(post, post)
  }

  // What a person does.

  const input = element("text")
  const submit = (): void => {
    const text = input.value.trim()
    if (text === "" || isBusy) return
    input.value = ""
    void send(text)
  }
  element("composer").addEventListener("submit", (event) => {
    event.preventDefault()
    submit()
  })
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    submit()
  })
  element("stop").addEventListener("click", () => void call(`${here()}/cancel`, {}).catch(() => {}))
  element("new").addEventListener("click", () => {
    run++
    chat = crypto.randomUUID()
    localStorage.setItem("belay.chat", chat)
    messages = []
    setBusy(false)
    say("")
    showAll()
    input.focus()
  })
  element("login").addEventListener("submit", (event) => {
    event.preventDefault()
    localStorage.setItem("belay.token", element("token").value.trim())
    void load(true)
  })
  input.focus()
  void load(true)
}
