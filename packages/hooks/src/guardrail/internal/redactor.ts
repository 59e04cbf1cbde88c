/**
 * A hook that keeps values away from every place where they could be read: what `Redaction`, `Secrets` and
 * `RegexFilter` have in common.
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import { matcher } from "@belay/core/NamePattern"
import { failure, type ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HookDefaults from "../../HookDefaults.ts"
import * as Pattern from "../Pattern.ts"
import { type Engine, leastHold, Look, reveal, revealJson } from "./conceal.ts"
import type { Detector } from "./detect.ts"
import { label, make as makeVaults, type Vault } from "./vault.ts"

/** Where a hook looks. */
export type Place = "input" | "output" | "toolArguments" | "toolResults" | "history"

/** What a place is called in a reason. */
const words: { readonly [P in Place]: string } = {
  input: "a message",
  output: "an answer",
  toolArguments: "the arguments of a tool",
  toolResults: "the result of a tool",
  history: "a conversation"
}

/** What was found, never the value itself. */
export interface Detection {
  readonly kind: string
  readonly place: Place
  readonly count: number
  readonly sessionId: string
}

/** What users say of such a hook. */
interface Given extends HookDefaults.HookDefaults {
  /** Default: all of them. */
  readonly places?: ReadonlyArray<Place>
  /** Tools that receive the values. Default: none. */
  readonly revealTo?: string | ReadonlyArray<string>
  readonly revealToUser?: boolean
  readonly vault?: { readonly key: Uint8Array }
  readonly hold?: "untilPass" | { readonly chars: number }
  readonly onDetection?: (detection: Detection) => void
}

export interface Settings {
  readonly name: string
  readonly priority: number
  readonly engine: Engine
  /** What a kind is called in a reason. Default: its label. */
  readonly nameOf?: (kind: string) => string
}

/** What is known of a session besides its values. */
interface Known {
  /** Messages as they are sent, and how many values were known then. */
  readonly sent: WeakMap<Message, { readonly message: Message; readonly size: number }>
  /** Turns whose message was let in: asked again, the hook knows its own placeholders. */
  readonly begun: WeakSet<HookContext>
  /** Answers of other agents that were looked at already. */
  readonly delegated: Set<string>
}

/** Checks the options that hooks of this kind have in common. */
export const check = (
  key: string,
  detectors: ReadonlyArray<Detector>,
  options: {
    readonly allow?: ReadonlyArray<Pattern.Pattern>
    readonly places?: ReadonlyArray<Place>
    readonly vault?: { readonly key: Uint8Array }
    readonly hold?: "untilPass" | { readonly chars: number }
  }
): Result.Result<{ readonly allowed: (value: string) => boolean }, ConfigError> => {
  const { allow = [], hold, places, vault } = options
  const wrong = (option: string, message: string) =>
    Result.fail(new ConfigError({ key: `${key}.${option}`, message: `${key}.${option}: ${message}` }))
  const known = Object.keys(words)
  if (places?.length === 0) return wrong("places", "there is nowhere to look")
  const elsewhere = places?.find((place) => !known.includes(place))
  if (elsewhere !== undefined) {
    return wrong("places", `unknown place "${elsewhere}": expected one of ${known.join(", ")}`)
  }
  if (vault !== undefined && !(vault.key instanceof Uint8Array && vault.key.length === 32)) {
    return wrong("vault.key", "expected 32 bytes")
  }
  const least = leastHold(detectors)
  if (typeof hold === "object" && !(hold.chars >= least)) {
    return wrong("hold.chars", `expected at least ${least} for what is looked for, found ${String(hold.chars)}`)
  }
  return Result.map(Pattern.compile(allow, `${key}.allow`), ({ test }) => ({ allowed: test }))
}

const all = () => true
const none = () => false

