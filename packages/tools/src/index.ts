/**
 * Ready-made tools, with the names and arguments of the tools of Claude Code, so that permission rules and hook files
 * fit without a mapping.
 *
 * @since 0.1.0
 */
export * as Bash from "./Bash.ts"
export * as Edit from "./Edit.ts"
export * as Glob from "./Glob.ts"
export * as Grep from "./Grep.ts"
export * as Read from "./Read.ts"
export * as Skills from "./Skills.ts"
export * as ToolError from "./ToolError.ts"
export * as ToolSearch from "./ToolSearch.ts"
export * as Toolset from "./Toolset.ts"
export * as WebFetch from "./WebFetch.ts"
export * as Write from "./Write.ts"
