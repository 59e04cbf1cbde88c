/** What streams show of the result of a tool: the result as the hooks left it, when they have left it. */
import type { BaseCallbackHandler } from "@langchain/core/callbacks/base"
import type { CallbackManager } from "@langchain/core/callbacks/manager"
import { ToolMessage } from "@langchain/core/messages"

/** The handlers behind `streamMode: "tools"` and `streamEvents`. Others, such as tracers, see what the tool said. */
const streams: ReadonlySet<string> = new Set(["StreamToolsHandler", "event_stream_tracer"])

/** Options of a call, with its handlers. */
interface WithCallbacks {
  readonly callbacks?: CallbackManager | ReadonlyArray<BaseCallbackHandler>
}

/** The end of a call, for a handler. */
interface Held {
  readonly handler: Handler
  readonly said: unknown
  readonly rest: ReadonlyArray<unknown>
}

/** The methods of a handler, which this file passes on as they are. */
type Handler = { readonly [method: string]: ((...args: ReadonlyArray<unknown>) => unknown) | undefined }

/** A class, because a call may end before or after the hooks have decided. */
export class ShownResult {
  private readonly isReadByHooks: boolean
  private readonly held: Array<Held> = []
  private readonly swapped = new Map<BaseCallbackHandler, BaseCallbackHandler>()
  private final: { readonly value: unknown } | undefined

  /** Pieces of a result are not shown if hooks read the whole of it. */
  constructor(isReadByHooks: boolean) {
    this.isReadByHooks = isReadByHooks
  }

  /** Returns a tool whose result is held back. */
  tool<T>(tool: T): T {
    const { invoke } = Object(tool) as { readonly invoke?: (input: unknown, config?: WithCallbacks) => unknown }
    if (typeof tool !== "object" || tool === null || typeof invoke !== "function") return tool
    const value = (input: unknown, config?: WithCallbacks): unknown => invoke.call(tool, input, this.inside(config))
    return Object.create(tool, { invoke: { value } }) as T
  }

  /** Returns the options of a call, with handlers that wait. */
  inside<C>(given: C): C {
    const config = this.isReadByHooks ? silent(given) : given
    const { callbacks } = Object(config) as WithCallbacks
    if (callbacks === undefined) return config
    if ("copy" in callbacks) {
      if (!callbacks.handlers.some(isStream)) return config
      const copy = callbacks.copy()
      copy.handlers = copy.handlers.map(this.swap)
      copy.inheritableHandlers = copy.inheritableHandlers.map(this.swap)
      return { ...config, callbacks: copy }
    }
    return { ...config, callbacks: callbacks.map(this.swap) }
  }

  /** Shows a result, or an error that ends the call. */
  async show(value: unknown): Promise<void> {
    this.final = { value }
    for (const one of this.held.splice(0)) await tell(one, value)
  }

  private readonly swap = (handler: BaseCallbackHandler): BaseCallbackHandler => {
    if (!isStream(handler)) return handler
    const known = this.swapped.get(handler)
    if (known !== undefined) return known
    // A handler also receives the tools inside of this one.
    let own: unknown
    const target = handler as unknown as Handler
    const end = async (said: unknown, ...rest: ReadonlyArray<unknown>): Promise<void> => {
      const one = { handler: target, said, rest }
      if (rest[0] === own && this.final === undefined) this.held.push(one)
      else await tell(one, rest[0] === own ? this.final?.value : said)
    }
    const methods: Handler = {
      handleToolStart: (...args) => {
        own ??= args[2]
        return target["handleToolStart"]?.call(handler, ...args)
      },
      handleToolEvent: (...args) =>
        this.isReadByHooks && args[1] === own ? undefined : target["handleToolEvent"]?.call(handler, ...args),
      handleCustomEvent: (...args) =>
        this.isReadByHooks && args[2] === own ? undefined : target["handleCustomEvent"]?.call(handler, ...args),
      handleToolEnd: end,
      handleToolError: end
    }
    const made = new Proxy(handler, {
      get: (_target, name) => {
        if (typeof name === "string" && Object.hasOwn(methods, name)) return methods[name]
        const value: unknown = Reflect.get(handler, name, handler)
        return typeof value === "function" ? value.bind(handler) as unknown : value
      }
    })
    this.swapped.set(handler, made)
    return made
  }
}

/** The options of a call without what shows at once what a tool writes. */
const silent = <C>(given: C): C => {
  const { config, configurable, writer } = Object(given) as {
    readonly config?: unknown
    readonly configurable?: { readonly writer?: unknown }
    readonly writer?: unknown
  }
  return typeof given !== "object" || given === null ? given : {
    ...given,
    ...(typeof writer === "function" ? { writer: writeNothing } : {}),
    ...(configurable?.writer === undefined ? {} : { configurable: { ...configurable, writer: writeNothing } }),
    ...(config === undefined ? {} : { config: silent(config) })
  }
}

const writeNothing = (): void => {}

const isStream = ({ name }: BaseCallbackHandler): boolean => streams.has(name)

/** Says to a handler how a call has ended. An error that no hook has changed is the error of the tool. */
const tell = async ({ handler, rest, said }: Held, value: unknown): Promise<void> => {
  const failed = value instanceof Error
    ? value
    : ToolMessage.isInstance(value) && value.status === "error"
    ? said instanceof Error && said.message === value.text ? said : new Error(value.text)
    : undefined
  if (failed === undefined) await handler["handleToolEnd"]?.(value, ...rest)
  else await handler["handleToolError"]?.(failed, ...rest)
}
