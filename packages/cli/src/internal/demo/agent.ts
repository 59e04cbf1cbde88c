/** The agent of the demonstration and its hooks. */
import { createAgent } from "@belay/core/createAgent"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { SessionStore } from "@belay/core/SessionStore"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Approval from "@belay/hooks/Approval"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as DataFlow from "@belay/hooks/DataFlow"
import * as ProviderFallback from "@belay/hooks/ProviderFallback"
import * as Secrets from "@belay/hooks/Secrets"
import * as Recorder from "@belay/observe/Recorder"
import type { Places } from "./story.ts"
import { toolsFor } from "./tools.ts"

export interface Parts {
  readonly places: Places
  readonly providers: readonly [LlmProvider, ...ReadonlyArray<LlmProvider>]
  readonly store: SessionStore
  /** The most dollars to spend. */
  readonly budget: number
  /** Called when a key was removed from a text. */
  readonly onSecret: (kind: string, place: string) => void
}

export const makeAgent = ({ budget, onSecret, places, providers, store }: Parts) => {
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
      Secrets.make({
        onDetection: ({ kind, place }) => onSecret(kind, place)
      }),
      // Mail goes only to addresses that the person has named. Nobody is asked, because the answer is always no.
      DataFlow.make({ tools: "send_mail", ungrounded: "deny" }),
      Approval.make({ tools: "delete_*", reason: "files would be deleted" }),
      CostTracker.make({ limit: budget }),
      ProviderFallback.make(),
      ...HookFiles.load(files).hooks
    ],
    plugins: [Recorder.make({ path: places.recording })]
  })
}
