// A package registry on the loopback interface. It has the given tarballs, and every package that the workspace has
// installed, so that a project can install from it without a network.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { basename, dirname } from "node:path"
import { gzipSync } from "node:zlib"

/** The folders of all installed versions, by the names of the packages. */
const installed = () => {
  const folders = new Map()
  const { packages } = JSON.parse(readFileSync("node_modules/.package-lock.json", "utf8"))
  for (const [folder, { link }] of Object.entries(packages)) {
    const name = folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length)
    if (link !== true) folders.set(name, [...folders.get(name) ?? [], folder])
  }
  return folders
}

/** Packs an installed package. The packages inside of it have their own tarballs. */
const packed = (folder) => {
  const name = basename(folder)
  const args = ["-c", "-C", dirname(folder), `--exclude=${name}/node_modules`, name]
  const { status, stdout, stderr } = spawnSync("tar", args, { maxBuffer: 2 ** 30 })
  if (status !== 0) throw new Error(`tar ${args.join(" ")}: ${String(stderr)}`)
  return gzipSync(stdout, { level: 1 })
}

const describe = (manifest, tarball, url) => {
  const { scripts: _scripts, ...rest } = manifest
  const hash = (name, encoding) => createHash(name).update(tarball).digest(encoding)
  return {
    ...rest,
    dist: { tarball: url, shasum: hash("sha1", "hex"), integrity: `sha512-${hash("sha512", "base64")}` }
  }
}

/** Starts the registry. `own` has tarballs by the folders of their packages. */
export const startRegistry = async (own) => {
  const folders = installed()
  const tarballs = new Map()
  let origin = ""
  const ownOf = new Map([...own].map(([folder, file]) => {
    const manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"))
    return [manifest.name, { manifest, tarball: () => readFileSync(file) }]
  }))
  const versionsOf = (name) =>
    ownOf.has(name) ? [ownOf.get(name)] : (folders.get(name) ?? []).map((folder) => ({
      manifest: JSON.parse(readFileSync(`${folder}/package.json`, "utf8")),
      tarball: () => packed(folder)
    }))
  const documentOf = (name) => {
    const all = versionsOf(name).map(({ manifest, tarball }) => {
      const path = `/-/${name}-${manifest.version}.tgz`
      if (!tarballs.has(path)) tarballs.set(path, tarball())
      return describe(manifest, tarballs.get(path), `${origin}${path}`)
    })
    const latest = all.toSorted((one, other) => one.version < other.version ? 1 : -1)[0]?.version
    // Package managers refuse what was published a moment ago.
    const time = Object.fromEntries(all.map(({ version }) => [version, "2020-01-01T00:00:00.000Z"]))
    return { name, "dist-tags": { latest }, time, versions: Object.fromEntries(all.map((one) => [one.version, one])) }
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname)
    const found = path.startsWith("/-/") ? tarballs.get(path) : documentOf(path.slice(1))
    if (found === undefined || found["dist-tags"]?.latest === undefined && !Buffer.isBuffer(found)) {
      response.writeHead(404, { "content-type": "application/json" }).end("{}")
    } else if (Buffer.isBuffer(found)) response.writeHead(200).end(found)
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found))
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  origin = `http://127.0.0.1:${server.address().port}`
  return { url: origin, close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) }
}
