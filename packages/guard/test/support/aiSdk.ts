/** An agent of the AI SDK with two tools that note what they did. */
import type { AgentHook } from "@belay/core/AgentHook"
import { isStepCount, tool } from "ai"
import * as z from "zod"
import * as AiSdk from "../../src/AiSdk.ts"
import * as Guard from "../../src/Guard.ts"

export const kit = (
  hooks: ReadonlyArray<AgentHook>,
  options: AiSdk.AiSdkOptions = {},
  more: Guard.GuardOptions = {}
) => {
  const ran: Array<unknown> = []
  const guard = Guard.make({ hooks, log: false, ...more })
  const guarded = AiSdk.make(guard, options)
  const tools = {
    send_mail: tool({
      description: "Sends a mail",
      inputSchema: z.object({ to: z.string(), text: z.string().default("") }),
      execute: ({ text, to }) => {
        ran.push(to)
        return { sent: to, text }
      }
    }),
    read_page: tool({
      description: "Reads a page",
      inputSchema: z.object({ url: z.string() }),
      execute: ({ url }) => {
        ran.push(url)
        return `the secret of ${url} is 4711`
      }
    })
  }
  return { guard, guarded, ran, tools }
}

export const stopWhen = isStepCount(8)
