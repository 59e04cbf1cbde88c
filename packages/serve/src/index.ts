/**
 * Serves an agent over the protocols that clients already speak.
 *
 * @since 0.1.0
 */
export * as Acp from "./Acp.ts"
export * as AgUi from "./AgUi.ts"
export * as Mcp from "./Mcp.ts"
export * as NodeHttp from "./NodeHttp.ts"
export * as OpenAiChat from "./OpenAiChat.ts"
export * as OpenAiResponses from "./OpenAiResponses.ts"
export * as Page from "./Page.ts"
export * as Serve from "./Serve.ts"
export * as UiStream from "./UiStream.ts"
