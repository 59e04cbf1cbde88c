/** Starts the scripted endpoint in a process of its own. */
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"

export interface Server {
  readonly url: string
  readonly stop: () => void
}

export const startServer = (): Promise<Server> =>
  new Promise((resolve) => {
    const child = fork(fileURLToPath(new URL("./serverProcess.ts", import.meta.url)))
    child.once("message", (port: number) =>
      resolve({ url: `http://127.0.0.1:${port}/v1`, stop: () => child.disconnect() }))
  })
