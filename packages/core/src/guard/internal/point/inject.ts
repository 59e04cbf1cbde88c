/** `ctx.inject`: adds text that the model reads before its next answer. */
import { refOf } from "../../../data/Artifact.ts"
import type { Injection } from "../../../data/RunState.ts"
import type { InjectOptions } from "../../../hook/HookContext.ts"
import type { TurnIo, TurnPlace } from "../io/turnIo.ts"

/** The maximum length of an injection, in characters. The whole text of a longer one becomes an artifact. */
const maxLength = 10_000

/** Adds a text that the model reads before its next answer. */
export const injectText = (
  { io, session, state }: TurnPlace & { readonly io: TurnIo },
  hook: string,
  text: string,
  { key, mode, pinned }: InjectOptions = {}
): void => {
  let shown = text
  if (text.length > maxLength) {
    const artifact = `hook:injection/${session.id}/${state.turnNumber}.${++io.longInjections}`
    io.keepArtifact(artifact, text)
    const missing = text.length - maxLength
    shown = `${text.slice(0, maxLength)}\n[cut: ${missing} more characters, all of it is ${refOf(artifact)}]`
  }
  const injection: Injection = {
    hook,
    text: shown,
    ...(key === undefined ? {} : { key }),
    ...(pinned === undefined ? {} : { pinned })
  }
  const others = mode === "overwrite"
    ? session.injections.filter((one) => one.key === undefined || one.key !== key)
    : session.injections
  session.injections = [...others, injection]
  if (io.hasListeners) io.publish({ type: "inject", hook, text: shown })
}
