/** `npm run bench [part ...]`: ratios against a named baseline in the same run. */
import { bodies } from "./bodies.ts"
import { bundle } from "./bundle.ts"
import { chain } from "./chain.ts"
import { files } from "./files.ts"
import { guard } from "./guard.ts"
import { guardCommand } from "./guardCommand.ts"
import { longHistory } from "./history.ts"
import { hooks } from "./hooks.ts"
import { host } from "./host.ts"
import { http } from "./http.ts"
import { imports } from "./imports.ts"
import { memory } from "./memory.ts"
import { open } from "./open.ts"
import { requests } from "./requests.ts"
import { serve } from "./serve.ts"
import { start } from "./start.ts"
import { streams } from "./streams.ts"
import { tracing } from "./tracing.ts"
import { turn } from "./turn.ts"
import { types } from "./types.ts"
import { waiting } from "./waiting.ts"

const parts: { readonly [name: string]: () => Promise<string> } = {
  chain,
  turn,
  hooks,
  guard,
  "guard-command": guardCommand,
  history: longHistory,
  files,
  http,
  host,
  open,
  bodies,
  memory,
  waiting,
  imports,
  start,
  bundle,
  streams,
  tracing,
  types,
  serve,
  requests
}
const wanted = process.argv.slice(2)
for (const name of wanted.length === 0 ? Object.keys(parts) : wanted) {
  const part = parts[name]
  if (part === undefined) {
    console.error(`unknown part "${name}": expected ${Object.keys(parts).join(", ")}`)
    process.exit(1)
  }
  console.log(`## ${name}\n\n${await part()}`)
}
