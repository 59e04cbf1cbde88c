/** Decides about one payload. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { check as checkCovered } from "@belay/guard/CoverageCheck"
import * as Guard from "@belay/guard/Guard"
import type { Wire } from "@belay/hook-files/Wires"
import type { Configured } from "./configured.ts"
import { drive } from "./drive.ts"
import { trustedConfig } from "./find.ts"
import { noteFailure, openJournal } from "./journal.ts"
import { loadConfig } from "./loadConfig.ts"
import { type Occasion, occasionOf } from "./occasion.ts"
import type { Places } from "./places.ts"
import { driverOf } from "./reach.ts"
import { messageOf, Refusal } from "./refusal.ts"
import { type Output, outputOf } from "./said.ts"
import { lockSession, openStore, prune, storedId } from "./storage.ts"
import { withTools } from "./tools.ts"
import { watchdogFor } from "./watchdog.ts"
import { tooLong, watched, type Within } from "./within.ts"

/** What a decision needs. */
export interface Asked {
  readonly wire: Wire
  readonly text: string
  /** The event that the entry of the system names. */
  readonly event?: string
  /** The file of the config. Default: it is looked for. */
  readonly config?: string
  /** The folder where the config is looked for. */
  readonly cwd: string
  readonly places: Places
  readonly within: Within
  /** When the decision must be there, in milliseconds of `performance.now`. */
  readonly deadline: number
  /** Receives what has happened, as soon as it is known. */
  readonly onOccasion?: (occasion: Occasion) => void
  /** Receives the options of the config, as soon as they are known. */
  readonly onConfigured?: (configured: Configured) => void
}

/** Decides. Throws a `Refusal` if the guard cannot work. */
export const run = async (asked: Asked): Promise<Output> => {
  const { config, cwd, places, text, wire, within } = asked
  const occasion = occasionOf(wire, text, asked.event)
  asked.onOccasion?.(occasion)
  const watch = watchdogFor(asked.deadline, places.failures, {
    system: wire.system,
    session: storedId(wire.system, occasion.session),
    event: occasion.event,
    cwd,
    reason: `belay guard: ${tooLong}`
  })
  const configured = await loadConfig(trustedConfig(config, cwd, places), within, watch)
  asked.onConfigured?.(configured)
  return await decide(asked, occasion, configured, watch)
}

/** A hook that fails and may be left out lets the call go on. Nothing else would show that it decided nothing. */
const noteBroken = ({ cwd, places, wire }: Asked, occasion: Occasion, failed: AgentEvent): void => {
  if (failed.type !== "hook-failed" || failed.policy !== "open") return
  const reason = `hook ${failed.hook} failed, and the call went on without it: ${failed.message}`
  const session = storedId(wire.system, occasion.session)
  noteFailure(places, { time: Date.now(), system: wire.system, session, event: occasion.event, cwd, reason })
}

const decide = async (
  asked: Asked,
  occasion: Occasion,
  configured: Configured,
  watch: () => void
): Promise<Output> => {
  const { deadline, places, wire, within } = asked
  const id = storedId(wire.system, occasion.session)
  // Waiting blocks the process, so nothing would end it at the deadline.
  const left = deadline - performance.now()
  const store = openStore(places, left / 4)
  const lock = lockSession(places, id, left / 2)
  const journal = openJournal(places)
  try {
    const guard = guardOf(wire, configured, {
      store: store.sessions,
      cwd: occasion.cwd ?? asked.cwd,
      hooks: [...(configured.guard.hooks ?? []).map((hook) => watched(hook, within, watch)), journal.hook]
    })
    journal.listen(guard)
    guard.listen((event) => noteBroken(asked, occasion, event), ["hook-failed"])
    const said = await drive({ wire, guard, id, within }, occasion)
    // A hook that was ended has decided nothing, also if its failures are open.
    if (performance.now() >= deadline) throw new Refusal(tooLong)
    if (isQuiet(occasion)) await prune(store, configured.keepDays, Date.now())
    return outputOf(wire, occasion.event, said)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(`the guard failed: ${messageOf(error)}`)
  } finally {
    const problem = await journal.write()
    if (problem !== undefined) process.stderr.write(`belay guard: ${problem}\n`)
    lock.release()
    store.close()
  }
}

/** Makes the guard of a config for a system. Throws a `Refusal` if the system cannot do what it has to. */
const guardOf = (wire: Wire, { guard: options }: Configured, more: Guard.GuardOptions): Guard.Guard => {
  try {
    const guard = Guard.make({ log: false, ...options, ...more, tools: withTools(options.tools) })
    checkCovered(guard, driverOf(wire))
    return guard
  } catch (error) {
    throw new Refusal(messageOf(error))
  }
}

/** Nobody waits at these events, so old sessions are removed then. */
const isQuiet = ({ row: { means } }: Occasion): boolean => means === "sessionStart" || means === "userMessage"
