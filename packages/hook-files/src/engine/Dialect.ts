/**
 * Defines a system of hooks as data: how its entries are selected, what they read, and what their answers mean. The
 * engine does everything that is the same in all systems. Use it to add a system to the built-in ones.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type { Effect } from "effect/Effect"
import type { Finished } from "../process/Command.ts"
import type { Work } from "../runner/Runners.ts"

/** A warning about a part of a hook file that is ignored or changed. @category models @since 0.1.0 */
export interface Warning {
  readonly file: string
  readonly key: string
  readonly reason: string
  /** The warning is about an entry that enforces a policy. */
  readonly policy?: true
}

/** Formats a warning as one line: the file, the key and the reason. @category printing @since 0.1.0 */
export const showWarning = checked(
  "Dialect.showWarning",
  ["warning"],
  ({ file, key, reason }: Warning): string => `${file}: ${key === "" ? "" : `${key}: `}${reason}`
)

/** One entry of a hook file: what runs at one event. @category models @since 0.1.0 */
export interface Entry<W = Work> {
  /** The event, spelled as the file spells it. */
  readonly event: string
  readonly file: string
  /** The position in the file, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly key: string
  /** The name that the file gives to the entry. */
  readonly name?: string
  readonly work: W
  /** Who controls the file: the user, or the project. Default `project`. */
  readonly trusted?: "user" | "project"
  /** The matcher as the file writes it. Absent if there is none. */
  readonly matcherText?: string
  /** A message that the user reads while the entry runs. */
  readonly status?: string
}

/** How an entry ended. @category models @since 0.1.0 */
export type Ending =
  /** A process ended, or a runner that returns its result like a process. */
  | { readonly type: "finished"; readonly finished: Finished }
  /** A function of the host returned a value. */
  | { readonly type: "returned"; readonly value: unknown }
  /** A function of the host failed or timed out. */
  | { readonly type: "failed"; readonly message: string }

/** The decoded answer of one entry. Dialects add their own fields. @category models @since 0.1.0 */
export interface Answer {
  readonly outcome: "success" | "blocking" | "nonBlockingError" | "cancelled"
  /**
   * Why the entry failed, such as `took too long and was ended`. The warning for the developer is the label of the
   * entry followed by this text.
   */
  readonly problem?: string
  /** Warnings for the developer about parts of the answer that are ignored. */
  readonly problems: ReadonlyArray<string>
  /** Messages for the user. */
  readonly messages: ReadonlyArray<string>
}

/** How to run one entry. @category models @since 0.1.0 */
export interface Request {
  /** The JSON that the entry reads. */
  readonly input: JsonObject
  readonly cwd: string
  readonly timeoutMs: number
  readonly env?: { readonly [name: string]: string }
  /** Runs instead of the entry's `work`: the same command, with values in place of its variables. */
  readonly work?: Work
}

/** The other entries that run at the same event. @category models @since 0.1.0 */
export interface Run<E> {
  /** All entries that run at the event, including this one. */
  readonly entries: ReadonlyArray<E>
  /** The time at which this entry starts, in milliseconds since 1970. */
  readonly now: number
}

/** The rules for entries that run in the background. @category models @since 0.1.0 */
export interface Async<E, A> {
  /** Returns whether the engine starts the entry without waiting for it. */
  readonly isAsync: (entry: E) => boolean
  /**
   * Returns for how many milliseconds a command continues in the background, if its first line of output asks for that.
   * Otherwise undefined.
   */
  readonly detachMs: (firstLine: string, entry: E) => number | undefined
  /** Returns the text that wakes the agent after the entry has ended, or undefined. */
  readonly wakeText: (finished: Finished, entry: E) => string | undefined
  /** Returns whether an answer that arrives after its event is delivered to the agent. */
  readonly isDelivered: (answer: A) => boolean
}

/**
 * The rules of one system. `E` is the type of an entry, `I` of the input of an event, and `A` of the answer of an
 * entry. `V` is the type of a verdict: the merged answers of all entries of an event.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dialect<E extends Entry<unknown>, I, A extends Answer, V> {
  /** The name of the system, such as `claude`. */
  readonly name: string

  /**
   * Returns whether the entry's matcher accepts the subjects of an event, such as the names of a tool or the source of
   * a session. Default: it accepts all.
   */
  readonly matches?: (entry: E, subjects: ReadonlyArray<string>) => boolean
  /**
   * Returns whether the entry applies to this input, such as by the condition in its `if`. Called after `matches`.
   * Default: it applies.
   */
  readonly applies?: (entry: E, input: I, ctx: HookContext) => boolean
  /**
   * Returns the identity of an entry. If several entries of an event have the same identity, only the first one runs.
   * Default: all run.
   */
  readonly identity?: (entry: E) => string
  /** Returns an id if the entry runs only once in a session. Otherwise undefined. */
  readonly onceId?: (entry: E) => string | undefined

  /** Returns how many of these entries run at the same time. If it is 1, they run in order. */
  readonly concurrency: (entries: ReadonlyArray<E>) => number
  /** Returns the input of the next entry, for entries that run in order. Default: the same input. */
  readonly chain?: (input: I, answer: A, entry: E) => I
  /**
   * Returns whether the remaining entries are skipped after this answer, for entries that run in order. Default: all
   * run.
   */
  readonly isFinal?: (answer: A, entry: E) => boolean
  readonly async?: Async<E, A>

  /** Returns what the entry reads and how it runs. */
  readonly request: (entry: E, input: I, ctx: HookContext, run: Run<E>) => Request
  /** Runs an entry whose work is a function of the host. Returns undefined if `Runners` can run the entry. */
  readonly evaluate?: (entry: E, input: I, ctx: HookContext) => Effect<Ending> | undefined

  /** Decodes the answer of an entry from how it ended. */
  readonly decode: (ending: Ending, entry: E) => A
  /** The answer of an entry that succeeded and decided nothing. */
  readonly silent: A
  /** Returns whether a failed entry blocks under `onBroken: "block"`. Default: it does not. */
  readonly guards?: (entry: E, answer: A) => boolean
  /** Returns the fields of an answer that blocks. */
  readonly deny?: (reason: string, entry: E) => Partial<A>
  /** Returns the fields of an answer that leaves the decision to a person. Used if an entry may not run. */
  readonly ask?: (reason: string, entry: E) => Partial<A> | undefined
  /**
   * Merges the answers of all entries of an event, which are in the order of the entries. `input` is the input as the
   * last entry left it.
   */
  readonly merge: (answers: ReadonlyArray<A>, entries: ReadonlyArray<E>, input: I) => V

  /** Returns warnings for the developer about answers that contradict each other. */
  readonly conflicts?: (verdict: V) => ReadonlyArray<string>
  /** Returns the name of an entry in warnings. Default: its key and what it runs. */
  readonly label?: (entry: E, answer: A) => string
  /** The dialect warns about problems of answers itself, and the engine does not. */
  readonly warnsItself?: true
  /** Called after each answer, to emit events of the dialect. */
  readonly report?: (run: Report<E, I, A>, ctx: HookContext) => void
}

/** An entry and its answer. @category models @since 0.1.0 */
export interface Report<E, I, A> {
  readonly entry: E
  /** What the entry read. */
  readonly input: I
  readonly answer: A
  readonly durationMs: number
}
