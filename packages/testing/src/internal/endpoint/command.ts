/** Runs the endpoint as a command. */
import * as Endpoint from "../../Endpoint.ts"
import { descriptions } from "./faults.ts"
import { models } from "./respond.ts"

const usage = `Usage: npm run endpoint -- [--port <number>] [--api-key <key>]

Starts an OpenAI-compatible endpoint with a rule-based model on 127.0.0.1.

  --port <number>    0 to 65535; 0 takes any free port (default 8787)
  --api-key <key>    accept only this key (default: any key)
  --help             show this text
`

interface Arguments {
  readonly port: number
  readonly apiKey?: string
}

/** Parses the arguments, or says what is wrong with them. */
const parse = (given: ReadonlyArray<string>): Arguments | string => {
  let port = 8787
  let apiKey: string | undefined
  for (let index = 0; index < given.length; index++) {
    const [flag = "", inline] = (given[index] ?? "").split(/=(.*)/s, 2)
    if (flag !== "--port" && flag !== "--api-key") return `unknown argument ${given[index]}`
    const value = inline ?? given[++index]
    if (value === undefined || value === "") return `${flag} needs a value`
    if (flag === "--api-key") apiKey = value
    else if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) {
      return `--port must be a number from 0 to 65535, not "${value}"`
    } else port = Number(value)
  }
  return apiKey === undefined ? { port } : { port, apiKey }
}

/** Runs the command until SIGINT or SIGTERM. */
export const run = (given: ReadonlyArray<string>): void => {
  if (given.includes("--help") || given.includes("-h")) {
    process.stdout.write(usage)
    return
  }
  const parsed = parse(given)
  if (typeof parsed === "string") return fail(`${parsed}\n\n${usage}`, 2)
  Endpoint.start(parsed).then(
    serve,
    (error: NodeJS.ErrnoException) =>
      fail(
        error.code === "EADDRINUSE"
          ? `port ${parsed.port} is in use; choose another one, or --port 0 for any free one\n`
          : error.code === "EACCES"
          ? `port ${parsed.port} may not be opened without more rights\n`
          : `${error.message}\n`,
        1
      )
  )
}

const serve = (endpoint: Endpoint.Endpoint): void => {
  process.stdout.write(`${endpoint.url}\n${guide(endpoint.url)}`)
  const stop = () => void endpoint.close().then(() => process.exit(0))
  process.once("SIGINT", stop)
  process.once("SIGTERM", stop)
}

const guide = (url: string): string => `
An OpenAI-compatible endpoint with a rule-based model. Point any client at it:

  OPENAI_BASE_URL=${url} OPENAI_API_KEY=test-key OPENAI_MODEL=demo-large

Models: ${[...models.keys()].join(", ")}
Faults, as a suffix of any model:
${Object.entries(descriptions).map(([name, what]) => `  demo:${name.padEnd(16)} ${what}`).join("\n")}

Stop with Ctrl+C.
`

const fail = (message: string, code: number): void => {
  process.stderr.write(`endpoint: ${message}`)
  process.exitCode = code
}
