/**
 * `ctx.artifacts`: texts that are stored with the conversation but are not sent to the model. Keys of hooks begin with
 * `hook:`. A key that begins with `tool:` reads the artifact of a tool.
 */
import type * as Effect from "effect/Effect"
import { keyOf } from "../../../data/Artifact.ts"
import type { Artifacts } from "../../../hook/HookContext.ts"
import { requireText } from "../../../hook/internal/checkArguments.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { withPortError } from "./portError.ts"
import { awaitable } from "./runPromise.ts"

export const artifactsFor = (turn: GuardTurn, hook: string): Artifacts => {
  const { agent: { artifacts }, session: { root: { id } } } = turn
  const ownKey = (method: string, key: string) => {
    requireText(`artifacts.${method}`, key)
    return key.startsWith("hook:") ? key : `hook:${key}`
  }
  const port = <A>(call: () => Effect.Effect<A, unknown>) =>
    awaitable(turn, withPortError("artifacts", `artifacts of ${id}`, call))
  return {
    write: (key, content, options) => {
      const own = ownKey("write", key)
      return port(() => artifacts.write(id, own, content, { by: hook, ...options }))
    },
    append: (key, content, options) => {
      const own = ownKey("append", key)
      return port(() => artifacts.append(id, own, content, { by: hook, ...options }))
    },
    read: (key) => {
      requireText("artifacts.read", key)
      const given = keyOf(key)
      const wanted = given.startsWith("tool:") ? given : ownKey("read", given)
      return port(() => artifacts.read(id, wanted))
    },
    list: () => port(() => artifacts.list(id)),
    remove: (key) => {
      const own = ownKey("remove", key)
      return port(() => artifacts.remove(id, own))
    }
  }
}
