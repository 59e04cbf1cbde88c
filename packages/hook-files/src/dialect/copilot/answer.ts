/** What hooks of GitHub Copilot say with their exit code and output, and what several of them say together. */
import type { JsonObject } from "@belay/core/Json"
import type { ToolResult } from "@belay/core/Tool"
import type { Finished } from "../../process/Command.ts"
import type { Outcome } from "../claude/Outcome.ts"
import { cap, type Fields, isFields, parse, reader } from "../shared/fields.ts"
import { type Counting, isMeant, lost, unheard } from "../shared/strayAnswer.ts"
import type { EventName, Handler } from "./config.ts"

/** What one hook wants: of a field that several set the last counts. */
interface Wish {
  /** At `preToolUse`, where it does not deny. */
  readonly permission?: "allow" | "ask"
  readonly permissionReason?: string
  readonly args?: JsonObject
  /** At `permissionRequest`. */
  readonly behavior?: "allow" | "deny"
  readonly behaviorReason?: string
  readonly interrupt?: boolean
  /** When an agent stops: the prompt that keeps it going, or false. */
  readonly block?: string | false
  readonly response?: string
  readonly result?: ToolResult
  readonly prompt?: string
  readonly transformed?: string
  readonly handling?: "retry" | "skip" | "abort"
  readonly retries?: number
  readonly stop?: string
}

/** What one hook says. */
export interface Said {
  readonly outcome: Outcome["type"]
  /** Why it is no success, for the developer. */
  readonly problem?: string
  readonly denied?: string
  /** Why a person is to decide, whatever others allow. */
  readonly asks?: string
  readonly context?: string
  /** For the user. */
  readonly message?: string
  readonly wish: Wish
  readonly problems: ReadonlyArray<string>
  readonly progress: ReadonlyArray<JsonObject>
}

/** What all hooks of one event say. */
export interface Verdict extends Wish {
  /** The reasons of all that deny a tool, a line each. */
  readonly denied?: string
  readonly contexts: ReadonlyArray<string>
}

/** Where an entry that broke may deny. */
const guards: ReadonlySet<EventName> = new Set([
  "userPromptSubmitted",
  "userPromptTransformed",
  "preToolUse",
  "preMcpToolCall",
  "permissionRequest"
])

/**
 * Reads how a hook ended. One that may not run cannot say no: where it could have, a person decides. With
 * `blockOnError` that one, and one that broke, denies a prompt, a tool call or a permission.
 */
export const read = (handler: Pick<Handler, "pascal" | "point" | "work">, blockOnError: boolean) =>
(
  finished: Finished,
  refused: string | undefined
): Said => {
  const said = refused === undefined ? heard(handler, finished) : unrun(handler, refused, blockOnError)
  return blockOnError && guards.has(handler.point) &&
      (said.outcome === "nonBlockingError" || said.outcome === "cancelled")
    ? { ...said, outcome: "blocking", denied: cap(`a hook broke: it ${said.problem}`) }
    : said
}

const unrun = ({ point }: Pick<Handler, "point">, refused: string, blockOnError: boolean): Said => ({
  outcome: "nonBlockingError",
  problem: `was not run: ${refused}`,
  wish: {},
  problems: [],
  progress: [],
  ...(!blockOnError && (point === "preToolUse" || point === "permissionRequest") ? { asks: refused } : {})
})

/**
 * Lines of progress are no part of what a command says; the rest is one JSON object, or nothing. Only 0 is a success.
 * At `preToolUse` a command that ends otherwise denies, unless it took too
 * long; at `permissionRequest` 2 denies; at `postToolUseFailure` it is advice for the model; anywhere else it is a
 * warning.
 */
const heard = ({ pascal, point, work }: Pick<Handler, "pascal" | "point" | "work">, finished: Finished): Said => {
  const { exitCode, overflowed, stderr, stdout, timedOut } = finished
  const { progress, rest } = split(stdout)
  const json = isObject(rest)
  const decoded = decode(json ?? {}, point, pascal)
  const stray = json === undefined ? isMeant(rest) ? [lost] : [] : unheard(json, counts(point, pascal), point)
  const said = { ...decoded, problems: [...decoded.problems, ...stray], progress }
  const silent = { wish: {}, problems: [], progress }
  if (timedOut) return { ...silent, outcome: "cancelled", problem: "took too long and was ended" }
  const { behavior, block, stop } = said.wish
  const blocks = said.denied !== undefined || stop !== undefined || behavior === "deny" || typeof block === "string"
  if (exitCode === 0) return { ...said, outcome: blocks ? "blocking" : "success" }
  const error = cap(stderr.trim())
  const first = error.split("\n", 1)[0]!
  const how = overflowed
    ? "wrote too much and was ended"
    : exitCode === undefined
    ? "was killed"
    : `ended with ${exitCode}`
  const problem = first === "" ? how : `${how}: ${first}`
  if (work.type === "command" && point === "preToolUse") {
    const errored = `Denied by preToolUse hook (hook errored)${error === "" ? "" : `: ${error}`}`
    const reason = exitCode === 2 ? said.reason ?? (error || "Denied by preToolUse hook") : errored
    return { ...said, outcome: "blocking", denied: reason, ...(exitCode === 2 ? {} : { problem }) }
  }
  if (work.type === "command" && exitCode === 2 && point === "permissionRequest") {
    return { ...said, outcome: "blocking", wish: { ...said.wish, behavior: "deny" } }
  }
  if (work.type === "command" && exitCode === 2 && point === "postToolUseFailure") {
    const advice = [said.context, json === undefined ? rest : "", error].filter((text) =>
      text !== undefined && text !== ""
    )
    return { ...silent, outcome: "success", ...(advice.length === 0 ? {} : { context: advice.join("\n") }) }
  }
  return {
    ...silent,
    outcome: "nonBlockingError",
    problem,
    ...(exitCode === 2 && error !== "" ? { message: error } : {})
  }
}

