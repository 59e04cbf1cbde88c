/** `belay sessions`: looks into sessions, and sends to them. */
import { defined } from "@belay/core/Fields"
import type { Host } from "@belay/server/Host"
import type { Outcome } from "@belay/server/Outcome"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { exitWith, optional, print, toggle, usageError } from "../flags.ts"
import type { Screen } from "../screen.ts"
import { commandError } from "../usage.ts"
import { dead, drop, erase, move, page, retry } from "./care.ts"
import { conversationText, listText, outcomeText, overviewText } from "./texts.ts"
import { shared, withHost } from "./withHost.ts"

const states = ["dead", "stuck", "waiting", "busy"] as const

const statuses = ["idle", "open", "suspended", "limited"] as const

const wait = toggle("wait", "Wait for the outcome. A process has to run the sessions meanwhile")
const session = Argument.String("session").pipe(Argument.withDescription("The id of the session"))

const list = (screen: Screen) =>
  Command.make("list", {
    ...shared,
    status: Flag.Literals("status", statuses).pipe(
      Flag.withDescription("Only sessions that wait for nothing, a process, people, or a higher limit"),
      Flag.optional
    ),
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many to look at. Default 50"), Flag.withDefault(50)),
    before: optional("before", "The end of the page before: only sessions that changed before it")
  }, ({ before, limit, status, ...where }) =>
    Effect.gen(function*() {
      const end = Option.isNone(before) ? undefined : Number(before.value)
      if (limit < 1) return yield* usageError("--limit is a number from 1 on")
      if (end !== undefined && !Number.isFinite(end)) {
        return yield* usageError("--before is the number that the page before has ended with")
      }
      const wanted = Option.getOrUndefined(status)
      yield* withHost(where, (host) =>
        Effect.gen(function*() {
          const page = yield* host.list({ limit, ...defined({ before: end }) })
          const found = wanted === undefined ? page : page.filter((one) => one.status === wanted)
          const next = page.length < limit ? undefined : page.at(-1)?.updatedAt
          yield* print(where.json, () => ({ sessions: found, next }), () => listText(found, next, screen))
        }))
    })).pipe(Command.withDescription("Lists sessions, the one that changed last first"))

const open = (screen: Screen) =>
  Command.make("open", {
    ...shared,
    state: Flag.Literals("state", states).pipe(Flag.withDescription("Only sessions in this state"), Flag.optional),
    stuckAfter: Flag.Int("stuck-after").pipe(
      Flag.withDescription("After how many seconds without anything happening a session is stuck. Default 300"),
      Flag.withDefault(300)
    )
  }, ({ state, stuckAfter, ...where }) =>
    Effect.gen(function*() {
      if (stuckAfter < 1) return yield* usageError("--stuck-after is a number of seconds from 1 on")
      yield* withHost(where, (host) =>
        Effect.gen(function*() {
          const wanted = defined({ state: Option.getOrUndefined(state) })
          const found = yield* host.overview({ ...wanted, stuckMs: stuckAfter * 1_000 })
          yield* print(where.json, () => ({ sessions: found }), () => overviewText(found, screen))
        }))
    })).pipe(Command.withDescription("Lists the sessions with something unfinished, and what each waits for"))

const show = (screen: Screen) =>
  Command.make(
    "show",
    { session, ...shared },
    ({ session: id, ...where }) =>
      withHost(where, (host) =>
        Effect.gen(function*() {
          const found = yield* host.conversation(id)
          if (found === undefined) return yield* commandError(`there is no session ${id}`)
          yield* print(where.json, () => found, () => conversationText(id, found, screen))
        }))
  ).pipe(
    Command.withDescription("Shows the conversation, what waits, and the open questions with how to answer them")
  )

