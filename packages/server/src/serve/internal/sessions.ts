/** Answers the page of sessions: what there is, and what a person wants to be done. */
import type { Host, SessionState } from "../../host/Host.ts"
import type { Serve } from "../Serve.ts"
import type { Call } from "./endpoint.ts"
import { invalid, Refusal } from "./refusal.ts"

const states: ReadonlySet<string> = new Set<SessionState>(["dead", "stuck", "busy", "waiting"])

/** What a person may do. `true`: it cannot be undone, so it has to be confirmed. */
const acts = { retry: false, drop: true, cancel: true, release: false, move: false, erase: true } as const

interface Wanted {
  readonly act: keyof typeof acts
  readonly key: string | undefined
  readonly release: string | undefined
}

/** How many characters of a message are shown. */
const maxLength = 20_000

export const answerSessions =
  ({ host }: Serve, api: string, operator: (principal: string) => boolean | Promise<boolean>) =>
  async ({ body, principal, request: { method }, url }: Call): Promise<Response> => {
    if (!(await operator(principal))) throw new Refusal("forbidden", "only operators may see the sessions of everybody")
    const id = idOf(url, api)
    if (method === "GET") return Response.json(id === "" ? await overview(host, url) : await show(host, id))
    if (method !== "POST" || id === "") throw new Refusal("method", "there are GET, and POST for one session")
    return Response.json(await act(host, id, readWanted(await body())))
  }

const idOf = ({ pathname }: URL, api: string): string => {
  const rest = pathname.startsWith(api) ? pathname.slice(api.length) : pathname
  const id = /^\/?([^/]*)$/.exec(rest)?.[1]
  if (id === undefined) throw new Refusal("not-found", "there is nothing at this path")
  return id
}

const overview = async (host: Host, { searchParams }: URL) => {
  const state = searchParams.get("state")
  if (state !== null && !states.has(state)) throw invalid(`state: expected one of ${[...states].join(", ")}`)
  // It is one of them.
  return { sessions: await host.overview(state === null ? {} : { state: state as SessionState }) }
}

const show = async (host: Host, id: string) => {
  const found = await host.conversation(id)
  if (found === undefined) throw new Refusal("not-found", `there is no session ${id}`)
  const messages = found.messages.map(({ content, role, ...rest }) => ({
    role,
    text: (typeof content === "string" ? content : JSON.stringify(content)).slice(0, maxLength),
    ...("toolCalls" in rest ? { calls: rest.toolCalls?.map(({ args, name }) => ({ name, args })) } : {})
  }))
  return { ...found, messages }
}

const readWanted = (body: unknown): Wanted => {
  const { act, confirmed, key, release } = Object(body) as { readonly [field: string]: unknown }
  if (typeof act !== "string" || !Object.hasOwn(acts, act)) {
    throw invalid(`act: expected one of ${Object.keys(acts).join(", ")}`)
  }
  // It is one of them.
  const name = act as keyof typeof acts
  for (const [field, value] of Object.entries({ key, release })) {
    if (value !== undefined && (typeof value !== "string" || value === "")) {
      throw invalid(`${field}: expected a text`)
    }
  }
  if (acts[name] && confirmed !== true) {
    throw invalid(`nobody can undo ${name}: send \`confirmed: true\` to do it`)
  }
  // They are texts or absent.
  return { act: name, key: key as string | undefined, release: release as string | undefined }
}

const act = async (host: Host, id: string, { act, key, release }: Wanted): Promise<unknown> => {
  const given = (): string => {
    if (key === undefined) throw invalid(`key: ${act} needs the key of a message`)
    return key
  }
  const deadOne = (isDone: boolean) => {
    if (!isDone) throw new Refusal("conflict", `session ${id} has no dead message ${key}`)
    return { done: true }
  }
  switch (act) {
    case "retry":
      return deadOne(await host.retry(id, given()))
    case "drop":
      return deadOne(await host.drop(id, given()))
    case "cancel":
      return { done: true, key: (await host.cancel(id, given())).key }
    case "release":
      await host.move(id, undefined)
      return { done: true }
    case "move":
      if (release === undefined) throw invalid("release: move needs the name of a release")
      await host.move(id, release)
      return { done: true }
    case "erase":
      return { done: true, receipt: await host.erase({ session: id }) }
  }
}
