/** A turn of nobody, for hooks that are measured alone. */
import type { HookScope } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"

export const scope: HookScope = {
  sessionId: "s",
  turnNumber: 1,
  stepNumber: 1,
  coreType: "bench",
  agent: { name: "agent", depth: 0, invokedBy: "main" },
  cwd: ".",
  signal: new AbortController().signal,
  state: HookState.make(),
  local: HookState.make(),
  contexts: [],
  freeze: false,
  active: () => false,
  emit: () => {},
  inject: () => {},
  warn: () => {},
  notifyUser: () => {},
  followUp: () => {},
  onFailure: () => {},
  onLate: () => {}
}
