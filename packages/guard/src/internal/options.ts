/** The options of a conversation in another SDK. */
import { checkKinds, checkObject, type OptionKinds, optionsIn } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import type { ConversationOptions, ToolHints } from "../Guard.ts"

/** Throws a `ConfigError` if these are not options of a conversation. */
export const checkOptions = (adapter: string, options: Partial<ConversationOptions>): void => {
  Result.getOrThrow(checkObject(adapter, options, "options"))
  Result.getOrThrow(checkKinds(adapter, options, conversationKinds))
}

const hintKinds: OptionKinds<ToolHints> = {
  readOnly: "flag",
  destructive: "flag",
  idempotent: "flag",
  openWorld: "flag"
}

const conversationKinds: OptionKinds<ConversationOptions> = {
  id: "text",
  agent: "text",
  parent: "object",
  parentCall: "text",
  cwd: "text",
  hints: optionsIn("table", hintKinds),
  approvedBy: "text"
}
