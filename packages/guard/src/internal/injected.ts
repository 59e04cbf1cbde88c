/** Texts that hooks have injected, for SDKs that do not show what the model is asked. */
import type { ToolCallVerdict } from "@belay/core/Verdict"

/** What hooks have injected. */
export type Injected = ToolCallVerdict["context"]

/** Returns the texts as the model reads them. */
export const injectedText = (context: Injected): string => context.map(({ text }) => text).join("\n\n")

/** Adds the texts to why a call does not run: the model reads no result of it. */
export const withInjected = (reason: string, context: Injected): string =>
  context.length === 0 ? reason : `${reason}\n\n${injectedText(context)}`
