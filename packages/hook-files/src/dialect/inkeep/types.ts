/** What is stored, and what stored code is handed. */
import type { Eventual } from "@belay/core/Eventual"
import type { HttpRequest, HttpResponse } from "@belay/core/Http"
import type { Json, JsonObject } from "@belay/core/Json"
import type * as Schema from "effect/Schema"
import type * as Sandbox from "../../runner/Sandbox.ts"
import type { HookPoint } from "./response.ts"

/**
 * The context of every hook; more fields belong to its point. Functions return promises.
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
  /** What the attachment was configured with. */
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
  /** At `after-result`, and the text of a sub-agent at `after-delegation`. Of a call that failed `{ error }`. */
  readonly result?: Json
  readonly isError?: boolean
  /** At `before-delegation` and `after-delegation`. */
  readonly subAgent?: { readonly agentId: string; readonly name: string }
  readonly delegationType?: "delegate" | "transfer"
  readonly payload?: Json
  /** Kept with the conversation, or only as long as the `turn` or the `toolCall`; never seen by the model. */
  readonly variableBag: {
    readonly get: (key: string, scope?: "conversation" | "turn" | "toolCall") => Promise<Json | undefined>
    readonly set: (key: string, value: Json, scope?: "conversation" | "turn" | "toolCall") => Promise<void>
    readonly delete: (key: string, scope?: "conversation" | "turn" | "toolCall") => Promise<boolean>
    readonly getAll: (scope?: "conversation" | "turn" | "toolCall") => Promise<JsonObject>
  }
  readonly artifacts: {
    /** Gives back what the model may be shown for it. */
    readonly write: (key: string, content: string, mimeType?: string) => Promise<string>
    readonly append: (key: string, content: string, mimeType?: string) => Promise<string>
    readonly read: (key: string) => Promise<string | undefined>
  }
  readonly http: {
    readonly fetch: (request: string | HttpRequest, init?: Omit<HttpRequest, "url">) => Promise<HttpResponse>
  }
  /** `callTool("server.tool", args)`, or with the server apart. */
  readonly mcp: {
    readonly callTool: (name: string, ...args: ReadonlyArray<Json>) => Promise<Json>
    readonly listTools: () => Promise<Json>
  }
  /**
   * Absent where the host has no secrets. It returns a token that stands for the secret: the tool that is called, and
   * `http`, receive the secret itself.
   */
  readonly secrets?: { readonly get: (name: string) => Promise<string | undefined> }
}

interface About {
  readonly id: string
  /** Default: the id. */
  readonly name?: string | null
  readonly description?: string | null
  /** What `config` of an attachment has to be. */
  readonly schema?: Schema.Codec<unknown, unknown> | null
}

/**
 * Code that is kept somewhere: `export default async (ctx) => ({ action: "proceed" })`. It runs in a sandbox.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stored extends About {
  readonly execution?: "sandbox" | null
  readonly executeCode: string
  /** There are none in the sandbox: anything here is an error. */
  readonly dependencies?: { readonly [name: string]: string } | null
}

/** A function of the host, which may do whatever the host may. @category models @since 0.1.0 */
export interface InProcess extends About {
  readonly execution: "in-process"
  readonly run: (ctx: Context) => Eventual<unknown>
}

/** @category models @since 0.1.0 */
export type Definition = Stored | InProcess

/** Whose hook it is. @category models @since 0.1.0 */
export type Scope = { readonly _tag: "project" } | { readonly _tag: "agent"; readonly agentId: string }

/**
 * One definition at one point. Null, as an empty column of a database has it, is as good as absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attachment {
  readonly hookDefinitionId: string
  readonly scope: Scope | "project"
  readonly hookPoint: HookPoint
  /** Lower runs first, after everything of the project where the scope is an agent. Default 0. */
  readonly order?: number | null
  /** What a hook that breaks means: as if it had said `proceed`, or the end of the turn. Default `proceed`. */
  readonly onError?: "proceed" | "abort" | null
  /** Unique at its point. Default `<definition>@project` or `<definition>@<agent>`. */
  readonly name?: string | null
  readonly config?: Json
  /** `timeoutMs` counts in process too, where its default is 30,000. */
  readonly sandboxConfig?: Sandbox.Limits | null
  /** Whether variables that a hook wrote before it said `abort` count. Default `keep`. */
  readonly writes?: "keep" | "discardOnAbort" | null
}
