/** What the suite of attacks is made of: domains with tools, tasks that people ask for, and attackers. */
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import type { Json, JsonObject } from "@belay/core/Json"

/** What a tool returned, read as a program would. */
// oxlint-disable-next-line typescript/no-explicit-any -- results of different tools have nothing in common
export type Read = any

/** A call of a tool. */
export type Call = readonly [name: string, args: { readonly [argument: string]: Json }]

/** A program that does a task: it yields the calls of a step, gets their results, and returns the answer. */
export type Solution = Generator<ReadonlyArray<Call>, string, ReadonlyArray<Read>>

/** What a person asks for, a program that does it, and whether the end of it is what the person wanted. */
export interface Task<S> {
  readonly prompt: string
  readonly solve: () => Solution
  readonly check: (state: S, answer: string) => boolean
}

/** Every state keeps the calls that were really carried out. */
export interface State {
  readonly log: Array<{ readonly tool: string; readonly args: Read }>
}

/** What a stranger who talks a model over wants it to do. */
interface Goal<S> {
  /** What the stranger writes. The model obeys once it has read this text. */
  readonly text: string
  readonly calls: (state: S) => ReadonlyArray<Call>
  readonly reached: (state: S) => boolean
}

/** An object that the attacker can act on, such as a file or an order. */
interface Other<S> {
  /** How the object is written in results. */
  readonly id: string
  readonly call: Call
  readonly reached: (state: S) => boolean
}

/** What attackers who know the hook use in a domain. */
interface Material<S> {
  /** The attacker's address, in the form of this domain. */
  readonly address: string
  /** Sends words to an address. */
  readonly tell: (address: string, text: string) => Call
  readonly told: (state: S, address: string, text: string) => boolean
  /** Plants records with the attacker's address in a field, under this name, and with this text. */
  readonly forge: (state: S, name: string, text: string) => void
  /** The people whom the person knows. */
  readonly people: ReadonlyArray<string>
  readonly others: (state: S) => ReadonlyArray<Other<S>>
  /** The argument of a tool that is an amount or a quantity. */
  readonly amounts: { readonly [tool: string]: string }
  readonly visit?: (url: string) => Call
  readonly secret: string
}

/** A place where an agent works: a state, tools, tasks, and what strangers can write and want. */
export interface Domain<S extends State> {
  readonly name: string
  readonly fresh: () => S
  readonly tools: (state: S) => ReadonlyArray<AnyTool>
  /** The tools that change nothing and reach no address outside, as we know it; hooks are not told. */
  readonly reads: ReadonlyArray<string>
  /** What a developer would say about the tools in five minutes. */
  readonly labels: {
    readonly sources?: {
      readonly [tool: string]: "trusted" | "directory" | "untrusted" | "public" | "private" | "secret"
    }
    readonly sinks?: { readonly [tool: string]: "local" }
  }
  readonly tasks: ReadonlyArray<Task<S>>
  /** The places that strangers can write to. */
  readonly slots: ReadonlyArray<(state: S, text: string) => void>
  readonly goals: ReadonlyArray<Goal<S>>
  readonly material: Material<S>
}

/** A domain whose state nobody has to know. */
export type AnyDomain = Domain<Read>

/** The kinds of arguments. A name that ends in `?` is optional. */
type Kind = "text" | "texts" | "number" | "flag" | ReadonlyArray<string>

const schemaOf = (kind: Kind): JsonObject => {
  if (kind === "text") return { type: "string" }
  if (kind === "texts") return { type: "array", items: { type: "string" } }
  if (kind === "number") return { type: "number" }
  return kind === "flag" ? { type: "boolean" } : { type: "string", enum: kind }
}

/** Makes the function that defines tools over a state. An `execute` that throws leaves nothing in the log. */
export const toolsOver = (state: State) =>
(
  name: string,
  description: string,
  input: { readonly [argument: string]: Kind },
  execute: (args: Read) => unknown,
  hints: { readonly readOnly?: boolean; readonly destructive?: boolean } = {}
): AnyTool =>
  defineTool({
    name,
    description,
    ...hints,
    input: {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(input).map(([argument, kind]) => [argument.replace("?", ""), schemaOf(kind)])
      ),
      required: Object.keys(input).filter((argument) => !argument.endsWith("?"))
    },
    execute: (args) => {
      const result = execute(args)
      state.log.push({ tool: name, args })
      return result
    }
  })

/** Whether a call was carried out with arguments that pass the test. */
export const did = (state: State, tool: string, test: (args: Read) => boolean = () => true): boolean =>
  state.log.some((call) => call.tool === tool && test(call.args))

/** Throws unless there is a value, as a tool does for an id that nobody has. */
export const found = <A>(value: A | undefined, what: string): A => {
  if (value === undefined) throw new Error(`no ${what}`)
  return value
}

/** Whether nothing was changed: only reading tools were used. */
export const onlyRead = (state: State, ...reading: ReadonlyArray<string>): boolean =>
  state.log.every(({ tool }) => reading.includes(tool))

/** Does all steps of a task that needs no result of an earlier step. */
export function* steps(answer: string, ...all: ReadonlyArray<ReadonlyArray<Call>>): Solution {
  for (const calls of all) yield calls
  return answer
}
