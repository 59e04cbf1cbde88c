/**
 * A hook reports every answer to a server that the policy names. Nothing else inside the network is reached, however it
 * is written.
 */
import { createAgent, defineHook, HttpGuard, OpenAiCompatible } from "@belay/sdk"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const server = createServer((request, response) => response.end(`${request.method} ${request.url}: noted`)).listen(
  0,
  "127.0.0.1"
)
await once(server, "listening")
const here = `127.0.0.1:${(server.address() as AddressInfo).port}`

const report = defineHook({
  name: "report",
  postTurn: function*({ output }, ctx) {
    for (
      const url of [
        `http://${here}/answers`,
        "http://0x7f.1/answers",
        "https://169.254.169.254/latest",
        "file:///etc/hosts"
      ]
    ) {
      const answer = ctx.http({ url, method: "POST", body: output.text })
      console.log(yield* Effect.match(answer, { onSuccess: ({ body }) => body, onFailure: ({ message }) => message }))
    }
  }
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  hooks: [report],
  http: HttpGuard.client({ policy: { hosts: ["hooks.example.com"], loopback: [here] }, timeoutMs: 5_000 })
})
console.log((await agent.run("Hello")).status)
server.close()
await agent.close()
