/**
 * Sets of ready-made tools.
 *
 * @since 0.1.0
 */
import type { AnyTool } from "@belay/core/defineTool"
import * as Edit from "./Edit.ts"
import * as Glob from "./Glob.ts"
import * as Grep from "./Grep.ts"
import type { FolderOptions } from "./internal/resolvePath.ts"
import * as Read from "./Read.ts"
import * as Write from "./Write.ts"

/** Options of the sets. @category models @since 0.1.0 */
export interface Options extends FolderOptions {}

/**
 * The tools that only look at files: `Read`, `Glob` and `Grep`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reading = (options: Options = {}): ReadonlyArray<AnyTool> => [
  Read.make(options),
  Glob.make(options),
  Grep.make(options)
]

/**
 * The tools for files: `Read`, `Glob`, `Grep`, `Write` and `Edit`. Commands and the web are not in it: add
 * `Bash.make()` and `WebFetch.make()` where you want them.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import { Approval } from "@belay/hooks"
 * import { Bash, Toolset } from "@belay/tools"
 *
 * const coder = (provider: LlmProvider) =>
 *   createAgent({
 *     provider,
 *     cwd: "project",
 *     tools: [...Toolset.files(), Bash.make()],
 *     hooks: [Approval.make({ tools: ["Write", "Edit", "Bash"] })]
 *   })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const files = (options: Options = {}): ReadonlyArray<AnyTool> => [
  ...reading(options),
  Write.make(options),
  Edit.make(options)
]
