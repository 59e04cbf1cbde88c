/** `belay chat`: a conversation with an agent in the terminal. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { defined } from "@belay/core/Fields"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { fromEnvironment } from "../environment.ts"
import { optional, toggle, usageError } from "../flags.ts"
import { plain, type Screen } from "../screen.ts"

/** How long the process may take to end by itself after a chat, in milliseconds. */
const exitMs = 200

export const chat = (screen: Screen) =>
  Command.make("chat", {
    config: Argument.String("config").pipe(
      Argument.withDescription("A module whose default export is the options of an agent. Default: a plain agent"),
      Argument.optional
    ),
    baseUrl: optional("base-url", "An OpenAI-compatible endpoint. Default: OPENAI_BASE_URL, or one on this machine"),
    model: optional("model", "The model. Default: OPENAI_MODEL, or gpt-5.4-mini"),
    session: optional("session", "The name of the conversation. Default: chat"),
    tools: Flag.Literals("tools", ["read", "all"]).pipe(
      Flag.withDescription(
        "Tools of the plain agent: read looks at files of this folder; all also writes files, runs commands and " +
          "reads pages, and asks first"
      ),
      Flag.optional
    ),
    recipe: optional(
      "recipe",
      "A recipe of Kodelet, such as intro for recipes/intro.md, which is the first message. compact replaces the " +
        "history by a summary, and ends"
    ),
    noHooks: toggle("no-hooks", "Run no hook files. Hooks in the code of the module stay"),
    store: optional("store", "The file that keeps conversations. Default: .belay/chat.db")
  }, (flags) =>
    Effect.gen(function*() {
      const { apiKey, baseUrl, model } = yield* fromEnvironment(flags)
      // Loaded here, so that other commands start faster.
      const [{ runChat }, { loadServed }, { toolsOf }, OpenAiCompatible, Endpoint] = yield* Effect.promise(() =>
        Promise.all([
          import("./run.ts"),
          import("../serve/load.ts"),
          import("./tools.ts"),
          import("@belay/providers/OpenAiCompatible"),
          import("@belay/testing/Endpoint")
        ])
      )
      const served = Option.isSome(flags.config) ? yield* loadServed(flags.config.value) : undefined
      if (served !== undefined && "host" in served) {
        return yield* usageError("the module exports a host: export default the options of an agent")
      }
      if (served !== undefined && Option.isSome(flags.tools)) {
        return yield* usageError("--tools is for the plain agent: the module names its own tools")
      }
      const recipe = Option.getOrUndefined(flags.recipe)
      const recipes = recipe === undefined || recipe === "compact"
        ? {}
        : (yield* Effect.promise(() => import("@belay/hook-files/Kodelet"))).recipeFiles({
          cwd: served?.agent.cwd ?? process.cwd(),
          home: homedir()
        })
      if (recipe !== undefined && recipe !== "compact" && !Object.hasOwn(recipes, recipe)) {
        const known = ["compact", ...Object.keys(recipes)].join(", ")
        return yield* usageError(`there is no recipe ${plain(recipe)}; recipes are ${plain(known)}`)
      }
      const endpoint = served === undefined && baseUrl === undefined
        ? yield* Effect.promise(() => Endpoint.start())
        : undefined
      const url = baseUrl ?? endpoint?.url ?? ""
      const plainAgent = (): AgentConfig => ({
        name: "belay",
        cwd: process.cwd(),
        provider: OpenAiCompatible.make({
          baseUrl: url,
          apiKey: apiKey ?? "none",
          model: model ?? (endpoint === undefined ? "gpt-5.4-mini" : "demo")
        }),
        ...toolsOf(Option.getOrUndefined(flags.tools))
      })
      const about = served === undefined
        ? endpoint === undefined
          ? `${model ?? "gpt-5.4-mini"} at ${url}`
          : "a rule-based model on this machine; set OPENAI_API_KEY or OPENAI_BASE_URL for a real one"
        : Option.getOrElse(flags.config, () => "")
      yield* Effect.promise(() =>
        runChat({
          config: { ...(served?.agent ?? plainAgent()), ...(flags.noHooks ? { hookSources: [] } : {}) },
          about,
          storePath: resolve(Option.getOrElse(flags.store, () => ".belay/chat.db")),
          sessionId: Option.getOrElse(flags.session, () => "chat"),
          ...defined({ recipe }),
          ...(recipe !== undefined && Object.hasOwn(recipes, recipe) ? { first: recipes[recipe]! } : {}),
          noHooks: flags.noHooks,
          screen,
          terminal: { input: process.stdin, output: process.stdout }
        })
      )
      if (endpoint !== undefined) yield* Effect.promise(() => endpoint.close())
      // The module may have opened something that nobody closes, such as a server.
      setTimeout(() => process.exit(), exitMs).unref()
    })).pipe(
      Command.withDescription(
        "Talks with an agent: answers as they are written, tools, approvals, and a history that survives restarts"
      )
    )
