/** A scope as the runtime would lend it, that writes down what hooks and the chain tell it. */
import type { HookScope } from "../src/hook/HookContext.ts"
import type { HookFailure, HookRecord } from "../src/hook/HookRecord.ts"
import * as HookState from "../src/hook/HookState.ts"

export interface TestScope extends HookScope {
  readonly failures: Array<HookFailure>
  readonly records: Array<HookRecord>
  /** `hook what` of everything that came after a timeout. */
  readonly late: Array<string>
  /** `hook kind: text` of everything hooks did besides answering. */
  readonly told: Array<string>
}

export const make = (with_: Partial<HookScope> & { readonly record?: boolean } = {}): TestScope => {
  const failures: Array<HookFailure> = []
  const records: Array<HookRecord> = []
  const late: Array<string> = []
  const told: Array<string> = []
  const { record = true, ...rest } = with_
  return {
    sessionId: "session-1",
    turnNumber: 3,
    stepNumber: 2,
    coreType: "tool-loop",
    agent: { name: "tester", depth: 0, invokedBy: "main" },
    cwd: "/tmp/nowhere",
    signal: new AbortController().signal,
    state: HookState.make(),
    contexts: [],
    freeze: true,
    active: () => true,
    emit: (name, payload, hook) => void told.push(`${hook} event: ${name} ${JSON.stringify(payload)}`),
    inject: (text, _options, hook) => void told.push(`${hook} inject: ${text}`),
    warn: (message, hook) => void told.push(`${hook} warn: ${message}`),
    notifyUser: (message, hook) => void told.push(`${hook} notify: ${message}`),
    followUp: (message, hook) => void told.push(`${hook} followUp: ${message}`),
    ...(record ? { onRecord: (one: HookRecord) => void records.push(one) } : {}),
    onFailure: (failure) => void failures.push(failure),
    onLate: (hook, what) => void late.push(`${hook} ${what}`),
    ...rest,
    failures,
    records,
    late,
    told
  }
}
