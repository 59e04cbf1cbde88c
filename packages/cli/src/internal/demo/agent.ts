/** The agent of the demonstration and its hooks. */
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { SessionStore } from "@belay/core/SessionStore"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Approval from "@belay/hooks/Approval"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as PromptInjection from "@belay/hooks/PromptInjection"
import * as ProviderFallback from "@belay/hooks/ProviderFallback"
import * as Secrets from "@belay/hooks/Secrets"
import * as Recorder from "@belay/inspect/Recorder"
import type { Places } from "./story.ts"
import { toolsFor } from "./tools.ts"

/** Prices of the demonstration, in dollars per token. */
export const prices = { costPerInputToken: 4e-7, costPerOutputToken: 1.6e-6 }

export interface Parts {
  readonly places: Places
  readonly providers: readonly [LlmProvider, ...ReadonlyArray<LlmProvider>]
  readonly store: SessionStore
  /** The most dollars to spend. */
  readonly budget: number
  /** What the person has asked for. Mail to the people named in it is allowed. */
  readonly prompt: string
  /** Called when a key was removed from a text. */
  readonly onSecret: (kind: string, place: string) => void
}

/** A hook of the program itself: after a suspicious text was read, mail goes only to people whom the user has named. */
const mailGuard = (prompt: string) =>
  defineHook({
    name: "mail-guard",
    kind: "policy",
    tools: "send_mail",
    preToolCall: ({ args }, ctx) => {
      const { to } = args as { readonly to: string }
      return PromptInjection.isTainted(ctx) && !prompt.includes(to)
        ? HookAction.reject(`nobody asked for a mail to ${to}, and a file that was read contains orders`)
        : undefined
    }
  })

export const makeAgent = ({ budget, onSecret, places, prompt, providers, store }: Parts) => {
  const files = { cwd: places.project, home: places.root }
  // The demonstration has made the files itself, so it trusts them. `belay hooks trust` asks a person.
  for (const { trust } of HookFiles.load(files).untrusted) trust()
  return createAgent({
    name: "clerk",
    provider: providers,
    instructions: "You look after a folder of invoices. Use the tools, and say briefly what you did.",
    cwd: places.project,
    store,
    records: true,
    log: false,
    tools: toolsFor(places.project),
    hooks: [
      PromptInjection.make({ toolResults: "warn" }),
      Secrets.make({
        onDetection: ({ kind, place }) => onSecret(kind, place)
      }),
      mailGuard(prompt),
      Approval.make({ tools: "delete_*", reason: "files would be deleted" }),
      CostTracker.make({ ...prices, limit: budget }),
      ProviderFallback.make(),
      ...HookFiles.load(files).hooks
    ],
    plugins: [Recorder.make({ path: places.recording })]
  })
}
