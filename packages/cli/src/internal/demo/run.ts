/** Runs the demonstration: begins it, or continues one that waits, and writes its report. */
import type { Agent, AgentSession } from "@belay/core/createAgent"
import { isProviderError } from "@belay/core/ProviderError"
import type { RunResult } from "@belay/core/RunResult"
import type { Decision, PendingAsk } from "@belay/core/RunState"
import type { SessionStore } from "@belay/core/SessionStore"
import { waitingOf } from "@belay/core/Waiting"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as TerminalApproval from "@belay/hooks/TerminalApproval"
import * as Recording from "@belay/observe/Recording"
import * as Report from "@belay/observe/Report"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Endpoint from "@belay/testing/Endpoint"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { plain, type Screen, styleOf } from "../screen.ts"
import { makeAgent } from "./agent.ts"
import { makeShow } from "./show.ts"
import { begin, type Places, placesIn, script, task } from "./story.ts"

/** What the command line and the environment say. */
export interface DemoOptions {
  /** A folder that this process has taken. */
  readonly folder: string
  readonly prompt: string | undefined
  readonly baseUrl: string | undefined
  readonly model: string | undefined
  readonly apiKey: string | undefined
  readonly approve: "ask" | "allow" | "deny"
  readonly budget: number
  readonly isVerbose: boolean
  readonly isFresh: boolean
  readonly signal: AbortSignal
  readonly screen: Screen
  readonly terminal: TerminalApproval.Terminal
  readonly write: (line: string) => void
}

/** The session of the demonstration. */
const sessionId = "demo"

/** Returns the exit code. */
export const runDemo = (options: DemoOptions): Effect.Effect<number> =>
  Effect.gen(function*() {
    const { baseUrl, folder, isFresh, screen, signal, write } = options
    const { red } = styleOf(screen)
    const places = placesIn(folder)
    const isContinued = !isFresh && (yield* Effect.promise(() => isWaiting(places.store)))
    if (!isContinued) begin(places)
    const endpoint = baseUrl === undefined ? yield* Effect.promise(() => Endpoint.start({ script })) : undefined
    const store = SqliteStore.make({ path: places.store })
    const agent = makeDemoAgent(options, places, store.sessions, endpoint?.url)
    return yield* Effect.tryPromise(() => play(agent, isContinued, options)).pipe(
      Effect.catch(({ cause }) =>
        Effect.sync(() => {
          write(red(`error  ${explain(cause, baseUrl ?? endpoint?.url ?? "")}`))
          return signal.aborted ? 130 : 1
        })
      ),
      Effect.ensuring(Effect.promise(async () => {
        await agent.close()
        store.close()
        await endpoint?.close()
        writeReport(places.recording, places.report, write)
      }))
    )
  })

const makeDemoAgent = (
  options: DemoOptions,
  places: Places,
  store: SessionStore,
  embedded: string | undefined
): Agent => {
  const { budget, screen, write } = options
  const { yellow } = styleOf(screen)
  const onSecret = (kind: string, place: string) => {
    const from = place === "toolResults" ? "the result of a tool" : `the ${place}`
    write(`  ${yellow("✎")} secrets: a key (${kind}) was removed from ${from}`)
  }
  return makeAgent({ places, providers: providersOf(options, embedded), store, budget, onSecret })
}

/** Runs the turn and shows it. Returns the exit code. */
const play = async (agent: Agent, isContinued: boolean, options: DemoOptions): Promise<number> => {
  const { baseUrl, budget, folder, isVerbose, model, prompt = task, screen, write } = options
  const { bold, dim, yellow } = styleOf(screen)
  const session = await agent.session({ id: sessionId })
  const where = baseUrl === undefined ? "an endpoint on this machine: no key, no network" : `the endpoint ${baseUrl}`
  write(`${bold("belay")}  ${dim(plain(where))}${model === undefined ? "" : dim(`, model ${plain(model)}`)}`)
  write(`       ${dim(`folder ${plain(folder)}`)}`)
  const cost = () => `${CostTracker.total(session.state).text} of $${budget.toFixed(2)}`
  agent.on(makeShow({ screen, isVerbose, cost, write }))
  write("")
  write(
    isContinued
      ? yellow("The last run ended in the middle. It continues there.")
      : `${bold("you")}    ${plain(prompt)}`
  )
  write("")
  const began = performance.now()
  const result = await converse(session, isContinued ? undefined : prompt, options)
  await session.close()
  write("")
  for (const line of answerOf(result).split("\n")) write(`${bold("clerk")}  ${plain(line)}`)
  write("")
  write(dim(`${result.status} in ${((performance.now() - began) / 1_000).toFixed(1)} s, ${cost()}`))
  return result.status === "completed" ? 0 : 1
}

