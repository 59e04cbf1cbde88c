/** What a server may ask of this client: a question to the user, a call of the model, and the roots. */
import { matcher } from "@belay/core/NamePattern"
import type { Client as SdkClient } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { answerQuestion, type OnElicit } from "./elicit.ts"
import { type RunningCall, RunningCalls } from "./runningCalls.ts"
import { sample } from "./sample.ts"

/** What servers may do while their tools run. */
export interface Rights {
  readonly onElicit?: OnElicit
  readonly sampling: (server: string) => boolean
  readonly roots: ReadonlyArray<{ readonly uri: string; readonly name: string }>
}

/** Reads the option `sampling`. */
export const samplingFor = (names: boolean | string | ReadonlyArray<string>): Rights["sampling"] =>
  typeof names === "boolean" ? () => names : matcher(names)

/** Reads the option `roots`: folders, or `file:` addresses. */
export const rootsOf = (folders: ReadonlyArray<string>): Rights["roots"] =>
  folders.map((folder) => {
    const uri = folder.startsWith("file:")
      ? folder
      : process.getBuiltinModule("node:url").pathToFileURL(folder).href
    return { uri, name: decodeURIComponent(uri.split("/").findLast((part) => part !== "") ?? "root") }
  })

/** The capabilities of the client: a server does not ask for what is not among them. */
export const capabilitiesOf = (server: string, { onElicit, roots, sampling }: Rights) => ({
  ...(onElicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
  ...(sampling(server) ? { sampling: {} } : {}),
  ...(roots.length === 0 ? {} : { roots: {} })
})

/** Answers the requests of a server. */
export const answerRequests = (client: SdkClient, server: string, rights: Rights, calls: RunningCalls): void => {
  const { onElicit, roots, sampling } = rights
  const answer = <A>(signal: AbortSignal, act: (call: RunningCall) => Effect.Effect<A, string>): Promise<A> => {
    const call = calls.take()
    const done = typeof call === "string" ? Effect.fail(call) : act(call)
    return Effect.runPromise(Effect.result(done), { signal }).then((result) =>
      // The client answers a rejection with an error.
      Result.isSuccess(result) ? result.success : Promise.reject(new Error(result.failure))
    )
  }
  if (onElicit !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq: { signal } }) =>
      // The answer has been decoded. The protocol's type is not readonly.
      answer(signal, (call) => answerQuestion(server, params, onElicit, call)) as never)
  }
  if (sampling(server)) {
    client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq: { signal } }) =>
      // `sample` builds the result of the protocol.
      answer(signal, (call) => sample(server, params, call)) as never)
  }
  if (roots.length > 0) client.setRequestHandler("roots/list", () => ({ roots: [...roots] }))
}
