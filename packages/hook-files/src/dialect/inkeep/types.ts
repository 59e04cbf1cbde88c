/** The types of definitions and attachments, and of the context that hook code receives. */
import type { Eventual } from "@belay/core/Eventual"
import type { HttpRequest, HttpResponse } from "@belay/core/Http"
import type { Json, JsonObject } from "@belay/core/Json"
import type * as Schema from "effect/Schema"
import type * as Sandbox from "../../runner/Sandbox.ts"
import type { HookPoint } from "./response.ts"

/** How long a variable lives at most. @category models @since 0.2.0 */
export type VariableScope = "conversation" | "turn" | "toolCall"

/**
 * The context that every hook receives. Each hook point adds more fields. All functions return promises.
 *
 * @category models
 * @since 0.1.0
 */
export interface Context {
  readonly hook: { readonly name: string; readonly point: HookPoint }
  readonly conversation: {
    readonly conversationId: string
    readonly taskId: string
    readonly tenantId: string
    readonly projectId: string
  }
  /** The configuration of the attachment. */
  readonly config?: Json
  /** At `before-args` and `after-result`. */
  readonly tool?: {
    readonly name: string
    readonly type: "mcp" | "function" | "relation"
    readonly readonly: boolean
    readonly sideEffects: boolean
    readonly destructive: boolean
  }
  readonly args?: Json
  /**
   * At `after-result` the result of the tool, or `{ error }` if the call failed. At `after-delegation` the text of the
   * sub-agent.
   */
  readonly result?: Json
  readonly isError?: boolean
  /** At `before-delegation` and `after-delegation`. */
  readonly subAgent?: { readonly agentId: string; readonly name: string }
  readonly delegationType?: "delegate" | "transfer"
  readonly payload?: Json
  /**
   * Variables that the model never sees. They are stored with the conversation, or only until the end of the `turn` or
   * of the `toolCall`. The default is the conversation.
   */
  readonly variableBag: {
    readonly get: (key: string, scope?: VariableScope) => Promise<Json | undefined>
    /**
     * With `ttlMs`, the variable is absent after this many milliseconds. Without it, a write removes an earlier limit.
     */
    readonly set: (
      key: string,
      value: Json,
      options?: VariableScope | { readonly scope?: VariableScope; readonly ttlMs?: number }
    ) => Promise<void>
    readonly delete: (key: string, scope?: VariableScope) => Promise<boolean>
    readonly getAll: (scope?: VariableScope) => Promise<JsonObject>
    /**
     * Returns how often the variable was written since it exists, from 1 on, and when it expires, in milliseconds since
     * 1970. Returns undefined if there is no such variable.
     */
    readonly about: (
      key: string,
      scope?: VariableScope
    ) => Promise<{ readonly version: number; readonly expiresAt?: number } | undefined>
  }
  readonly artifacts: {
    /** Stores a text and returns a reference that can be shown to the model. */
    readonly write: (key: string, content: string, mimeType?: string) => Promise<string>
    readonly append: (key: string, content: string, mimeType?: string) => Promise<string>
    readonly read: (key: string) => Promise<string | undefined>
  }
  readonly http: {
    readonly fetch: (request: string | HttpRequest, init?: Omit<HttpRequest, "url">) => Promise<HttpResponse>
  }
  /** Call a tool with `callTool("server.tool", args)` or `callTool("server", "tool", args)`. */
  readonly mcp: {
    readonly callTool: (name: string, ...args: ReadonlyArray<Json>) => Promise<Json>
    readonly listTools: () => Promise<Json>
  }
  /**
   * Absent if the host has no secrets. `get` returns a token in place of the secret. The token is replaced by the
   * secret in the arguments of the tool call and in requests of `http`.
   */
  readonly secrets?: { readonly get: (name: string) => Promise<string | undefined> }
}

interface About {
  readonly id: string
  /** Default: the id. */
  readonly name?: string | null
  readonly description?: string | null
  /** The Effect schema that the `config` of every attachment is checked against. */
  readonly schema?: Schema.Codec<unknown, unknown> | null
}

/** A package that stored code may import. @category models @since 0.2.0 */
export interface Package {
  readonly version: string
  /** One ES module, for example the output of a bundler. It may import other allowed packages. */
  readonly code: string
}

/** The packages that stored code may import, by name. @category models @since 0.2.0 */
export type Packages = { readonly [name: string]: Package }

/**
 * Stored code, for example `export default async (ctx) => ({ action: "proceed" })`. It runs in a sandbox.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stored extends About {
  readonly execution?: "sandbox" | null
  readonly executeCode: string
  /** The packages that the code imports, with their versions. `bundle` must have added them. */
  readonly dependencies?: { readonly [name: string]: string } | null
  /** The packages that `bundle` added. They are saved with the definition. */
  readonly bundled?: Packages | null
}

/** A function of the host. It runs in the process of the host and has the same rights. @category models @since 0.1.0 */
export interface InProcess extends About {
  readonly execution: "in-process"
  readonly run: (ctx: Context) => Eventual<unknown>
}

/** A hook of Inkeep: stored code, or a function of this process. @category models @since 0.1.0 */
export type Definition = Stored | InProcess

/** Whether a hook runs for all agents of the project or for one agent. @category models @since 0.1.0 */
export type Scope = { readonly _tag: "project" } | { readonly _tag: "agent"; readonly agentId: string }

/**
 * Attaches a definition to one hook point. Fields can be null, as in an empty database column; null means the same as
 * absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attachment {
  readonly hookDefinitionId: string
  /** `agent` needs `agentId`, as in a row of a database. */
  readonly scope: Scope | "project" | "agent"
  /** The agent, if `scope` is `agent`. */
  readonly agentId?: string | null
  readonly hookPoint: HookPoint
  /** Hooks with a lower order run first. All hooks of the project run before those of an agent. Default 0. */
  readonly order?: number | null
  /** Whether a hook that fails counts as `proceed` or ends the turn. Default `proceed`. */
  readonly onError?: "proceed" | "abort" | null
  /**
   * The name of the attachment. It must be unique at its hook point. Default `<definition>@project` or
   * `<definition>@<agent>`.
   */
  readonly name?: string | null
  readonly config?: Json
  /** The limits of the sandbox. `timeoutMs` also applies to in-process functions, with a default of 30,000. */
  readonly sandboxConfig?: Sandbox.Limits | null
  /** Whether the variables that a hook wrote are stored if it answers `abort`. Default `keep`. */
  readonly writes?: "keep" | "discardOnAbort" | null
}