const send = (screen: Screen) =>
  Command.make("send", {
    session,
    message: Argument.String("message").pipe(Argument.withDescription("The message")),
    ...shared,
    wait,
    key: optional("key", "Identifies the message: sending it again does nothing. Default: a random one"),
    at: optional("at", "When it is due, such as 2030-01-31T09:00:00Z. Default: now"),
    tenant: optional("tenant", "Who it counts for, where the capacity has a limit per tenant"),
    steer: toggle("steer", "Deliver it to the running turn")
  }, ({ at, key, message, session: id, steer, tenant, wait: waits, ...where }) =>
    Effect.gen(function*() {
      const due = Option.isNone(at) ? undefined : Date.parse(at.value)
      if (Number.isNaN(due)) return yield* usageError("--at is a date, such as 2030-01-31T09:00:00Z")
      const options = {
        ...defined({ key: Option.getOrUndefined(key), tenant: Option.getOrUndefined(tenant), at: due }),
        ...(steer ? { mode: "steer" as const } : {})
      }
      yield* withHost(where, (host) =>
        Effect.flatMap(host.send(id, message, options), (sent) => finish(host, id, sent, waits, where.json, screen)))
    })).pipe(Command.withDescription("Sends a message to a session"))

const decide = (screen: Screen) =>
  Command.make("decide", {
    session,
    callId: Argument.String("callId").pipe(Argument.withDescription("The tool call; belay sessions show has it")),
    // The names of the decisions that need nothing else.
    decision: Argument.Literals("decision", ["approve", "deny"] as const).pipe(
      Argument.withDescription("approve or deny")
    ),
    ...shared,
    wait,
    reason: optional("reason", "Why it is denied. The model reads it")
  }, ({ callId, decision, reason, session: id, wait: waits, ...where }) =>
    Effect.gen(function*() {
      if (decision === "approve" && Option.isSome(reason)) return yield* usageError("--reason is for deny")
      const given = decision === "approve"
        ? { type: "approve" } as const
        : { type: "deny", reason: Option.getOrElse(reason, () => "a person denied it") } as const
      yield* withHost(where, (host) =>
        Effect.gen(function*() {
          const found = yield* host.conversation(id)
          const pending = found === undefined || found.waiting.type === "nothing" ? [] : found.waiting.pending
          if (!pending.some((one) => one.callId === callId)) {
            const open = pending.length === 0
              ? "no question is open"
              : `open are ${pending.map((one) => one.callId).join(", ")}`
            return yield* commandError(`session ${id} has no open question with the id ${callId}: ${open}`)
          }
          const sent = yield* host.decide(id, { [callId]: given })
          yield* finish(host, id, sent, waits, where.json, screen)
        }))
    })).pipe(Command.withDescription("Answers an open question of a session"))

const cancel = (screen: Screen) =>
  Command.make("cancel", {
    session,
    key: Argument.String("key").pipe(Argument.withDescription("The key of the message")),
    ...shared,
    wait
  }, ({ key, session: id, wait: waits, ...where }) =>
    withHost(where, (host) =>
      Effect.gen(function*() {
        if ((yield* host.status(id, key)) === undefined) {
          return yield* commandError(`session ${id} has no message with the key ${key}`)
        }
        const sent = yield* host.cancel(id, key)
        yield* finish(host, id, sent, waits, where.json, screen)
      }))).pipe(Command.withDescription("Cancels a message that waits, runs, or waits for people"))

/** Prints the key, or the outcome if somebody waits for it. */
const finish = (
  host: Host,
  sessionId: string,
  sent: { readonly key: string; readonly type: string },
  waits: boolean,
  json: boolean,
  screen: Screen
) =>
  Effect.gen(function*() {
    if (!waits) return yield* print(json, () => sent, () => sent.key)
    const outcome = yield* host.result(sessionId, sent.key)
    yield* print(json, () => ({ key: sent.key, outcome }), () => outcomeText(sessionId, sent.key, outcome, screen))
    yield* exitWith(codeOf(outcome))
  })

const codeOf = ({ status }: Outcome): 0 | 1 | 3 => {
  switch (status) {
    case "completed":
    case "delivered":
    case "cancelled":
      return 0
    case "suspended":
      return 3
    default:
      return 1
  }
}

export const sessions = (screen: Screen) =>
  Command.make("sessions").pipe(
    Command.withDescription("Looks into the sessions of a host, and sends to them"),
    Command.withSubcommands([
      list(screen),
      open(screen),
      show(screen),
      send(screen),
      decide(screen),
      cancel(screen),
      dead(screen),
      retry,
      drop,
      move,
      erase,
      page
    ])
  )
