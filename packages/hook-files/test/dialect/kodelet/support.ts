/** A project and a home with executables of Kodelet, and an agent that has them as its hook. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import type { Json } from "@belay/core/Json"
import * as Command from "@belay/hook-files/Command"
import * as Kodelet from "@belay/hook-files/Kodelet"
import * as Runners from "@belay/hook-files/Runners"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Line, recording, scripted } from "../../../../../test/support/agent.ts"
import { folder, write } from "../../support/processes.ts"

/** An executable of a type, whose `run` is `body`. */
export const script = (type: string, body: string): string =>
  `#!/bin/bash\nif [ "$1" == "hook" ]; then echo "${type}"; exit 0; fi\n[ "$1" == "run" ] || exit 1\n${body}\n`

/** Writes down what it reads, and answers. */
export const records = (type: string, answer = "", more = ""): string =>
  script(type, `cat >> told.jsonl\n${more}\ncat << 'END'\n${answer}\nEND`)

/** Files of a project by path; those that begin with `~/` are of the home. */
export const world = (files: { readonly [path: string]: string }) => {
  const cwd = folder()
  const home = folder()
  for (const [path, text] of Object.entries(files)) {
    write(path.startsWith("~/") ? join(home, path.slice(2)) : join(cwd, path), text)
  }
  const read = (name: string): string => existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : ""
  const told = (): ReadonlyArray<{ readonly [key: string]: Json }> =>
    read("told.jsonl").split("\n").flatMap((line) =>
      line === "" ? [] : [JSON.parse(line) as { readonly [key: string]: Json }]
    )
  const found = Kodelet.find(Kodelet.folders({ cwd, home }))
  const hook = (options: Partial<Kodelet.Options> = {}) =>
    Kodelet.make({
      handlers: found.handlers,
      projectDir: cwd,
      runners: Runners.make({ run: (request) => Command.run({ ...request, env: { ...request.env, HOME: home } }) }),
      ...options
    })
  /** An agent with a scripted model, what its tools did, and what it said to the developer. */
  const agent = (
    lines: ReadonlyArray<Line>,
    options: Partial<Kodelet.Options> = {},
    config: Partial<AgentConfig> = {}
  ) => {
    const { ran, tools } = recording()
    const { provider, requests } = scripted(lines)
    const warnings: Array<string> = []
    const events: Array<Json> = []
    const { hooks = [], ...rest } = config
    const made = createAgent({ provider, tools, cwd, ...rest, hooks: [hook(options), ...hooks] })
    made.on((event) => {
      if (event.type === "warning") warnings.push(event.message)
      if (event.type === "custom" && event.name === "hook-run") events.push(event.payload)
    })
    return { agent: made, ran, requests, warnings, events }
  }
  return { cwd, home, read, told, found, hook, agent }
}
