/** A scope as in the runtime, which records what hooks do with it. */
import type { HookScope } from "@belay/core/HookContext"
import type { HookFailure, HookRecord } from "@belay/core/HookRecord"
import * as HookState from "@belay/core/HookState"

export interface TestScope extends HookScope {
  readonly warnings: Array<string>
  readonly failures: Array<HookFailure>
  readonly records: Array<HookRecord>
}

export const make = (with_: Partial<HookScope> = {}): TestScope => {
  const warnings: Array<string> = []
  const failures: Array<HookFailure> = []
  const records: Array<HookRecord> = []
  return {
    sessionId: "session-1",
    turnNumber: 1,
    stepNumber: 1,
    coreType: "tool-loop",
    agent: { name: "tester", depth: 0, invokedBy: "main" },
    cwd: "/tmp/nowhere",
    signal: new AbortController().signal,
    state: HookState.make(),
    contexts: [],
    freeze: true,
    active: () => false,
    emit: () => {},
    inject: () => {},
    warn: (message) => void warnings.push(message),
    notifyUser: () => {},
    followUp: () => {},
    onRecord: (record) => void records.push(record),
    onFailure: (failure) => void failures.push(failure),
    onLate: () => {},
    ...with_,
    warnings,
    failures,
    records
  }
}

/** A context as a hook of this name would get it. */
export const context = (scope: TestScope, hook: string) => ({
  ...scope,
  hook,
  root: { sessionId: scope.sessionId, turnNumber: scope.turnNumber, state: scope.state }
})
