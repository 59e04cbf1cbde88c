/** The guard as a plugin of opencode, checked with the types of its plugin API. */
import { Guard } from "@belay/guard"
import * as OpenCode from "@belay/guard/OpenCode"
import type { Plugin } from "@opencode-ai/plugin"

export const BelayGuard: Plugin = OpenCode.make(Guard.make({ log: false }))
