/** Runs the recipes of callbacks. The output of a recipe replaces the history. */
import { checked } from "@belay/core/ArgumentCheck"
import { messageOf } from "@belay/core/ErrorMessage"
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import { type Message, text } from "@belay/core/Message"
import { defaultPrompt } from "@belay/hooks/Summarizer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { basename, join } from "node:path"
import { read } from "../../internal/files.ts"
import { filesOf } from "../shared/system.ts"

/** The input of a recipe. */
export interface RecipeInput {
  readonly messages: ReadonlyArray<Message>
  readonly args: { readonly [name: string]: string }
  readonly ctx: HookContext
}

/**
 * A function, or instructions for a model that reads the conversation. In instructions, `{{.name}}` is replaced by an
 * argument.
 */
export type Recipe = string | ((input: RecipeInput) => Eventual<string>)

export type Recipes = { readonly [name: string]: Recipe }

/**
 * Reads the recipes in `NAME.md` files, without their front matter. Those of the project come before those of the user.
 *
 * @category reading
 * @since 0.1.0
 */
export const recipeFiles = checked(
  "Kodelet.recipeFiles",
  ["folders"],
  ({ cwd, home }: { readonly cwd: string; readonly home: string }): { readonly [name: string]: string } =>
    Object.fromEntries(
      [join(home, ".kodelet", "recipes"), join(cwd, "recipes"), join(cwd, ".kodelet", "recipes")]
        .flatMap((folder) => filesOf(folder, ".md"))
        .flatMap((path) => {
          const content = read(path, 1_048_576)
          if (content === "absent" || "problem" in content) return []
          const text = content.bytes.toString("utf8").replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---\r?\n?/, "")
          return [[basename(path, ".md"), text] as const]
        })
    )
)

/** The default for the recipe `compact`. */
const builtIn: Recipes = { compact: defaultPrompt }

/**
 * Runs a recipe and returns its output. If the recipe is unknown, fails or returns no text, it warns and returns
 * undefined.
 */
export const runRecipe = (name: string, input: RecipeInput, recipes: Recipes): Effect.Effect<string | undefined> => {
  const { ctx } = input
  const recipe = Object.hasOwn(recipes, name)
    ? recipes[name]!
    : Object.hasOwn(builtIn, name)
    ? builtIn[name]!
    : undefined
  const none = (why: string) =>
    Effect.sync(() => {
      ctx.warn(`the history stays as it is: the recipe ${JSON.stringify(name.slice(0, 100))} ${why}`)
      return undefined
    })
  if (recipe === undefined) return none("does not exist")
  const running = typeof recipe === "string" ? ask(recipe, input) : eventual(() => recipe(input))
  return running.pipe(
    Effect.flatMap((output) =>
      typeof output !== "string" || output.trim() === "" ? none("returned no text") : Effect.succeed(output)
    ),
    Effect.catchCause((cause) => none(`failed: ${messageOf(Cause.squash(cause))}`))
  )
}

const ask = (recipe: string, { args, ctx, messages }: RecipeInput): Effect.Effect<string, unknown> =>
  Effect.map(
    ctx.llm({
      instructions: recipe.replaceAll(/\{\{\s*\.(\w+)\s*\}\}/g, (whole, key: string) =>
        Object.hasOwn(args, key) ? args[key]! : whole),
      prompt: `<conversation>\n${messages.map(line).join("\n")}\n</conversation>`
    }),
    (response) =>
      response.text
  )

const line = (message: Message): string => {
  const calls = message.role === "assistant"
    ? (message.toolCalls ?? []).map(({ args, name }) => `[calls ${name} ${JSON.stringify(args)}]`)
    : []
  return `${message.role}: ${[text(message), ...calls].filter((one) => one !== "").join(" ")}`
}
