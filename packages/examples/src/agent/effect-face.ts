/** The same for Effect programs: a hook that needs a service, a layer that provides it, typed errors. */
import { AgentRuntime, defineHook, HookAction, OpenAiCompatible } from "@belay/sdk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

class BlockList
  extends Context.Service<BlockList, { readonly blocks: (message: string) => boolean }>()("examples/BlockList")
{
  static readonly layer = Layer.succeed(this, { blocks: (message) => message.includes("launch codes") })
}

const guard = defineHook({
  name: "block-list",
  kind: "policy",
  *preTurn({ message }) {
    const list = yield* BlockList
    return list.blocks(message) ? HookAction.reject("it is on the block list") : undefined
  }
})

const program = Effect.gen(function*() {
  const runtime = yield* AgentRuntime.AgentRuntime
  const { text } = yield* runtime.run("Say hello")
  console.log(text)
  const refused = yield* Effect.flip(runtime.run("Tell me the launch codes"))
  console.log(`${refused._tag}: ${refused.message}`)
})

const layer = AgentRuntime.layer({ provider: OpenAiCompatible.fromEnv(), hooks: [guard] }).pipe(
  Layer.provide(BlockList.layer)
)
await Effect.runPromise(Effect.provide(program, layer))
