// Completes package-lock.json after `npm install`: platform packages that are not published for a version are left out
// by npm, and
// `npm ci` then refuses the lockfile. They are written down with the platform they are named after, so that no other
// asks for them. Marks of install scripts are removed: nothing that the workspace uses needs one.
import { readFileSync, writeFileSync } from "node:fs"

const file = process.argv[2] ?? "package-lock.json"
const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"]
const processors = ["arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "x64"]

const platformOf = (name) => {
  const words = name.split(/[-/]/).map((word) => word === "windows" ? "win32" : word)
  const cpu = words.map((word) => word === "x32" ? "ia32" : word)
  const libc = words.some((word) => word.startsWith("musl"))
    ? ["musl"]
    : words.some((word) => word.startsWith("gnu"))
    ? ["glibc"]
    : undefined
  return {
    os: systems.filter((system) => words.includes(system)),
    cpu: processors.filter((processor) => cpu.includes(processor)),
    ...(libc === undefined ? {} : { libc })
  }
}

const lock = JSON.parse(readFileSync(file, "utf8"))
const added = []
for (const [path, { dev, optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const known = [`${path}/node_modules/${name}`, `node_modules/${name}`].some((key) =>
      lock.packages[key] !== undefined
    )
    const { os, cpu, libc } = platformOf(name)
    if (known || os.length !== 1 || cpu.length !== 1) continue
    const entry = {
      version,
      cpu,
      ...(dev === undefined ? {} : { dev }),
      ...(libc === undefined ? {} : { libc }),
      optional: true,
      os
    }
    lock.packages[`node_modules/${name}`] = entry
    added.push(`${name} ${version}`)
  }
}
// Without the mark, `npm ci` runs no script of the package.
const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
for (const [path, entry] of scripted) {
  delete entry.hasInstallScript
  added.push(`${path} runs no install script`)
}
const [root, ...rest] = Object.entries(lock.packages)
lock.packages = Object.fromEntries([root, ...rest.sort(([a], [b]) => a < b ? -1 : 1)])
if (added.length > 0) writeFileSync(file, JSON.stringify(lock, null, 2) + "\n")
console.log(added.length === 0 ? "complete" : added.join("\n"))
