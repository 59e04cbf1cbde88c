/** Makes payloads as a system sends them: the table of the system, read the other way round. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Path, Wire } from "@belay/hook-files/Wires"
import { isFields } from "../fields.ts"

/** What a payload is about. Fields that the event does not have are left out. */
export interface Facts {
  readonly session: string
  readonly cwd: string
  readonly agent?: { readonly id: string; readonly name: string }
  /** The name and the arguments of the call, in the words of Claude Code. */
  readonly call?: { readonly id: string; readonly name: string; readonly args: JsonObject }
  readonly output?: Json
  readonly error?: string
  readonly prompt?: string
  readonly answer?: string
}

/** Returns the payload of an event. */
export const payloadOf = (wire: Wire, event: string, facts: Facts): JsonObject => {
  const { fields, toolFields = {}, tools } = wire
  const row = wire.events[event]!
  const payload: { [field: string]: Json } = {}
  const put = (path: Path | undefined, value: Json | undefined): void => {
    if (path !== undefined && value !== undefined) setAt(payload, typeof path === "string" ? path : path[0]!, value)
  }
  put(fields.event, event)
  put(fields.session, facts.session)
  put(fields.cwd, facts.cwd)
  put(fields.agent, facts.agent?.id)
  put(fields.agentType, facts.agent?.name)
  const { answer, call, error, output, prompt } = facts
  switch (row.means) {
    case "userMessage":
      put(fields.prompt, prompt ?? "")
      break
    case "stop":
    case "agentStop":
      put(fields.answer, answer ?? "")
      break
    case "toolCall":
    case "toolResult":
    case "toolFailure":
      if (call === undefined) break
      if (row.call === undefined) {
        const own = Object.entries(tools).find(([, claude]) => claude === call.name)?.[0] ?? call.name
        const names = new Map(Object.entries(toolFields[call.name] ?? {}).map(([field, claude]) => [claude, field]))
        put(fields.tool, own)
        put(
          fields.input,
          Object.fromEntries(Object.entries(call.args).map(([key, one]) => [names.get(key) ?? key, one]))
        )
        put(fields.call, call.id)
      } else if (typeof row.call.args === "object" && !Array.isArray(row.call.args)) {
        for (const [argument, path] of Object.entries(row.call.args)) put(path as Path, call.args[argument])
      } else {
        put(row.call.args as Path, call.args)
      }
      if (row.means !== "toolCall") put(fields.output, output)
      put(fields.error, error)
      break
    default:
  }
  return payload
}

const setAt = (payload: { [field: string]: Json }, path: string, value: Json): void => {
  const keys = path.split(".")
  const last = keys.pop()!
  let folder = payload
  for (const key of keys) {
    const inner = folder[key]
    const next = isFields(inner) ? { ...inner } : {}
    folder[key] = next
    folder = next
  }
  folder[last] = value
}
