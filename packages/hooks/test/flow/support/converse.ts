/** Plays a conversation with data flow: a scripted model, tools that return what is given, and a person. */
import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import type { Json, JsonObject } from "@belay/core/Json"
import type { Decision, PendingAsk } from "@belay/core/RunState"
import * as DataFlow from "@belay/hooks/DataFlow"
import { Scripted } from "@belay/testing"

type Args = { readonly [name: string]: Json }

/** What the model calls in one step. */
type Step = ReadonlyArray<readonly [tool: string, args: Args]>

/** A conversation of one turn. */
export interface Conversation {
  readonly prompt?: string
  /** What the tools return, by name. A function gets the arguments. */
  readonly tools: { readonly [name: string]: Json | ((args: Args) => Json) }
  /** More about some tools. */
  readonly more?: { readonly [name: string]: Partial<AnyTool> & { readonly input?: JsonObject } }
  readonly steps: ReadonlyArray<Step>
  readonly hooks?: ReadonlyArray<AgentHook>
  readonly answer?: (ask: PendingAsk) => Decision
}

/** What happened. */
export interface Happened {
  /** The calls that ran, as `tool {"args":…}`. */
  readonly ran: ReadonlyArray<string>
  readonly questions: ReadonlyArray<PendingAsk>
  /** The errors that the model read. */
  readonly errors: ReadonlyArray<string>
}

const schemaOf = (calls: ReadonlyArray<Args>): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(calls.flatMap((args) => Object.keys(args)).map((name) => [name, {}]))
})

/** Makes the tools of a conversation. They remember their calls. */
export const toolsOf = ({ more = {}, steps, tools }: Conversation, ran: Array<string>): ReadonlyArray<AnyTool> =>
  Object.entries(tools).map(([name, output]) =>
    defineTool({
      name,
      description: name,
      input: schemaOf(steps.flat().flatMap(([tool, args]) => tool === name ? [args] : [])),
      ...more[name],
      execute: (args: unknown) => {
        ran.push(`${name} ${JSON.stringify(args)}`)
        return typeof output === "function" ? output(args as Args) : output
      }
    } as never)
  )

/** The model's answer with the calls of a step. */
const answerWith = (calls: Step, step: number) =>
  Scripted.toolCalls(...calls.map(([name, args], index) => ({ name, args, id: `call-${step + 1}-${index}` })))

/** Runs a conversation. Without `answer` the person denies everything. */
export const converse = async (conversation: Conversation): Promise<Happened> => {
  const { answer = () => ({ type: "deny", reason: "no" }), hooks = [DataFlow.make()], prompt = "go on", steps } =
    conversation
  const ran: Array<string> = []
  const questions: Array<PendingAsk> = []
  await using agent = createAgent({
    provider: Scripted.make([
      ...steps.map(answerWith),
      "done"
    ]),
    tools: toolsOf(conversation, ran),
    hooks,
    log: false,
    onAsk: (ask) => {
      questions.push(ask)
      return answer(ask)
    }
  })
  const session = await agent.session()
  await session.run(prompt)
  const errors = session.messages.flatMap((message) =>
    message.role === "tool" && message.isError === true ? [JSON.stringify(message.content)] : []
  )
  return { ran, questions, errors }
}

/** Reads a mail with this text, or this record, and then calls a tool. Returns the question about it, if there is one. */
export const afterReading = async (
  read: Json,
  tool: string,
  args: Args,
  prompt = "Read my mail.",
  more: Partial<Conversation> = {}
): Promise<PendingAsk | undefined> => {
  const { questions, ran } = await converse({
    prompt,
    tools: { read_mail: read, [tool]: "done", ...more.tools },
    steps: [[["read_mail", {}]], [[tool, args]]],
    ...more
  })
  // A call either ran or was asked about.
  if (ran.length + questions.length !== 2) throw new Error(`neither ran nor asked: ${ran.join(", ")}`)
  return questions[0]
}

/** Approves everything. */
export const approve = (): Decision => ({ type: "approve" })
