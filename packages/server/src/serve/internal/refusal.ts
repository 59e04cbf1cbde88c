/** The errors that clients see, when a request is refused or the agent fails. */
import type { Outcome } from "../../host/Outcome.ts"
import type { Serve } from "../Serve.ts"

/** The kinds of errors that protocols distinguish. */
export type Kind =
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "method"
  | "conflict"
  | "too-large"
  | "busy"
  | "filtered"
  | "too-long"
  | "unavailable"
  | "failed"

/** The HTTP status of each kind. */
export const statusOf: { readonly [K in Kind]: number } = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  "not-found": 404,
  method: 405,
  conflict: 409,
  "too-large": 413,
  busy: 429,
  filtered: 400,
  "too-long": 400,
  unavailable: 503,
  failed: 500
}

/** A request that is refused. Its message is for the client. A class, so that it can be thrown and recognised. */
export class Refusal extends Error {
  readonly kind: Kind
  /** The field of the request that is wrong. */
  readonly field: string | undefined
  /** When the same request may succeed, in seconds from now. */
  readonly retryAfter: number | undefined

  constructor(kind: Kind, message: string, field?: string, retryAfter?: number) {
    super(message)
    this.kind = kind
    this.field = field
    this.retryAfter = retryAfter
  }
}

/** Refuses a request whose content is wrong. */
export const invalid = (message: string, field?: string): Refusal => new Refusal("invalid", message, field)

/** When a client may try again whose message found no room, in seconds. */
const fullSeconds = 5

/** What a client may know about an error. Anything that is not listed here is logged, and stays on the server. */
export const refusalOf = (serve: Pick<Serve, "onError">, error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  const { _tag, limit, message, problem } = Object(error) as { readonly [field: string]: unknown }
  if (_tag === "HostError" && problem === "full") {
    return new Refusal("busy", `too many messages wait (${String(limit)}): send it again later`, undefined, fullSeconds)
  }
  // The host describes the client's own data.
  if (_tag === "HostError" && problem === "wrong-input") return invalid(String(message).slice(0, 500))
  if (_tag === "HostError" && problem === "unknown") return new Refusal("not-found", "there is nothing with this id")
  const kind = _tag === "HostError" && problem === "store" ? "unavailable" : "failed"
  return hidden(serve, error, new Refusal(kind, "the server could not do this: try again later"))
}

const hidden = ({ onError }: Pick<Serve, "onError">, error: unknown, refusal: Refusal): Refusal => {
  onError(error, refusal.message)
  return refusal
}

/** The outcomes with which a turn ends without an answer. */
export type Unanswered = Exclude<
  Outcome,
  { readonly status: "completed" | "suspended" | "limited" | "aborted" | "delivered" }
>

/** What a client may know about a turn that did not end with an answer. */
export const refusalOfOutcome = (serve: Pick<Serve, "onError">, outcome: Unanswered): Refusal => {
  switch (outcome.status) {
    case "cancelled":
      return new Refusal("conflict", "the message was cancelled")
    case "late":
      return new Refusal("conflict", "there is no open question with this id any more")
    case "dead":
      return hidden(serve, outcome, new Refusal("failed", "the agent could not answer this message"))
    case "failed":
      return refusalOfFailure(serve, outcome)
  }
}

const refusalOfFailure = (
  serve: Pick<Serve, "onError">,
  { error }: Extract<Outcome, { readonly status: "failed" }>
): Refusal => {
  switch (error._tag) {
    // Whoever writes a hook writes this text for those who use the agent.
    case "HookRejected":
      return new Refusal("filtered", error.userMessage ?? error.message)
    // The host describes the client's own data.
    case "SessionError":
      if (error.message.startsWith("the agent has a tool named")) return invalid(error.message, "tools")
      return /^the message has \d+ characters/.test(error.message)
        ? new Refusal("too-large", "the message is too long for this server")
        : hidden(serve, error, new Refusal("failed", "the agent failed: the log of the server says why"))
    case "SnapshotError":
      return hidden(serve, error, new Refusal("conflict", "the answer does not fit the open question"))
    case "ContentFiltered":
      return hidden(serve, error, new Refusal("filtered", "the model refused this content"))
    case "ContextOverflow":
      return hidden(serve, error, new Refusal("too-long", "the conversation is too long for the model"))
    case "RateLimited":
    case "Overloaded":
      return hidden(serve, error, new Refusal("busy", "the model is overloaded: try again later"))
    default:
      return hidden(serve, error, new Refusal("failed", "the agent failed: the log of the server says why"))
  }
}
