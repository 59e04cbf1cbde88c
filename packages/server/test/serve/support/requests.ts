/** Requests of the principal `ada`, for each protocol. */

export const ada = { authorization: "Bearer token-ada" }
export const request = (path: string, body: unknown, headers: Readonly<Record<string, string>> = ada) =>
  new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) })
export const chatBody = (words: string, rest: object = {}) => ({
  messages: [{ role: "user", content: words }],
  ...rest
})
export const uiBody = (id: string, words: string) => ({
  id,
  messages: [{ id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text: words }] }]
})
export const bodyOf: { readonly [path: string]: (words: string) => object } = {
  "/v1/chat/completions": (words) => chatBody(words),
  "/v1/responses": (words) => ({ input: words }),
  "/api/chat": (words) => uiBody("c1", words),
  "/ag-ui": (content) => ({
    threadId: "c1",
    runId: crypto.randomUUID(),
    messages: [{ id: "m", role: "user", content }]
  })
}