/**
 * Any that denies a tool denies it, and what one asks about no other allows; of everything else the last word counts.
 */
export const merge = (all: ReadonlyArray<Said>): Verdict => {
  const denied = all.flatMap((said) => said.denied === undefined ? [] : [said.denied])
  const { behavior, ...wish } = all.reduce<Wish>((before, { wish }) => ({ ...before, ...wish }), {})
  const asks = all.find((said) => said.asks !== undefined)?.asks
  return {
    ...wish,
    ...(behavior === undefined || (behavior === "allow" && asks !== undefined) ? {} : { behavior }),
    ...(asks === undefined ? {} : { permission: "ask", permissionReason: asks }),
    ...(denied.length === 0 ? {} : { denied: denied.join("\n") }),
    contexts: all.flatMap(({ context }) => context === undefined ? [] : [context])
  }
}

const isObject = (text: string): Fields | undefined => {
  const value = parse(text)
  return isFields(value) ? value : undefined
}

const split = (stdout: string): { readonly progress: ReadonlyArray<JsonObject>; readonly rest: string } => {
  const progress: Array<JsonObject> = []
  const rest = stdout.split("\n").filter((line) => {
    const json = line.includes("\"progress\"") ? isObject(line.trim()) : undefined
    if (json?.["type"] !== "progress") return true
    const { message, temporary } = json
    if (typeof message === "string") progress.push({ message: cap(message), temporary: temporary === true })
    return false
  })
  return { progress: progress.slice(0, 100), rest: rest.join("\n").trim() }
}

const context = ["additionalContext"]

/** What counts at an event, at the top, in `hookSpecificOutput`, or in either. */
const table: {
  readonly [E in EventName]: Partial<Counting> & { readonly either?: ReadonlyArray<string>; readonly stops?: true }
} = {
  sessionStart: { either: context, stops: true },
  sessionEnd: {},
  userPromptSubmitted: { either: ["modifiedPrompt", ...context], stops: true },
  userPromptTransformed: { either: ["modifiedTransformedPrompt"] },
  preToolUse: {
    either: ["permissionDecision", "modifiedArgs", ...context],
    top: ["decision"],
    inner: ["updatedInput"],
    stops: true
  },
  preMcpToolCall: {},
  postToolUse: { either: ["modifiedResult", ...context], stops: true },
  postToolUseFailure: { either: context, stops: true },
  agentStop: { either: ["decision"], stops: true },
  subagentStart: { either: context },
  subagentStop: { either: ["decision", "modifiedResponse"], stops: true },
  errorOccurred: { top: ["errorHandling"] },
  preCompact: {},
  permissionRequest: { either: ["decision"], top: ["behavior"] },
  notification: { either: context }
}

/** Names in Pascal case have what Claude has besides. */
const counts = (point: EventName, pascal: boolean): Counting => {
  const { either = [], inner = [], stops, top = [] } = table[point]
  const more = [
    "systemMessage",
    ...(stops === true ? ["continue"] : []),
    ...(point === "postToolUse" ? ["decision"] : [])
  ]
  return { top: [...either, ...top, ...(pascal ? more : [])], inner: [...either, ...inner] }
}

type Decoded = Omit<Said, "outcome" | "progress"> & { readonly reason?: string }

