/** The main job: an agent on a rope, against the embedded endpoint or a real one. `npm start -- --help` says how. */
import { run } from "./demo/run.ts"

process.exitCode = await run(process.argv.slice(2), process)
