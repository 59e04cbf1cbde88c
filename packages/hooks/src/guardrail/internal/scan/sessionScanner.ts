/** Scans texts with the placeholders of a session, and reports the findings. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Message } from "@belay/core/Message"
import * as Result from "effect/Result"
import {
  kindLabel,
  makePlaceholderStore,
  noPlaceholders,
  type Placeholders,
  type PlaceholderStore
} from "../placeholderStore.ts"
import { Scan } from "./scan.ts"
import type { ScanRules } from "./scanRules.ts"

/** Where a hook searches. */
export type Place = "input" | "output" | "toolArguments" | "toolResults" | "history"

/** The names of the places in a reason. */
export const placeNames: { readonly [P in Place]: string } = {
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

/** The state of a session, without its values. */
interface Session {
  /** Scanned messages, and the number of values that were known at the scan. */
  readonly messages: WeakMap<Message, { readonly message: Message; readonly size: number }>
  /** The last conversation in which nothing was found, and the number of values that were known at the scan. */
  clean: { readonly messages: Array<Message>; readonly size: number } | undefined
  /** Answers of other agents that were scanned already. */
  readonly delegated: Set<string>
}

/** The result of a scan: the scanned value, and the first kind that is not allowed. */
interface Scanned<A> {
  readonly value: A
  readonly blocked: string | undefined
}

type IsPlaceholder = (placeholder: string, placeholders: Placeholders) => boolean

/** A class: it holds the state of one hook, by session. */
export class SessionScanner {
  readonly rules: ScanRules
  readonly store: PlaceholderStore
  private readonly kindName: (kind: string) => string
  private readonly onDetection: ((detection: Detection) => void) | undefined
  private readonly sessions = new Map<string, Session>()
  private readonly needsSession: boolean

  constructor(
    rules: ScanRules,
    kindName: (kind: string) => string,
    options: {
      readonly vault?: { readonly key: Uint8Array }
      readonly onDetection?: (detection: Detection) => void
    }
  ) {
    this.rules = rules
    this.kindName = kindName
    this.onDetection = options.onDetection
    this.store = makePlaceholderStore(options.vault?.key)
    this.needsSession = rules.needsSession || options.vault !== undefined
  }

  sessionOf({ root: { sessionId } }: HookContext): Session {
    const known = this.sessions.get(sessionId)
    if (known !== undefined) return known
    const session: Session = {
      messages: new WeakMap(),
      clean: undefined,
      delegated: new Set()
    }
    this.sessions.set(sessionId, session)
    return session
  }

  /** Drops the state of a session. If the conversation continues in another session, its values move there. */
  endSession(sessionId: string, reason: string): void {
    this.sessions.delete(sessionId)
    if (reason !== "rotate") this.store.drop(sessionId)
  }

  private use<A>(ctx: HookContext, f: (placeholders: Placeholders) => A): A {
    return this.needsSession ? this.store.use(ctx, f) : f(noPlaceholders)
  }

  /** Runs a scan and reports the findings. `isPlaceholder` decides which lookalikes are placeholders. */
  scan<A>(place: Place, ctx: HookContext, isPlaceholder: IsPlaceholder, f: (scan: Scan) => A): Scanned<A> {
    return this.use(ctx, (placeholders) => {
      const scan = new Scan(this.rules, placeholders, (placeholder) => isPlaceholder(placeholder, placeholders))
      const value = f(scan)
      this.warnIfFull(scan, ctx)
      for (const [kind, count] of scan.counts) {
        if (this.rules.strategy(kind) === "warn") ctx.warn(`${kindLabel(kind)} found in ${place} (${count})`)
        this.report({ kind, place, count, sessionId: ctx.sessionId })
      }
      return { value, blocked: scan.blocked }
    })
  }

  /** Scans the instructions of a request. Findings are not reported, as they would be with every request. */
  instructions(text: string | undefined, ctx: HookContext): string | undefined {
    if (text === undefined) return undefined
    return this.use(ctx, (placeholders) => {
      const scan = new Scan(this.rules, placeholders, (placeholder) => placeholders.isKnown(placeholder))
      const scanned = scan.text(text)
      this.warnIfFull(scan, ctx)
      return scanned
    })
  }

  /** Scans the history. A message is scanned once, and again when more values are known. */
  history(messages: ReadonlyArray<Message>, ctx: HookContext): ReadonlyArray<Message> {
    const session = this.sessionOf(ctx)
    const known = session.messages
    return this.use(ctx, (placeholders) => {
      const scanMessage = (message: Message, isNew: boolean): Message => {
        const before = known.get(message)
        if (before !== undefined && before.size === placeholders.size) return before.message
        const isOwn = message.role === "assistant"
        const scan = new Scan(this.rules, placeholders, (placeholder) => isOwn || placeholders.isKnown(placeholder))
        const scanned = scan.message(message)
        for (const [kind, count] of scan.counts) {
          this.report({ kind, place: "history", count, sessionId: ctx.sessionId })
        }
        // The list of clean messages has the new messages in which nothing was found.
        if (isNew && scanned === message && scan.counts.size === 0) return message
        const result = { message: scanned, size: placeholders.size }
        known.set(message, result)
        if (scanned !== message) known.set(scanned, result)
        return scanned
      }
      // A conversation grows at its end, so usually only the new messages have to be scanned.
      const clean = session.clean ??= { messages: [], size: placeholders.size }
      if (clean.size === placeholders.size && beginsWith(messages, clean.messages)) {
        const added = messages.slice(clean.messages.length)
        if (added.every((message) => scanMessage(message, true) === message) && clean.size === placeholders.size) {
          for (const message of added) clean.messages.push(message)
          return messages
        }
      }
      let scanned = messages.map((message) => scanMessage(message, false))
      const { size } = placeholders
      // A value of a later message may be in earlier messages too.
      if (messages.some((message) => known.get(message)!.size !== size)) {
        scanned = messages.map((message) => scanMessage(message, false))
      }
      const isClean = scanned.every((message, index) => message === messages[index])
      session.clean = isClean ? { messages: scanned, size } : undefined
      return isClean ? messages : scanned
    })
  }

  /** Why a kind is not allowed at a place. */
  reason(kind: string, place: Place): string {
    return `${this.kindName(kind)} is not allowed in ${placeNames[place]}`
  }

  reject(kind: string, place: Place): HookAction.Reject {
    return HookAction.reject(this.reason(kind, place))
  }

  private warnIfFull(scan: Scan, ctx: HookContext): void {
    if (scan.isFull) {
      ctx.warn("no more values of this session can be stored: further values are redacted and cannot be revealed")
    }
  }

  private report(detection: Detection): void {
    Result.try(() => this.onDetection?.(detection))
  }
}

const beginsWith = (messages: ReadonlyArray<Message>, start: ReadonlyArray<Message>): boolean => {
  if (start.length > messages.length) return false
  // The last messages differ most often.
  for (let index = start.length - 1; index >= 0; index--) if (messages[index] !== start[index]) return false
  return true
}