/** Fields stand at the top or, as other tools have it, in `hookSpecificOutput`. */
const decode = (json: Fields, point: EventName, pascal: boolean): Decoded => {
  const { fields, flag, object, oneOf, problems, text } = reader()
  const inner = fields(json, "hookSpecificOutput") ?? {}
  const from = (key: string): Fields => Object.hasOwn(json, key) ? json : inner
  const reason = text(from("permissionDecisionReason"), "permissionDecisionReason")
  const context = text(from("additionalContext"), "additionalContext")
  const message = pascal ? text(json, "systemMessage") : undefined
  const stop = pascal && flag(json, "continue") === false
    ? cap(text(json, "stopReason") ?? "stopped by a hook")
    : undefined
  const decoded = (wish: Wish, more: Partial<Decoded> = {}): Decoded => ({
    wish: { ...wish, ...(stop === undefined ? {} : { stop }) },
    problems,
    ...(reason === undefined ? {} : { reason: cap(reason) }),
    ...(context === undefined || context.trim() === "" ? {} : { context }),
    ...(message === undefined || message === "" ? {} : { message: cap(message) }),
    ...more
  })
  /** A text that is not empty. */
  const some = (key: string): string | undefined => {
    const found = text(from(key), key)
    if (found === "") problems.push(`${key} does not count: expected a text that is not empty`)
    return found === "" ? undefined : found
  }
  switch (point) {
    case "preToolUse": {
      const old = oneOf(json, "decision", "approve", "allow", "block", "deny")
      const decision = oneOf(from("permissionDecision"), "permissionDecision", "allow", "deny", "ask") ??
        (old === "block" || old === "deny" ? "deny" : undefined)
      const args = object(from("modifiedArgs"), "modifiedArgs") ?? object(inner, "updatedInput")
      const why = cap(reason ?? text(json, "reason") ?? "Denied by preToolUse hook")
      return decoded({
        ...(decision === undefined || decision === "deny" ? {} : { permission: decision }),
        ...(decision === "ask" && reason !== undefined ? { permissionReason: cap(reason) } : {}),
        ...(args === undefined ? {} : { args })
      }, decision === "deny" ? { denied: why } : {})
    }
    case "permissionRequest": {
      const nested = Object.hasOwn(json, "behavior")
        ? json
        : fields(inner, "decision") ?? fields(json, "decision") ?? json
      const [behavior, why] = [oneOf(nested, "behavior", "allow", "deny"), text(nested, "message")]
      return decoded({
        ...(behavior === undefined ? {} : { behavior }),
        ...(why === undefined ? {} : { behaviorReason: cap(why) }),
        ...(flag(nested, "interrupt") === true ? { interrupt: true } : {})
      })
    }
    case "agentStop":
    case "subagentStop": {
      const decision = oneOf(from("decision"), "decision", "block", "allow", "approve")
      const why = text(from("reason"), "reason")
      const response = point === "subagentStop" ? text(from("modifiedResponse"), "modifiedResponse") : undefined
      return decoded({
        ...(decision === undefined
          ? {}
          : { block: decision === "block" && cap(why || "Go on: a hook does not let you stop yet.") }),
        ...(response === undefined ? {} : { response })
      })
    }
    case "postToolUse": {
      const given = fields(from("modifiedResult"), "modifiedResult")
      const shown = given === undefined ? undefined : text(given, "textResultForLlm")
      if (given !== undefined && shown === undefined) {
        problems.push("modifiedResult does not count: expected a textResultForLlm")
      }
      const type = given === undefined
        ? undefined
        : oneOf(given, "resultType", "success", "failure", "denied", "rejected", "error")
      const feedback = pascal && oneOf(json, "decision", "block", "approve") === "block"
        ? text(json, "reason")
        : undefined
      const all = [context, feedback].filter((one) => one !== undefined && one.trim() !== "")
      const result: ToolResult | undefined = shown === undefined
        ? undefined
        : (type ?? "success") === "success"
        ? { ok: true, output: shown }
        : { ok: false, error: shown }
      return decoded(result === undefined ? {} : { result }, all.length === 0 ? {} : { context: all.join("\n\n") })
    }
    case "userPromptSubmitted": {
      const prompt = some("modifiedPrompt")
      return decoded(prompt === undefined ? {} : { prompt })
    }
    case "userPromptTransformed": {
      const transformed = some("modifiedTransformedPrompt")
      return decoded(transformed === undefined ? {} : { transformed })
    }
    case "errorOccurred": {
      const handling = oneOf(json, "errorHandling", "retry", "skip", "abort")
      const retries = json["retryCount"]
      const note = text(json, "userNotification")
      return decoded({
        ...(handling === undefined ? {} : { handling }),
        ...(Number.isSafeInteger(retries) && (retries as number) >= 0 ? { retries: retries as number } : {})
      }, note === undefined || note === "" ? {} : { message: cap(note) })
    }
    case "preMcpToolCall":
      if (json["metaToUse"] !== undefined) {
        problems.push("metaToUse does not count: calls of servers carry no metadata of hooks")
      }
      return decoded({})
    case "sessionStart":
    case "sessionEnd":
    case "subagentStart":
    case "postToolUseFailure":
    case "preCompact":
    case "notification":
      return decoded({})
  }
}