/** Whether a run of the demonstration ended in the middle. */
const isWaiting = async (path: string): Promise<boolean> => {
  if (!existsSync(path)) return false
  const { close, sessions } = SqliteStore.make({ path })
  const state = await Effect.runPromise(sessions.load(sessionId))
  close()
  return state !== undefined && waitingOf(state).type !== "nothing"
}

const answerOf = (result: RunResult): string => {
  if (result.status === "aborted") return `The run was stopped by ${result.by}: ${result.reason}`
  if (result.status === "limited") return `The run reached a limit: ${result.limit}`
  return result.text
}

/** Runs the turn, and asks the person at the terminal as often as it waits. */
const converse = async (
  session: AgentSession,
  prompt: string | undefined,
  { approve, screen, signal, terminal, write }: DemoOptions
): Promise<RunResult> => {
  const { dim } = styleOf(screen)
  const ask = TerminalApproval.ask({
    terminal,
    nobody: "nobody is at a terminal to approve it (answer beforehand with --approve allow or --approve deny)"
  })
  const answer = async (pending: PendingAsk): Promise<Decision> => {
    if (approve === "allow") return { type: "approve", by: "--approve allow" }
    if (approve === "deny") return { type: "deny", reason: "denied by --approve deny" }
    if (screen.interactive) {
      write(
        dim(
          `         The run is saved. End this program with "kill -9 ${process.pid}", start it again, and it ` +
            "continues here."
        )
      )
    }
    return await ask({ ...pending, signal }) as Decision
  }
  const beginTurn = async (): Promise<RunResult | undefined> => {
    if (prompt !== undefined) return session.run(prompt, { signal })
    return session.waiting.type === "people" ? undefined : session.resume({}, { signal })
  }
  let result = await beginTurn()
  while (true) {
    if (result !== undefined && result.status !== "suspended") return result
    const decisions: Record<string, Decision> = {}
    for (const pending of session.pending) decisions[pending.callId] = await answer(pending)
    result = await session.resume(decisions, { signal })
  }
}

/** Prices of the demonstration, in dollars per token. */
const prices = { costPerInputToken: 4e-7, costPerOutputToken: 1.6e-6 }

const providersOf = (
  { apiKey = "none", baseUrl, model }: DemoOptions,
  embedded: string | undefined
): Parameters<typeof makeAgent>[0]["providers"] => {
  const make = (name: string, url: string, named: string) =>
    OpenAiCompatible.make({ name, baseUrl: url, apiKey, model: named, prices: { [named]: prices } })
  if (embedded === undefined) return [make("primary", baseUrl!, model ?? "gpt-5.4-mini")]
  return [make("primary", embedded, "demo-large"), make("backup", embedded, "demo-small")]
}

const writeReport = (recording: string, report: string, write: (line: string) => void): void => {
  if (!existsSync(recording)) return
  const parsed = Recording.parse(readFileSync(recording, "utf8"))
  if (Result.isFailure(parsed)) return write(parsed.failure.message)
  writeFileSync(report, Report.render(parsed.success, { title: "belay demo" }), { mode: 0o600 })
  write(`report ${report}`)
}

/** One line that says what went wrong and what to do. */
const explain = (error: unknown, url: string): string => {
  if (!isProviderError(error)) return plain(error instanceof Error ? `${error.name}: ${error.message}` : String(error))
  const advice: { readonly [tag: string]: string } = {
    Auth: ` (set OPENAI_API_KEY to a key of ${url})`,
    Connection: ` (is something listening at ${url}?)`,
    NotFound: " (choose another with --model or OPENAI_MODEL)"
  }
  return plain(`${error._tag}: ${error.message}${advice[error._tag] ?? ""}`)
}
