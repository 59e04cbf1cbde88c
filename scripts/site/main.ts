/** Builds the site into `site/dist`: `npm run site`. It needs no network once the generator is installed. */
import { spawnSync } from "node:child_process"
import { prepare } from "./prepare.ts"

prepare()
const { status } = spawnSync(process.execPath, ["node_modules/vitepress/bin/vitepress.js", "build"], {
  cwd: "site",
  stdio: "inherit"
})
process.exitCode = status ?? 1
if (status === 0) console.log("site/dist is built. To look at it: cd site && npx vitepress preview")