/** Makes the hook. */
export const make = (options: Given, settings: Settings): AgentHook => {
  const { engine, nameOf = label } = settings
  const { onDetection, places } = options
  const at = (place: Place): boolean => places === undefined || places.includes(place)
  const revealTo = options.revealTo === undefined ? undefined : matcher(options.revealTo)
  const shadow = options.mode === "shadow"
  const vaults = makeVaults(options.vault?.key)
  const sessions = new Map<string, Known>()
  const wanted = options.tools === undefined ? all : matcher(options.tools)
  const hold = options.hold ?? { chars: leastHold(engine.detectors) }

  const known = ({ root: { sessionId } }: HookContext): Known => {
    const found = sessions.get(sessionId)
    if (found !== undefined) return found
    const made: Known = { sent: new WeakMap(), begun: new WeakSet(), delegated: new Set() }
    sessions.set(sessionId, made)
    return made
  }

  /** Has `f` take the values out of something, tells what was found, and says which kind may not pass. */
  const look = <A>(
    place: Place,
    ctx: HookContext,
    keeps: (placeholder: string, vault: Vault) => boolean,
    f: (look: Look, vault: Vault) => A,
    tells = true
  ): { readonly value: A; readonly blocked: string | undefined } =>
    vaults.use(ctx, (vault) => {
      const one = new Look(engine, vault, (placeholder) => keeps(placeholder, vault))
      const value = f(one, vault)
      if (one.full) ctx.warn("the vault of this session is full: further values are redacted and cannot be revealed")
      for (const [kind, count] of tells ? one.counts : []) {
        if (engine.strategy(kind) === "warn") ctx.warn(`${label(kind)} found in ${place} (${count})`)
        Result.try(() => onDetection?.({ kind, place, count, sessionId: ctx.sessionId }))
      }
      return { value, blocked: one.blocked }
    })

  const reason = (kind: string, place: Place) => `${nameOf(kind)} is not allowed in ${words[place]}`

  const blocked = (kind: string, place: Place) => HookAction.reject(reason(kind, place))

  /** The history as it is sent: every message is looked at once, and again when more values are known. */
  const history = (messages: ReadonlyArray<Message>, ctx: HookContext): ReadonlyArray<Message> => {
    const { sent } = known(ctx)
    const { value } = look("history", ctx, none, (_one, vault) => {
      const of = (message: Message): Message => {
        const before = sent.get(message)
        if (before !== undefined && before.size === vault.size) return before.message
        const own = message.role === "assistant"
        const mine = new Look(engine, vault, (placeholder) => own || vault.gave(placeholder))
        const made = mine.message(message)
        for (const [kind, count] of mine.counts) {
          Result.try(() => onDetection?.({ kind, place: "history", count, sessionId: ctx.sessionId }))
        }
        sent.set(message, { message: made, size: vault.size })
        sent.set(made, { message: made, size: vault.size })
        return made
      }
      let made = messages.map(of)
      const { size } = vault
      // What was learnt from a later message is looked for in the earlier ones too.
      if (messages.some((message) => sent.get(message)!.size !== size)) made = messages.map(of)
      return made.every((message, index) => message === messages[index]) ? messages : made
    })
    return value
  }

  const withheld = (tool: string, kind: string) =>
    failure(`the result of ${tool} was withheld: ${reason(kind, "toolResults")}`)

  const result = (result: ToolResult, args: Json, tool: string, ctx: HookContext): ToolResult => {
    const said = args === null ? "" : JSON.stringify(args).toUpperCase()
    const own = result.ok && typeof result.output === "string" && known(ctx).delegated.delete(result.output)
    const keeps = (placeholder: string) => own || said.includes(placeholder.toUpperCase())
    const { blocked: kind, value } = look("toolResults", ctx, keeps, (one) => cleaned(result, one))
    return kind === undefined ? value : withheld(tool, kind)
  }

  const input: Pick<AgentHook, "concealMessages" | "preTurn"> = {
    concealMessages: (messages, ctx) =>
      look("input", ctx, none, (one) => one.list(messages, (message) => one.message(message))).value,
    preTurn: (turn, ctx) => {
      const state = known(ctx)
      const again = state.begun.has(ctx)
      const { blocked: kind, value } = look(
        "input",
        ctx,
        (placeholder, vault) => again || isToldByAgent(ctx, placeholder, vault),
        (one) => {
          const message = one.text(turn.message)
          const attachments = turn.attachments === undefined
            ? undefined
            : one.list(turn.attachments, (file) => one.file(file))
          return message === turn.message && attachments === turn.attachments
            ? turn
            : { ...turn, message, ...(attachments === undefined ? {} : { attachments }) }
        }
      )
      if (kind !== undefined) return blocked(kind, "input")
      state.begun.add(ctx)
      return value === turn ? undefined : HookAction.transform(value)
    }
  }

  const sending: Pick<AgentHook, "preLlmCall" | "postStep"> = {
    preLlmCall: (request, ctx) => {
      const messages = history(request.messages, ctx)
      const { instructions } = request
      const told = instructions === undefined
        ? undefined
        : look("history", ctx, (placeholder, vault) => vault.gave(placeholder), (one) => one.text(instructions), false)
          .value
      if (messages === request.messages && told === instructions) return undefined
      const changed: LlmRequest = { ...request, messages, ...(told === undefined ? {} : { instructions: told }) }
      return HookAction.transform(changed)
    },
    postStep: (step, ctx) => {
      const messages = history(step.messages, ctx)
      return messages === step.messages ? undefined : HookAction.transform(messages)
    }
  }

  const output: Pick<AgentHook, "onLlmDelta" | "postLlmCall" | "postTurn"> = {
    onLlmDelta: (delta, ctx) => {
      // A piece of reasoning or of arguments is not shown: the whole is, once it is complete.
      if (delta.type === "reasoning") return HookAction.transform({ ...delta, text: "" })
      if (delta.type === "tool-call") return HookAction.transform({ ...delta, argsText: "" })
      if (typeof hold !== "object") return undefined
      const { blocked: kind, value } = look("output", ctx, all, (one) => one.open(delta.text, hold.chars))
      if (kind !== undefined) return blocked(kind, "output")
      return value === delta.text ? undefined : HookAction.transform({ ...delta, text: value })
    },
    postLlmCall: ({ response }, ctx) => {
      const { blocked: kind, value } = look("output", ctx, all, (one) => {
        const text = one.text(response.text)
        const reasoning = response.reasoning === undefined ? undefined : one.text(response.reasoning)
        const refusal = response.refusal === undefined ? undefined : one.text(response.refusal)
        const toolCalls = at("toolArguments")
          ? one.list(response.toolCalls, (call) => one.call(call))
          : response.toolCalls
        return text === response.text && reasoning === response.reasoning && refusal === response.refusal &&
            toolCalls === response.toolCalls
          ? response
          : {
            ...response,
            text,
            toolCalls,
            ...(reasoning === undefined ? {} : { reasoning }),
            ...(refusal === undefined ? {} : { refusal })
          }
      })
      if (kind !== undefined) return blocked(kind, "output")
      return value === response ? undefined : HookAction.transform(value)
    },
    postTurn: ({ output: turn }, ctx) => {
      const { blocked: kind, value: text } = look("output", ctx, all, (one) => one.text(turn.text))
      if (kind !== undefined) return blocked(kind, "output")
      return text === turn.text ? undefined : HookAction.transform({ ...turn, text })
    }
  }

  const asking: Pick<AgentHook, "preToolCall" | "preDelegation"> = {
    preToolCall: (call, ctx) => {
      const { blocked: kind, value: args } = look("toolArguments", ctx, all, (one) => one.json(call.args))
      if (kind !== undefined) return blocked(kind, "toolArguments")
      return args === call.args ? undefined : HookAction.transform({ id: call.id, name: call.name, args })
    },
    preDelegation: (delegation, ctx) => {
      const { blocked: kind, value: message } = look("toolArguments", ctx, all, (one) => one.text(delegation.message))
      if (kind !== undefined) return blocked(kind, "toolArguments")
      return message === delegation.message ? undefined : HookAction.transform({ ...delegation, message })
    }
  }

  const hearing: Pick<AgentHook, "postToolCall" | "postDelegation"> = {
    // What ran has passed `wrapToolCall`, what hooks answered or changed has not: what looks like a placeholder is one.
    postToolCall: ({ call, result: found }, ctx) => {
      const { blocked: kind, value } = look("toolResults", ctx, all, (one) => cleaned(found, one))
      if (kind !== undefined) return HookAction.transform(withheld(call.name, kind))
      return value === found ? undefined : HookAction.transform(value)
    },
    postDelegation: ({ delegation, result: found }, ctx) => {
      // The other agent may speak of what it was told, and of what was taken out of its own work.
      const keeps = (placeholder: string, vault: Vault) =>
        delegation.message.toUpperCase().includes(placeholder.toUpperCase()) || vault.gave(placeholder)
      const { blocked: kind, value: text } = look("toolResults", ctx, keeps, (one) => one.text(found.text))
      if (kind !== undefined) return blocked(kind, "toolResults")
      if (wanted(delegation.agent)) known(ctx).delegated.add(text)
      return text === found.text ? undefined : HookAction.transform({ ...found, text })
    }
  }

  const around: Pick<AgentHook, "wrapToolCall"> = {
    wrapToolCall: (call, next, ctx) => {
      if (!wanted(call.name)) return next(call)
      const args = revealTo?.(call.name) === true
        ? vaults.use(ctx, (vault) => revealJson(engine, vault, call.args))
        : call.args
      const answer = next(args === call.args ? call : { ...call, args })
      return at("toolResults") ? Effect.map(answer, (found) => result(found, call.args, call.name, ctx)) : answer
    }
  }

  return HookDefaults.apply(options, {
    name: settings.name,
    priority: settings.priority,
    kind: "policy",
    reinvoke: "ifChanged",
    confidential: true,
    ...(at("output") && !shadow ? { hold } : {}),
    ...(at("input") ? input : {}),
    ...(at("history") ? sending : {}),
    ...(at("output") ? output : {}),
    ...(at("toolArguments") ? asking : {}),
    ...(at("toolResults") ? hearing : {}),
    ...(shadow || (!at("toolResults") && revealTo === undefined) ? {} : around),
    ...(options.revealToUser === true && !shadow && engine.placeholders !== undefined
      ? { revealText: (text: string, ctx: HookContext) => vaults.use(ctx, (vault) => reveal(engine, vault, text)) }
      : {}),
    onSessionStart: ({ previous }, ctx) => previous === undefined ? undefined : vaults.move(previous, ctx),
    onSessionEnd: ({ reason, sessionId }) => {
      sessions.delete(sessionId)
      // A conversation that goes on elsewhere takes its values along.
      if (reason !== "rotate") vaults.drop(sessionId)
    }
  })
}

/** What another agent of the tree says is no user's: the placeholders in it are placeholders. */
const isToldByAgent = ({ agent }: HookContext, placeholder: string, vault: Vault): boolean =>
  agent.depth > 0 && vault.gave(placeholder)

const cleaned = (result: ToolResult, look: Look): ToolResult => {
  if (result.ok) {
    const output = look.json(result.output)
    return output === result.output ? result : { ok: true, output }
  }
  const error = look.text(result.error)
  return error === result.error ? result : failure(error)
}
