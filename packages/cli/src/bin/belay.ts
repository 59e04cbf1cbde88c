/** Runs the command line in a process. */
import { main } from "../internal/program/main.ts"
import { screenOf } from "../internal/screen.ts"

main(process.argv.slice(2), screenOf(process))
