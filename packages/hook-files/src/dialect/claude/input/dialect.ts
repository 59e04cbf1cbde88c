/** Defines the dialect of Claude Code, and of Codex, whose settings files are similar. */
import type { HookContext } from "@belay/core/HookContext"
import { digest, type JsonObject } from "@belay/core/Json"
import * as Condition from "@belay/hooks/Condition"
import type { Dialect } from "../../../engine/Dialect.ts"
import { type Answer, silent } from "../answer/answer.ts"
import { detachMs } from "../answer/readAnswer.ts"
import { merge, type Verdict } from "../answer/verdict.ts"
import type { Handler } from "../config/HookConfig.ts"
import { rowOf } from "../event/events.ts"
import type { Flavor } from "./flavor.ts"
import { foldersOf, workWithFolders } from "./request.ts"

export type Variables = { readonly [name: string]: string }

/**
 * What entries read about an event. The payload is built only when an entry runs, because most calls match no entry.
 */
export interface Input {
  readonly payload: () => JsonObject
  readonly env?: () => Variables
  /** The tool call that conditions are compared with. Its names are those that settings files use. */
  readonly call?: Condition.Call | undefined
}

export interface Options {
  readonly flavor: Flavor
  readonly projectDir: string
  readonly env: Variables
  readonly home: string
  readonly concurrency: number
  /** Whether `allow` of a project's entry can answer a question of the policy. */
  readonly projectAllows: boolean
  /** Returns whether the plugin, skill or agent of an entry is active. */
  readonly isActive: (entry: Handler, ctx: HookContext) => boolean
}

export const make = (options: Options): Dialect<Handler, Input, Answer, Verdict> => {
  const { concurrency, env, flavor, home, isActive, projectAllows } = options
  return {
    name: flavor.name,
    matches: ({ matcher }, subjects) => subjects.some((subject) => matcher.test(subject)),
    applies: (entry, { call }, ctx) =>
      (entry.rule === undefined || holds(entry.rule, call, ctx, home)) &&
      (entry.origin === undefined || isActive(entry, ctx)),
    ...(flavor.runsTwinsOnce ? { identity } : {}),
    onceId: (entry) => entry.once === true ? digest([entry.event, identity(entry)]) : undefined,
    concurrency: () => concurrency,
    async: {
      // At the end of a session, the engine waits for every entry.
      isAsync: (entry) => entry.async === true && entry.event !== "SessionEnd",
      detachMs: (line, { event }) => event === "SessionEnd" ? undefined : detachMs(line),
      wakeText: ({ exitCode, stderr, stdout }, { rewake }) =>
        rewake === true && exitCode === 2 ? stderr.trim() || stdout.trim() || undefined : undefined,
      isDelivered: ({ context, messages }) => context.length + messages.length > 0
    },
    request: (entry, input, ctx, { entries }) => ({
      input: input.payload(),
      cwd: ctx.cwd,
      timeoutMs: timeoutOf(entry, entries, flavor) * 1_000,
      env: { ...entry.env, ...env, ...foldersOf(entry, options), ...input.env?.() },
      work: workWithFolders(entry, options)
    }),
    decode: (ending, entry) => {
      if (ending.type !== "finished") return silent
      const answer = flavor.read(ending.finished, entry.event, entry.work)
      if (rowOf(entry.event).ignoresAnswers === true && answer.problem === undefined) {
        return { ...silent, outcome: answer.outcome }
      }
      return entry.trusted === "project" && !projectAllows ? withoutAllow(answer) : answer
    },
    silent,
    guards: ({ event }) => event === "PermissionRequest" || event === "PreToolUse" || event === "UserPromptSubmit",
    deny: (blocked) => ({ blocked }),
    ask: (permissionReason, { async, event }) =>
      async !== true && (event === "PreToolUse" || event === "PermissionRequest")
        ? { permission: "ask", permissionReason, isRefused: true }
        : undefined,
    merge: (answers) => merge(answers, flavor.separator),
    conflicts: (verdict) => verdict.conflicts
  }
}

/** Removes `allow`, because an entry of a project must not allow anything. */
const withoutAllow = (answer: Answer): Answer => {
  if (answer.outcome !== "success" || answer.permission !== "allow") return answer
  const { permission: _permission, permissionReason: _reason, ...rest } = answer
  return rest
}

/** Returns whether a condition holds. A condition that cannot be evaluated counts as true. */
const holds = (
  rule: Condition.Rule | "never",
  call: Condition.Call | undefined,
  ctx: HookContext,
  home: string
): boolean =>
  rule !== "never" && call !== undefined && !isAboutEdits(rule, call) &&
  Condition.evaluate(rule, call, { cwd: ctx.cwd, home, use: "advice" }) !== "no-match"

/** As a permission, a rule about `Edit` is for all tools that change files. As a condition, it is not for `Write`. */
const isAboutEdits = (rule: Condition.Rule, call: Condition.Call): boolean =>
  rule.tool === "Edit" && call.tool === "Write"

/** The same entry in several settings files runs once. The same entry in two plugins or skills runs twice. */
const identity = ({ env = {}, origin, work }: Handler): string => JSON.stringify([work, origin?.root ?? null, env])

/**
 * Returns the timeout of an entry in seconds. At the end of a session the limit for every entry is the longest of all
 * timeouts, at least 1.5 and at most 60 seconds.
 */
const timeoutOf = ({ event, timeout, work }: Handler, entries: ReadonlyArray<Handler>, flavor: Flavor): number => {
  const short = flavor.shortEvents?.includes(event) === true
  // Codex gives these events 1 second, or as long as the entry wants, but at most 3 seconds.
  if (short) return Math.min(timeout ?? 1, 3)
  const seconds = timeout ??
    (work.type === "prompt" ? 30 : work.type === "agent" ? 60 : rowOf(event).timeout ?? flavor.timeout)
  if (event !== "SessionEnd") return seconds
  return Math.min(seconds, 60, Math.max(1.5, ...entries.map((entry) => entry.timeout ?? 0)))
}
