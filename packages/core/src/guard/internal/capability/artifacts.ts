/**
 * `ctx.artifacts`: texts that are stored with the conversation but are not sent to the model. Keys of hooks begin with
 * `hook:`, and those of tools with `tool:`. Each reads what the other has written, and writes only its own.
 */
import type * as Effect from "effect/Effect"
import type { PortFailed } from "../../../data/AgentError.ts"
import { keyOf } from "../../../data/Artifact.ts"
import type { Awaitable } from "../../../data/effect/Awaitable.ts"
import type { Artifacts } from "../../../hook/HookContext.ts"
import { requireText } from "../../../hook/internal/checkArguments.ts"
import type { ArtifactStore } from "../../../port/ArtifactStore.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { withPortError } from "./portError.ts"
import { awaitable } from "./runPromise.ts"

/** Who uses the artifacts of a session, and how. */
interface Access {
  readonly store: ArtifactStore
  readonly sessionId: string
  readonly own: "hook:" | "tool:"
  readonly about: { readonly by: string; readonly toolCallId?: string }
  readonly run: <A>(effect: Effect.Effect<A, PortFailed>) => Awaitable<A, PortFailed>
}

export const artifactsFor = ({ about, own, run, sessionId: id, store }: Access): Artifacts => {
  const ownKey = (method: string, key: string) => {
    requireText(`artifacts.${method}`, key)
    return key.startsWith(own) ? key : `${own}${key}`
  }
  const port = <A>(call: () => Effect.Effect<A, unknown>) => run(withPortError("artifacts", `artifacts of ${id}`, call))
  return {
    write: (given, content, options) => {
      const key = ownKey("write", given)
      return port(() => store.write(id, key, content, { ...about, ...options }))
    },
    append: (given, content, options) => {
      const key = ownKey("append", given)
      return port(() => store.append(id, key, content, { ...about, ...options }))
    },
    read: (given) => {
      requireText("artifacts.read", given)
      const key = keyOf(given)
      const wanted = /^(?:hook|tool):/.test(key) ? key : `${own}${key}`
      return port(() => store.read(id, wanted))
    },
    list: () => port(() => store.list(id)),
    remove: (given) => {
      const key = ownKey("remove", given)
      return port(() => store.remove(id, key))
    }
  }
}

/** The artifacts as a hook sees them. */
export const artifactsOfHook = (turn: GuardTurn, hook: string): Artifacts => {
  const { agent: { artifacts: store }, session: { root: { id: sessionId } } } = turn
  return artifactsFor({ store, sessionId, own: "hook:", about: { by: hook }, run: (one) => awaitable(turn, one) })
}
