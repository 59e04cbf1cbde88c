/** `belay serve` and its flags. */
import { defined } from "@belay/core/Fields"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { optional, toggle, usageError } from "../flags.ts"

/** The addresses that only this machine can reach. */
const loopback = ["127.0.0.1", "::1", "localhost"]

export const serve = Command.make(
  "serve",
  {
    config: Argument.String("config").pipe(
      Argument.withDescription("A module that exports what to serve. Default: a demo agent that needs no key"),
      Argument.optional
    ),
    openai: toggle("openai", "Serve chat completions and Responses of OpenAI"),
    ui: toggle("ui", "Serve the UI message stream of the AI SDK, and a page with a chat"),
    agUi: toggle("ag-ui", "Serve AG-UI"),
    mcp: toggle("mcp", "Serve an MCP server over HTTP with the agent as a tool"),
    acp: toggle("acp", "Serve ACP on standard input and output, for editors"),
    all: toggle("all", "Serve everything over HTTP. This is the default"),
    port: Flag.Int("port").pipe(Flag.withDescription("The port; 0 takes a free one"), Flag.withDefault(8787)),
    hostname: Flag.String("hostname").pipe(
      Flag.withDescription("The address to listen on. Another than the default needs --token"),
      Flag.withDefault("127.0.0.1")
    ),
    allowedHosts: optional(
      "allowed-hosts",
      "Other names under which clients reach the server, with commas between. Default: this machine and --hostname"
    ),
    token: optional("token", "The token that clients send. Default: one that is kept in the data folder"),
    data: Flag.String("data").pipe(
      Flag.withDescription("The folder of the demo agent's sessions and of the token"),
      Flag.withDefault(".belay")
    ),
    drain: Flag.Int("drain").pipe(
      Flag.withDescription("Seconds that running turns have to stop after SIGTERM. Default 20"),
      Flag.withDefault(20)
    )
  },
  ({ acp, agUi, all, allowedHosts, config, data, drain, hostname, mcp, openai, port, token, ui }) =>
    Effect.gen(function*() {
      if (!(port >= 0 && port < 65_536)) return yield* usageError("--port is a number from 0 to 65535")
      if (drain < 0) return yield* usageError("--drain is 0 or more seconds")
      if (Option.isNone(token) && !loopback.includes(hostname)) {
        return yield* usageError(`--hostname ${hostname} can be reached by others: give a token with --token`)
      }
      if (Option.isSome(token) && token.value.length < 16) {
        return yield* usageError("--token must have at least 16 characters")
      }
      if (acp && (all || openai || ui || agUi || mcp)) {
        return yield* usageError("--acp uses standard input and output: give no other protocol with it")
      }
      const isAll = all || !(openai || ui || agUi || mcp)
      // Loaded here, so that other commands start faster.
      const Run = yield* Effect.promise(() => import("./run.ts"))
      const options = {
        data,
        ...defined({ config: Option.getOrUndefined(config), token: Option.getOrUndefined(token) })
      }
      if (acp) return yield* Run.overStdio(options)
      return yield* Run.overHttp({
        ...options,
        port,
        hostname,
        allowedHosts: Option.match(allowedHosts, { onNone: () => [], onSome: (names) => names.split(",") }),
        drainMs: drain * 1_000,
        protocols: { openai: isAll || openai, ui: isAll || ui, agUi: isAll || agUi, mcp: isAll || mcp }
      })
    })
).pipe(Command.withDescription("Serves an agent over the protocols that clients speak, until it is stopped"))
