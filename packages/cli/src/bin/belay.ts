/** Runs the command line in a process. */
import { main } from "../internal/main.ts"

const { env, stdin, stdout } = process
const isTerminal = stdout.isTTY === true

main(process.argv.slice(2), {
  columns: Math.min(160, Math.max(80, isTerminal ? stdout.columns : Number(env["COLUMNS"]) || 100)),
  colors: isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb",
  interactive: isTerminal && stdin.isTTY === true,
  path: env["PATH"] ?? ""
})
