/** What entries of one event read when there are no entries of other events. */
import { builtIn } from "@belay/hook-files/Systems"
import { everything, type World } from "./everything.ts"

/** Leaves out the entries of other events: the fields with their names. */
const only = (value: unknown, names: ReadonlyArray<string>, event: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => only(one, names, event))
  if (typeof value !== "object" || value === null) return value
  const kept = Object.entries(value).filter(([name]) => name === event || !names.includes(name))
  return Object.fromEntries(kept.map(([name, one]) => [name, only(one, names, event)]))
}

/** The same files with the entries of one event only, for each event. */
const worldsOfOne = (world: World): ReadonlyArray<readonly [event: string, world: World]> => {
  const names = builtIn.find(({ dialect }) => dialect === world.dialect)!.guide.events.map(({ name }) => name)
  return names.map((event) => {
    const files = Object.entries(world.files).map(([path, content]) => [path, only(content, names, event)] as const)
    const own = files.filter(([path]) => world.dialect !== "kodelet" || path.endsWith(`/${event}`))
    return [event, { ...world, files: Object.fromEntries(own) as World["files"] }]
  })
}

/**
 * What an entry reads without the entries of other events, where that differs from what it reads among them. The result
 * is empty if entries do not depend on each other.
 */
export const differencesAlone = async (world: World): Promise<ReadonlyArray<string>> => {
  const among = everything(world, true)
  const heard = new Map<string, ReadonlyArray<string>>()
  const at = new Map<string, Array<string>>()
  for (const what of Object.keys(among.all)) {
    for (const [event, list] of Map.groupBy((await among.happen(what, {})).heard, ([name]) => name)) {
      heard.set(`${event} at ${what}`, list.map(([, request]) => JSON.stringify(request)))
      at.set(event, [...at.get(event) ?? [], what])
    }
  }
  const differences: Array<string> = []
  for (const [event, one] of worldsOfOne(world)) {
    const alone = everything(one, true)
    for (const what of at.get(event) ?? []) {
      const now = (await alone.happen(what, {})).heard.map(([name, request]) => `${name}: ${JSON.stringify(request)}`)
      const before = heard.get(`${event} at ${what}`)!.map((request) => `${event}: ${request}`)
      if (JSON.stringify(now) !== JSON.stringify(before)) differences.push(`${what}\n${now.join()}\n${before.join()}`)
    }
  }
  return differences
}

/** A whole session, as its moments come. */
const session = [
  "a session that begins",
  "a prompt",
  "an answer of a model",
  "a call of bash",
  "a result of bash with fields",
  "a call of edit",
  "a result of edit",
  "a tool that failed",
  "the end of a step",
  "a sub-agent that begins",
  "a sub-agent that is about to stop",
  "a conversation that was compacted",
  "an agent that is about to stop",
  "the end of a turn",
  "a session that ends"
]

/** What entries read in one session, where it is something else than in sessions of their own, and its conversation. */
export const oneSession = async (world: World): Promise<string> => {
  const lines: Array<string> = []
  const [together, alone] = [everything(world, true), everything(world, true)]
  for (const what of session) {
    const before = (await alone.happen(what, {})).heard
    for (const [index, [event, request]] of (await together.happen(what, {}, "s")).heard.entries()) {
      const usual = before[index]?.[1] ?? {}
      const other = Object.entries(request).filter(([name, value]) =>
        JSON.stringify(usual[name]) !== JSON.stringify(value)
      )
      if (other.length > 0) lines.push(`${what}: ${event} ${JSON.stringify(Object.fromEntries(other))}`)
    }
  }
  return `${[...lines, ...together.transcripts()].join("\n")}\n`
}

/** Whether the conversation is the same when there are entries of one event only, for each event. */
export const hasSameConversation = async (world: World): Promise<ReadonlyArray<string>> => {
  const conversationOf = async (one: World) => {
    const { happen, transcripts } = everything(one, true)
    for (const what of session.slice(0, 9)) await happen(what, {}, "s")
    // A session has a file for variables only where entries begin it.
    return transcripts().filter((text) => !/^\S+\.env\n/.test(text)).join("\n")
  }
  const whole = await conversationOf(world)
  const others: Array<string> = []
  for (const [event, one] of worldsOfOne(world)) if (await conversationOf(one) !== whole) others.push(event)
  return others
}
