// A chat with `useChat`, as a user of the AI SDK writes it. The tests bundle it for a browser.
import { useChat } from "@ai-sdk/react"
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai"
import { createElement as h, useEffect, useState } from "react"
import { createRoot } from "react-dom/client"

const headers = { authorization: "Bearer token-ada" }

const Part = ({ answer, part }) => {
  if (part.type === "text") return h("p", null, part.text)
  if (part.type !== "dynamic-tool") return null
  const buttons = part.state === "approval-requested"
    ? [true, false].map((approved) =>
      h(
        "button",
        { key: approved, onClick: () => answer({ id: part.approval.id, approved }) },
        approved ? "Allow" : "Deny"
      )
    )
    : null
  return h("div", { className: "tool" }, `${part.toolName} ${part.state} `, buttons)
}

const Chat = ({ messages: initial }) => {
  const chat = useChat({
    id: "c1",
    messages: initial,
    resume: true,
    transport: new DefaultChatTransport({ api: "/api/chat", headers }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses
  })
  const [text, setText] = useState("")
  const submit = (event) => {
    event.preventDefault()
    void chat.sendMessage({ text })
    setText("")
  }
  return h(
    "main",
    null,
    chat.messages.map(({ id, parts, role }) =>
      h(
        "article",
        { key: id, className: role },
        parts.map((part, index) => h(Part, { key: index, part, answer: chat.addToolApprovalResponse }))
      )
    ),
    h("form", { onSubmit: submit }, h("input", { value: text, onChange: ({ target }) => setText(target.value) })),
    h("output", null, `${chat.status} ${chat.error?.message ?? ""}`)
  )
}

const App = () => {
  const [messages, setMessages] = useState()
  useEffect(() => {
    void fetch("/api/chat/c1", { headers }).then((answer) => answer.json()).then((stored) =>
      setMessages(stored.messages)
    )
  }, [])
  return messages === undefined ? null : h(Chat, { messages })
}

createRoot(document.querySelector("#root")).render(h(App))
