/** Renders hosted tools for the Responses API. */
import type { JsonObject } from "@belay/core/Json"
import type { HostedTool } from "@belay/core/LlmCall"

/** Returns an entry for the list of tools. */
export const hostedTool = (tool: HostedTool): JsonObject => {
  switch (tool.type) {
    case "web-search":
      return {
        type: "web_search",
        ...(tool.domains === undefined ? {} : { filters: { allowed_domains: [...tool.domains] } })
      }
    case "file-search":
      return {
        type: "file_search",
        vector_store_ids: [...tool.stores],
        ...(tool.maxResults === undefined ? {} : { max_num_results: tool.maxResults })
      }
    case "code-interpreter":
      return { type: "code_interpreter", container: { type: "auto" } }
    case "tool-search":
      return { type: "tool_search" }
    case "mcp":
      return {
        type: "mcp",
        server_label: tool.name,
        server_url: tool.url,
        require_approval: "never",
        ...(tool.headers === undefined ? {} : { headers: { ...tool.headers } }),
        ...(tool.tools === undefined ? {} : { allowed_tools: [...tool.tools] })
      }
  }
}
