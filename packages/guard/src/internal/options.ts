/** The options of a conversation that the adapters read themselves. */
import { checkKinds, checkObject, type OptionKinds, optionsIn } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import type { ConversationOptions, ToolHints } from "../Guard.ts"

/** Throws a `ConfigError` if these are not options. The session checks the rest of them. */
export const checkOptions = (adapter: string, options: Pick<ConversationOptions, "approvedBy" | "hints">): void => {
  Result.getOrThrow(checkObject(adapter, options, "options"))
  const { approvedBy, hints } = options
  Result.getOrThrow(
    checkKinds(adapter, { approvedBy, hints }, { approvedBy: "text", hints: optionsIn("table", hintKinds) })
  )
}

const hintKinds: OptionKinds<ToolHints> = {
  readOnly: "flag",
  destructive: "flag",
  idempotent: "flag",
  openWorld: "flag"
}
