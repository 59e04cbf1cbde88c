/** `belay guard log`: what was decided, and where the guard could not work. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { existsSync, readFileSync } from "node:fs"
import { optional, print, usageError } from "../flags.ts"
import { plain, type Screen, styleOf } from "../screen.ts"
import { hereOf, shared } from "./places.ts"
import type { Places } from "./run/places.ts"

/** One line of the log. */
interface Line {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly session: string
  readonly what: string
  readonly decision: string
  readonly by: string
  readonly reason: string
}

export const log = (screen: Screen) =>
  Command.make("log", {
    session: optional("session", "Only this session, such as claude.<id>, or a system"),
    last: Flag.Int("last").pipe(Flag.withDescription("How many lines. Default: 50"), Flag.withDefault(50)),
    every: Flag.Boolean("all").pipe(
      Flag.withDescription("Also calls that ran"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    ...shared
  }, (given) =>
    Effect.gen(function*() {
      const { places } = yield* hereOf(given)
      if (given.last < 1) return yield* usageError("--last: expected at least 1")
      const wanted = Option.getOrElse(given.session, () => "")
      const lines = linesOf(places, given.every).filter(({ session }) => isOf(session, wanted)).slice(-given.last)
      yield* print(given.json, () => lines, () => textOf(lines, places, screen))
    })).pipe(
      Command.withDescription("Shows what was decided, and why. `belay backtest` tries other hooks on the same file")
    )

/** A session with its sub-agents, or all sessions of a system. */
const isOf = (session: string, wanted: string): boolean =>
  wanted === "" || session === wanted || session.startsWith(`${wanted}.`)

/** Reads both files. A line that was cut off is left out. */
const linesOf = (places: Places, every: boolean): ReadonlyArray<Line> =>
  [
    ...jsonLines(places.log).flatMap((one) => decisionOf(one, every)),
    ...jsonLines(places.failures).flatMap((one): ReadonlyArray<Line> => {
      const { event, reason, session, system, time } = fieldsOf(one)
      return [{
        time: Number(time),
        session: textIn(session ?? system),
        what: textIn(event),
        decision: "failed",
        by: "guard",
        reason: textIn(reason)
      }]
    })
  ].sort((one, other) => one.time - other.time)

/** The lines of a file, and those before them that were moved to another one. */
const jsonLines = (path: string): ReadonlyArray<unknown> =>
  [`${path}.1`, path].flatMap((one) =>
    existsSync(one)
      ? readFileSync(one, "utf8").split("\n").flatMap((line) =>
        Result.match(Result.try((): unknown => JSON.parse(line)), {
          onSuccess: (value) => [value],
          onFailure: () => []
        })
      )
      : []
  )

type Fields = { readonly [field: string]: unknown }
const fieldsOf = (value: unknown): Fields => Object(value) as Fields
const textIn = (value: unknown): string => typeof value === "string" ? value : ""

/** Each refusal is in the recording as the event of the agent, each call that ran as an input of its point. */
const decisionOf = (one: unknown, every: boolean): ReadonlyArray<Line> => {
  const { decision, event, point, sessionId, time, type } = fieldsOf(one)
  if (type === "event") return eventOf(fieldsOf(event))
  if (type !== "input") return []
  const { action, by, reason } = fieldsOf(decision)
  const { call, name } = fieldsOf(event)
  const tool = name ?? fieldsOf(call)["name"]
  const line = {
    time: Number(time),
    session: String(sessionId),
    what: String(tool ?? point),
    by: textIn(by),
    reason: textIn(reason)
  }
  if (point === "preToolCall" && action === undefined) return every ? [{ ...line, decision: "allowed" }] : []
  const isOfTool = point === "preToolCall" || point === "onPermission" || point === "onToolDenied"
  if (action === undefined || isOfTool) return []
  return [{ ...line, what: String(point), decision: textIn(action).toLowerCase() }]
}

const eventOf = (event: Fields): ReadonlyArray<Line> => {
  const { ask, by, call, reason, sessionId, time, type } = event
  const line = { time: Number(time), session: String(sessionId) }
  if (type === "tool-denied") {
    return [{
      ...line,
      what: String(fieldsOf(call)["name"]),
      decision: "denied",
      by: String(by),
      reason: String(reason)
    }]
  }
  if (type === "ask") {
    const { by: asker, reason: why, tool } = fieldsOf(ask)
    return [{ ...line, what: String(tool), decision: "asked", by: String(asker), reason: String(why) }]
  }
  if (type === "decided") {
    const { by: who = "person", callId, decision } = event
    return [{ ...line, what: String(callId), decision: String(decision), by: String(who), reason: "" }]
  }
  return []
}

const textOf = (lines: ReadonlyArray<Line>, { log: path }: Places, screen: Screen): string => {
  const { bold, dim, green, red, yellow } = styleOf(screen)
  const paint = (decision: string) =>
    decision === "allowed" || decision === "approve" ? green : decision === "asked" ? yellow : red
  if (lines.length === 0) return `Nothing was decided yet (${plain(path)}).`
  return [
    ...lines.map(({ by, decision, reason, session, time, what }) =>
      [
        dim(new Date(time).toISOString().slice(0, 19)),
        paint(decision)(plain(decision).padEnd(8)),
        bold(plain(what)),
        plain(`${reason}${by === "" ? "" : ` (${by})`}`),
        dim(plain(session))
      ].join("  ")
    ),
    "",
    dim(`belay backtest ${plain(path)} --hook <file> tries other hooks on it.`)
  ].join("\n")
}
