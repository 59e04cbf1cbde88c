/** A hook: it sees each message before the model does. */
import { defineHook, HookAction } from "@belay/sdk"

export const politeness = defineHook({
  name: "politeness",
  preTurn: ({ message }) => /\b(stupid|idiot)\b/i.test(message) ? HookAction.reject("please be polite") : undefined
})
