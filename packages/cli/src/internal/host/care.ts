/** `belay sessions` for who looks after a host: dead messages, erasing, releases, and the page. */
import { defined } from "@belay/core/Fields"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { exitWith, optional, print, toggle, usageError } from "../flags.ts"
import { count, plain, type Screen, styleOf } from "../screen.ts"
import { commandError } from "../usage.ts"
import { shared, withHost } from "./withHost.ts"

const session = Argument.String("session").pipe(Argument.withDescription("The id of the session"))
const key = Argument.String("key").pipe(Argument.withDescription("The key of the message"))
const yes = toggle("yes", "Do it. Without it, the command only says what it would do")

export const dead = (screen: Screen) =>
  Command.make("dead", {
    ...shared,
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many to list. Default 50"), Flag.withDefault(50)),
    after: optional("after", "The number that the page before has ended with")
  }, ({ after, limit, ...where }) =>
    Effect.gen(function*() {
      const from = Option.isNone(after) ? undefined : Number(after.value)
      if (limit < 1) return yield* usageError("--limit is a number from 1 on")
      if (from !== undefined && !Number.isSafeInteger(from)) {
        return yield* usageError("--after is the number that the page before has ended with")
      }
      yield* withHost(where, (host) =>
        Effect.gen(function*() {
          const found = yield* host.entries({ status: "dead", limit, ...defined({ after: from }) })
          const next = found.length < limit ? undefined : found.at(-1)?.seq
          yield* print(where.json, () => ({ messages: found, next }), () => {
            const { bold, dim } = styleOf(screen)
            const rows = found.flatMap(({ key, outcome, sessionId }) => [
              `${bold(plain(sessionId))}  ${plain(key)}`,
              dim(`  ${plain(String(Object(outcome).reason ?? "it was given up"))}`)
            ])
            return [
              ...(rows.length === 0 ? ["no dead messages"] : rows),
              ...(next === undefined ? [] : [`next page: --after ${next}`])
            ].join("\n")
          })
        }))
    })).pipe(Command.withDescription("Lists the messages that were given up, and why"))

export const retry = Command.make(
  "retry",
  { session, key, ...shared },
  ({ key, session: id, ...where }) =>
    withHost(where, (host) =>
      Effect.gen(function*() {
        if (!(yield* host.retry(id, key))) return yield* commandError(`session ${id} has no dead message ${key}`)
        yield* print(where.json, () => ({ retried: key }), () => `${plain(key)} waits again`)
      }))
).pipe(Command.withDescription("Lets a dead message wait again, with no attempts"))

export const drop = Command.make(
  "drop",
  { session, key, yes, ...shared },
  ({ key, session: id, yes, ...where }) =>
    withHost(where, (host) =>
      Effect.gen(function*() {
        const status = yield* host.status(id, key)
        if (status?.status !== "dead") return yield* commandError(`session ${id} has no dead message ${key}`)
        if (!yes) {
          yield* print(
            where.json,
            () => ({ wouldDrop: key }),
            () => `would remove ${plain(key)} of session ${plain(id)}. Nobody can undo it: add --yes to do it`
          )
          return yield* exitWith(1)
        }
        yield* host.drop(id, key)
        yield* print(where.json, () => ({ dropped: key }), () => `${plain(key)} is removed`)
      }))
).pipe(Command.withDescription("Removes a dead message"))

export const erase = Command.make("erase", {
  session: optional("session", "The id of a session; those that continue it are erased too"),
  principal: optional("principal", "A person: who a server has authorized, or the tenant of messages"),
  yes,
  ...shared
}, ({ principal, session, yes, ...where }) =>
  Effect.gen(function*() {
    const [id, person] = [Option.getOrUndefined(session), Option.getOrUndefined(principal)]
    if ((id === undefined) === (person === undefined)) return yield* usageError("give --session or --principal")
    const target = id === undefined ? { principal: person! } : { session: id }
    yield* withHost(where, (host) =>
      Effect.gen(function*() {
        if (!yes) {
          const what = id === undefined ? `everything of ${plain(person!)}` : `session ${plain(id)}`
          yield* print(
            where.json,
            () => ({ wouldErase: target }),
            () => `would erase ${what}. Nobody can undo it: add --yes to do it`
          )
          return yield* exitWith(1)
        }
        const receipt = yield* host.erase(target)
        yield* print(where.json, () => receipt, () =>
          [
            `erased ${count(receipt.sessions.length, "session")}, ${count(receipt.messages, "message")}, ` +
            `${count(receipt.entries, "entry", "entries")} of the inbox, ${count(receipt.artifacts, "artifact")}`,
            ...(receipt.isCompacted ? [] : ["the file still has the bytes, because others read it: erase again"]),
            ...receipt.running.map((one) => `the turn of ${plain(one)} did not stop in time: erase again`)
          ].join("\n"))
        yield* exitWith(receipt.isCompacted && receipt.running.length === 0 ? 0 : 1)
      }))
  })).pipe(Command.withDescription("Erases everything that the store has about a session or a person"))

export const move = Command.make("move", {
  session,
  release: Argument.String("release").pipe(
    Argument.withDescription("The release that goes on with it. Without it, any release may"),
    Argument.optional
  ),
  ...shared
}, ({ release, session: id, ...where }) =>
  withHost(where, (host) =>
    Effect.gen(function*() {
      const to = Option.getOrUndefined(release)
      if ((yield* host.conversation(id)) === undefined) return yield* commandError(`there is no session ${id}`)
      yield* host.move(id, to)
      yield* print(
        where.json,
        () => ({ moved: id, to }),
        () =>
          `${plain(id)} ${to === undefined ? "belongs to no release any more" : `belongs to the release ${plain(to)}`}`
      )
    }))).pipe(Command.withDescription("Moves a session that is pinned to a release to another one"))

export const page = Command.make("page", {
  ...shared,
  port: Flag.Int("port").pipe(Flag.withDescription("The port; 0, the default, takes a free one"), Flag.withDefault(0))
}, ({ port, ...where }) =>
  Effect.gen(function*() {
    if (!(port >= 0 && port < 65_536)) return yield* usageError("--port is a number from 0 to 65535")
    // Loaded here, so that other commands start faster.
    const { servePage } = yield* Effect.promise(() => import("./page.ts"))
    yield* withHost(where, (host) => servePage(host, port))
  })).pipe(
    Command.withDescription("Serves a page for this machine with what each session waits for, until it is stopped")
  )
