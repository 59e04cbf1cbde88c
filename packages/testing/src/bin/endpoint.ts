#!/usr/bin/env node
/** Runs the loopback endpoint: `npm run endpoint -- --port 0`. */
import { run } from "../internal/endpoint/command.ts"

run(process.argv.slice(2))
