/**
 * Measures how long the sessions of a killed process wait for another one: from SIGKILL to the first act elsewhere. With
 * the local engine, a new process is started at that moment.
 * `ROUNDS=5 node --conditions=@belay/source packages/server/test/host/support/failover.ts`
 */
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { startPostgres } from "../../../../../test/support/postgres.ts"
import { newFile } from "./hosted.ts"
import { type EngineName, openHost } from "./openStore.ts"

const worker = fileURLToPath(new URL("./failoverWorker.ts", import.meta.url))

const now = () => performance.timeOrigin + performance.now()

/** A process that has begun the tool, and when. */
const lastAct = (log: string): { readonly pid: number; readonly at: number } | undefined => {
  const [pid, at] = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").at(-1)!.split(" ") : []
  return at === undefined ? undefined : { pid: Number(pid), at: Number(at) }
}

/** Waits for the first act after a time. */
const nextAct = async (log: string, after: number) => {
  for (let act = lastAct(log);; act = lastAct(log)) {
    if (act !== undefined && act.at > after) return act
    await Effect.runPromise(Effect.sleep(5))
  }
}

/** Returns the milliseconds of each round. */
export const failover = async (url: string, engine: EngineName, rounds: number): Promise<ReadonlyArray<number>> => {
  const where = `${url}#failover_${engine.replace("-", "")}`
  const log = `${newFile()}.log`
  const { store, ...rest } = openHost(where, engine)
  const host = Host.make({ agent: { session: () => Promise.reject(new Error("it only sends")) }, store, ...rest })
  const children = new Map<number, ChildProcess>()
  const start = async (): Promise<void> => {
    const child = spawn(process.execPath, ["--conditions=@belay/source", worker, where, engine, log], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    children.set(child.pid!, child)
    await once(child.stdout, "data")
  }
  const found: Array<number> = []
  try {
    await start()
    if (engine !== "local") await start()
    await host.send("s", "do work")
    await nextAct(log, 0)
    for (let round = 0; round < rounds; round++) {
      // Sessions move to a process that has joined. A tool that does not end is given up after five seconds.
      await Effect.runPromise(Effect.sleep(engine === "cluster" ? 7_500 : 1_500))
      const { pid } = lastAct(log)!
      const killed = now()
      children.get(pid)!.kill("SIGKILL")
      children.delete(pid)
      const started = engine === "local" ? start() : undefined
      const act = await nextAct(log, killed)
      found.push(Math.round(act.at - killed))
      await (started ?? start())
    }
  } finally {
    for (const child of children.values()) child.kill("SIGKILL")
    await store.close()
  }
  return found
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await startPostgres()
  try {
    for (const engine of ["local", "cluster", "pg-boss"] as const) {
      const found = await failover(server.url, engine, Number(process.env["ROUNDS"] ?? 5))
      const sorted = found.toSorted((a, b) => a - b)
      console.log(`${engine}: ${found.join(", ")} ms, median ${sorted[Math.floor(sorted.length / 2)]} ms`)
    }
  } finally {
    await server.dispose()
  }
}
