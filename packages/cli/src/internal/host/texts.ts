/** Sessions as text for people. */
import { type Message, text } from "@belay/core/Message"
import type { SessionInfo } from "@belay/core/SessionStore"
import type { Conversation, SessionOverview } from "@belay/server/Host"
import type { Outcome } from "@belay/server/Outcome"
import { count, lines, plain, type Screen, styleOf } from "../screen.ts"

/** What a status says to somebody who has not read the documentation. */
const waits = {
  idle: "waits for nothing",
  open: "runs, or waits for a process",
  suspended: "waits for people",
  limited: "reached a limit"
}

export const listText = (sessions: ReadonlyArray<SessionInfo>, next: number | undefined, screen: Screen): string => {
  const { bold, dim, yellow } = styleOf(screen)
  const width = Math.max(7, ...sessions.map(({ id }) => id.length))
  const rows = sessions.map(({ id, messages, status, turnNumber, updatedAt }) =>
    [
      bold(plain(id).padEnd(width)),
      (status === "suspended" ? yellow : dim)(waits[status].padEnd(28)),
      `turn ${turnNumber}, ${count(messages, "message")}`.padEnd(24),
      dim(`${new Date(updatedAt).toISOString().slice(0, 19)}Z`)
    ].join("  ")
  )
  return [
    ...(rows.length === 0 ? ["no sessions"] : rows),
    ...(next === undefined ? [] : [`next page: --before ${next}`])
  ].join("\n")
}

export const overviewText = (sessions: ReadonlyArray<SessionOverview>, screen: Screen): string => {
  const { bold, dim, green, red, yellow } = styleOf(screen)
  const colors = { dead: red, stuck: red, waiting: yellow, busy: green }
  const rows = sessions.flatMap(({ entries, id, since, state, why }) => [
    `${bold(plain(id))}  ${colors[state](state)}  ${plain(why)}  ${
      dim(`${new Date(since).toISOString().slice(0, 19)}Z`)
    }`,
    ...entries.map(({ attempts, key, kind, status }) =>
      dim(`  ${kind} ${plain(key)}: ${status}, ${count(attempts, "attempt")}`)
    )
  ])
  return rows.length === 0 ? "no sessions with something unfinished" : rows.join("\n")
}

export const conversationText = (id: string, conversation: Conversation, screen: Screen): string => {
  const { bold, dim, yellow } = styleOf(screen)
  const { messages, open, turnNumber, waiting } = conversation
  const questions = waiting.type === "nothing" ? [] : waiting.pending.flatMap((one) => [
    yellow(`question ${plain(one.callId)}: ${plain(one.tool)} ${plain(JSON.stringify(one.args))}`),
    `  ${plain(one.by)} asks: ${plain(one.reason)}`,
    `  belay sessions decide ${plain(id)} ${plain(one.callId)} approve`,
    `  belay sessions decide ${plain(id)} ${plain(one.callId)} deny --reason "..."`
  ])
  return [
    `${bold(plain(id))}  ${dim(`turn ${turnNumber}, ${waitingText(conversation)}`)}`,
    ...messages.flatMap((message) => messageLines(message, screen)),
    ...open.map(({ key, kind, status }) => dim(`${kind} ${plain(key)}: ${status}`)),
    ...questions
  ].join("\n")
}

const waitingText = ({ waiting }: Conversation): string => {
  switch (waiting.type) {
    case "nothing":
      return waits.idle
    case "people":
      return waits.suspended
    case "limit":
      return `reached the limit ${waiting.limit}`
    case "process":
      return waiting.why === "left" ? waits.open : "waits for a process"
  }
}

const messageLines = (message: Message, screen: Screen): ReadonlyArray<string> => {
  const { cyan, dim, green } = styleOf(screen)
  const calls = message.role === "assistant" ? message.toolCalls ?? [] : []
  const paint = message.role === "user" ? cyan : message.role === "assistant" ? green : dim
  const name = message.role === "tool" ? `${message.toolName} ${message.toolCallId}` : message.role
  const said = lines(text(message))
  return [
    ...(said.join("") === "" && calls.length > 0 ?
      [] :
      said.map((line, index) => index === 0 ? `${paint(`${plain(name)}:`)} ${line}` : `  ${line}`)),
    ...calls.map(({ args, id, name: tool }) =>
      dim(`calls ${plain(tool)} ${plain(JSON.stringify(args))} (${plain(id)})`)
    )
  ]
}

export const outcomeText = (sessionId: string, key: string, outcome: Outcome, screen: Screen): string => {
  const { red, yellow } = styleOf(screen)
  const written = "text" in outcome ? lines(outcome.text).join("\n") : ""
  switch (outcome.status) {
    case "completed":
      return written
    case "suspended":
      return yellow(`${plain(key)} waits for people: belay sessions show ${plain(sessionId)}`)
    case "limited":
      return red(`${plain(key)} reached the limit ${outcome.limit} (${outcome.used} of ${outcome.max})`)
    case "aborted":
      return red(`${plain(outcome.by)} ended the turn: ${plain(outcome.reason)}`)
    case "failed":
      return red(`${plain(key)} failed: ${plain(outcome.error.message)}`)
    case "dead":
    case "late":
      return red(`${plain(key)}: ${plain(outcome.reason)}`)
    case "cancelled":
    case "delivered":
      return `${plain(key)}: ${outcome.status}`
  }
}
