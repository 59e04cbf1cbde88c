/** Runs `belay guard run` in a process, from the sources. An installed package has a bundle of it. */
import { command } from "../internal/guard/run/command.ts"

await command(process.argv.slice(2), () => {})
