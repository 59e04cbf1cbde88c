/** Tells calls that a server never got from calls that it may have run, when a connection fails. */

/** What is known about a call whose connection failed. */
export type Fate = "not-sent" | "unknown"

/** The code and the text of the error for a call whose answer broke off. The client itself would wait for ever. */
export const brokenOff = { code: -32_000, message: "the answer broke off" } as const

/** Returns what is known about a call, or nothing if the error is not about the connection. */
export const fateOf = (error: unknown): Fate | undefined => {
  if (!(error instanceof Error)) return undefined
  const { code, message } = error as Coded
  const status = statusOf(error)
  // The server has started again, and does not know the session.
  if (status === 404 || (status === 400 && /session|not initialized/i.test(message))) return "not-sent"
  // The server wants a login, and has not looked at the call.
  if (code === "NOT_CONNECTED" || error.name === "UnauthorizedError") return "not-sent"
  if (code === "CONNECTION_CLOSED" || code === "SEND_FAILED") return "unknown"
  if (code === brokenOff.code && message.endsWith(brokenOff.message)) return "unknown"
  if (!(error instanceof TypeError)) return undefined
  const isLost = systemError.test(String(code)) || /fetch failed|terminated|network|unable to connect/i.test(message)
  if (!isLost) return undefined
  return causesOf(error).some((cause) => unreachable.has(String(cause.code))) ? "not-sent" : "unknown"
}

/** The status of an answer of HTTP, if the error is about one. */
export const statusOf = (error: unknown): number | undefined => {
  const status = error instanceof Error ? (error as Coded).status ?? (error as Coded).data?.status : undefined
  return typeof status === "number" ? status : undefined
}

/** The text of an error, with the reason behind it. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const [, cause] = causesOf(error)
  const code = typeof cause?.code === "string" ? cause.code : ""
  const reason = cause === undefined || cause.message === "" ? code : cause.message
  return reason === "" || error.message.includes(reason) ? error.message : `${error.message}: ${reason}`
}

/** What an error says about the call itself. */
export const adviceFor = (fate: Fate | undefined): string => {
  if (fate === undefined) return ""
  return fate === "not-sent"
    ? " (the call was not sent)"
    : " (the connection was lost, so it is unknown whether the call ran: check before you repeat it)"
}

/** Errors of the client, of `fetch` and of sockets. Other libraries make them, so each field is checked. */
interface Coded extends Error {
  readonly code?: unknown
  readonly status?: unknown
  readonly data?: { readonly status?: unknown }
}

/** Codes such as `ECONNRESET`, which `fetch` of Bun gives its own error. Those of Node begin with `ERR_`. */
const systemError = /^E(?!RR_)[A-Z_]+$/

const unreachable: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused"
])

/** The error, its cause, and the errors of a cause with several. */
const causesOf = (error: Coded): ReadonlyArray<Coded> => {
  const { cause } = error
  if (!(cause instanceof Error)) return [error]
  return [error, cause, ...(cause instanceof AggregateError ? cause.errors.filter((one) => one instanceof Error) : [])]
}
