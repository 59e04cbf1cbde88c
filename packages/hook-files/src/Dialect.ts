/**
 * One system of hooks as data: how its entries are selected, what they read, what their answers mean. The engine does
 * everything that is the same in all systems.
 *
 * @since 0.1.0
 */
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type { Effect } from "effect/Effect"
import type { Finished } from "./process/Command.ts"
import type { Work } from "./Runners.ts"

/** A part of a hook file that does not count as it is written. @category models @since 0.1.0 */
export interface Warning {
  readonly file: string
  readonly key: string
  readonly reason: string
  /** It is about an entry that would enforce a policy. */
  readonly policy?: true
}

/** Writes a warning as one line. @category printing @since 0.1.0 */
export const showWarning = ({ file, key, reason }: Warning): string =>
  `${file}: ${key === "" ? "" : `${key}: `}${reason}`

/** One entry of a hook file: something to run at one event. @category models @since 0.1.0 */
export interface Entry<W = Work> {
  /** The event, spelled as the file spells it. */
  readonly event: string
  readonly file: string
  /** The position in the file, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly key: string
  /** The name that the file gives to the entry. */
  readonly name?: string
  readonly work: W
  /** Whether the user wrote the file, or the project could have written it. Default `project`. */
  readonly trusted?: "user" | "project"
  /** A message that the user reads while the entry runs. */
  readonly status?: string
}

/** How an entry ended. @category models @since 0.1.0 */
export type Ending =
  /** A process, or a runner that answers in the form of a process. */
  | { readonly type: "finished"; readonly finished: Finished }
  /** Code returned a value. */
  | { readonly type: "returned"; readonly value: unknown }
  /** Code failed, or took too long. */
  | { readonly type: "failed"; readonly message: string }

/** The decoded answer of one entry. Dialects add their own fields. @category models @since 0.1.0 */
export interface Answer {
  readonly outcome: "success" | "blocking" | "nonBlockingError" | "cancelled"
  /** Why the entry did not succeed. The developer reads it behind the label of the entry. */
  readonly problem?: string
  /** Parts of the answer that are ignored, and why. The developer reads them. */
  readonly problems: ReadonlyArray<string>
  /** Messages for the user. */
  readonly messages: ReadonlyArray<string>
}

/** The request for one entry. @category models @since 0.1.0 */
export interface Request {
  /** The JSON that the entry reads. */
  readonly input: JsonObject
  readonly cwd: string
  readonly timeoutMs: number
  readonly env?: { readonly [name: string]: string }
  /** Runs in place of the entry's own work: the same command with its folders filled in. */
  readonly work?: Work
}

/** The run of an event that an entry is part of. @category models @since 0.1.0 */
export interface Run<E> {
  /** All entries that run. */
  readonly entries: ReadonlyArray<E>
  /** The time at which this entry starts. */
  readonly now: number
}

/** How entries that nobody waits for are recognised, and what they may do later. @category models @since 0.1.0 */
export interface Async<E, A> {
  /** Whether the engine starts the entry and does not wait for it. */
  readonly isAsync: (entry: E) => boolean
  /** Milliseconds that a command may run on by itself, if its first line of output asks for that. */
  readonly detachMs: (firstLine: string, entry: E) => number | undefined
  /** The text that wakes the agent when the entry has ended, if there is one. */
  readonly wakeText: (finished: Finished, entry: E) => string | undefined
  /** Whether an answer that arrives later is delivered to the agent at all. */
  readonly isDelivered: (answer: A) => boolean
}

/**
 * The rules of one system. `E` is an entry, `I` the input of an event, `A` the answer of an entry, and `V` the verdict:
 * the answers of all entries of an event, merged.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dialect<E extends Entry<unknown>, I, A extends Answer, V> {
  /** The name of the system, such as `claude`. */
  readonly name: string

  /** Whether the entry's matcher accepts the subjects of an event: names of a tool, or the source of a session. */
  readonly matches?: (entry: E, subjects: ReadonlyArray<string>) => boolean
  /** Whether the entry applies here and now, such as the condition in its `if`. Checked after `matches`. */
  readonly applies?: (entry: E, input: I, ctx: HookContext) => boolean
  /** Of the entries of an event that have the same identity only the first runs. Default: each runs. */
  readonly identity?: (entry: E) => string
  /** An id where the entry runs only once in a session. */
  readonly onceId?: (entry: E) => string | undefined

  /** How many of these entries run at the same time. 1 runs them in order. */
  readonly concurrency: (entries: ReadonlyArray<E>) => number
  /** The input of the next entry, for entries that run in order. Default: the same input. */
  readonly chain?: (input: I, answer: A, entry: E) => I
  /** Whether no further entry runs after this answer. Default: all run. */
  readonly isFinal?: (answer: A, entry: E) => boolean
  readonly async?: Async<E, A>

  /** What the entry reads, and how it runs. */
  readonly request: (entry: E, input: I, ctx: HookContext, run: Run<E>) => Request
  /** Runs an entry that is code and not one of the kinds of `Runners`; undefined where the runners run it. */
  readonly evaluate?: (entry: E, input: I, ctx: HookContext) => Effect<Ending> | undefined

  /** Reads how an entry ended. */
  readonly decode: (ending: Ending, entry: E) => A
  /** An answer that says nothing. */
  readonly silent: A
  /** Whether `onBroken: "block"` makes an entry that did not answer block. */
  readonly guards?: (entry: E, answer: A) => boolean
  /** The fields of an answer that blocks. */
  readonly deny?: (reason: string, entry: E) => Partial<A>
  /** The fields of an answer that leaves the decision to a person, for an entry that may not run. */
  readonly ask?: (reason: string, entry: E) => Partial<A> | undefined
  /** Puts the answers of an event together, in the order of the entries. `input` is the input after the last entry. */
  readonly merge: (answers: ReadonlyArray<A>, entries: ReadonlyArray<E>, input: I) => V

  /** Says how answers contradict each other. The developer reads it. */
  readonly conflicts?: (verdict: V) => ReadonlyArray<string>
  /** What the entry is called in warnings. Default: its key and what it runs. */
  readonly label?: (entry: E, answer: A) => string
  /** The verdict carries all warnings: the engine itself warns of nothing. */
  readonly warnsItself?: true
  /** Sends the dialect's own events about an answer. */
  readonly report?: (run: Report<E, I, A>, ctx: HookContext) => void
}

/** An entry that has answered. @category models @since 0.1.0 */
export interface Report<E, I, A> {
  readonly entry: E
  /** What the entry read. */
  readonly input: I
  readonly answer: A
  readonly durationMs: number
}
