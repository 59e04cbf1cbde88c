// Builds the packages to their `dist` folders, core first: the others are compiled against its declarations.
import { spawnSync } from "node:child_process"
import { chmodSync, globSync, rmSync } from "node:fs"

for (
  const name of [
    "core",
    "hooks",
    "hook-files",
    "providers",
    "testing",
    "host",
    "serve",
    "tracing",
    "inspect",
    "tools",
    "cli"
  ]
) {
  const folder = `packages/${name}`
  rmSync(`${folder}/dist`, { recursive: true, force: true })
  if (globSync(`${folder}/src/**/*.ts`).length === 0) continue
  const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", `${folder}/tsconfig.build.json`], {
    stdio: "inherit"
  })
  if (tsc.status !== 0) {
    console.error(`${folder} does not build`)
    process.exit(1)
  }
  for (const file of globSync(`${folder}/dist/bin/*.js`)) chmodSync(file, 0o755)
  console.log(`${folder}: ${globSync(`${folder}/dist/**/*.js`).length} modules`)
}
