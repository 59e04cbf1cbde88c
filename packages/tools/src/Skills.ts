/**
 * Skills: instructions for certain tasks, with scripts and other files, that the model loads when it needs them. What a
 * skill declares in `allowed-tools` is all that the agent may do while the skill is in use.
 *
 * @since 0.2.0
 */
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import { defined } from "@belay/core/Fields"
import { nearest } from "@belay/core/NamePattern"
import { checkKinds, checkOptions, oneOf, type OptionKinds, whole } from "@belay/core/OptionCheck"
import type { ToolMeta } from "@belay/core/Tool"
import * as SkillFiles from "@belay/hook-files/SkillFiles"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { catalogueOf } from "./internal/skill/catalogue.ts"
import { skillHook, withFolder } from "./internal/skill/skillHook.ts"
import { ToolError } from "./ToolError.ts"

/** Options of `Skills.load`. @category models @since 0.2.0 */
export interface Options extends SkillFiles.Options {
  /**
   * The most tokens of the catalogue in the instructions. If it is longer, descriptions are cut, and then names left
   * out. Default 2,000.
   */
  readonly catalogueTokens?: number
  /**
   * How long a skill is in use after it was loaded. `turn`: until the turn ends; from the next message of the person
   * on, the model no longer reads the texts of the skill either. `conversation`: as long as the conversation. Default
   * `turn`.
   */
  readonly until?: "turn" | "conversation"
}

const optionKinds: OptionKinds<Options> = {
  ...SkillFiles.optionKinds,
  catalogueTokens: "number",
  until: "text"
}

/** The result of `load`. @category models @since 0.2.0 */
export interface Loaded extends SkillFiles.Loaded {
  /**
   * `load_skill` and `read_skill_resource`, which bring the hook that enforces `allowed-tools` and the catalogue. Empty
   * if no skill may be used.
   */
  readonly tools: ReadonlyArray<AnyTool>
}

const loadInput = Schema.Struct({ name: Schema.String.annotate({ description: "The name of the skill" }) })
const readInput = Schema.Struct({
  skill: Schema.String.annotate({ description: "The name of a skill in use" }),
  path: Schema.String.annotate({ description: "The path of the file in the folder of the skill" })
})

const loadDescription =
  "Loads a skill: returns its instructions, the folder that it is in, and the files that it has. " +
  "While it is in use, only the tools run that it declares."
const readDescription = "Reads a text file of a skill that is in use, by its path in the folder of the skill."

const isTool = (name: string, description: string) => (tool: ToolMeta): boolean =>
  tool.name === name && tool.description === description

/**
 * Finds skills, and makes the two tools with which the model uses them. Pass `tools` to the agent, together with the
 * agent's own. Skills of the project are left out until a person has trusted them: `untrusted` lists them.
 *
 * While skills are in use, a call runs only if the `allowed-tools` of every one of them cover it; so they can only
 * tighten what the agent may do, and what other hooks and the policy say holds as before. It holds for sub-agents too,
 * and after a resume in another process. A skill without `allowed-tools` does not restrict calls.
 *
 * Throws a `ConfigError` for a wrong option.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import type { LlmProvider } from "@belay/core/LlmProvider"
 * import { Bash, Skills, Toolset } from "@belay/tools"
 *
 * declare const provider: LlmProvider
 * const { tools, untrusted } = Skills.load({ cwd: "project" })
 * for (const { skill } of untrusted) console.warn(`${skill.path} is not used: run \`belay skills trust\``)
 * const agent = createAgent({ provider, cwd: "project", tools: [...Toolset.files(), Bash.make(), ...tools] })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const load = (options: Options = {}): Loaded => {
  Result.getOrThrow(checkKinds("Skills.load", options, optionKinds))
  const { catalogueTokens = 2_000, until = "turn", ...places } = options
  Result.getOrThrow(
    checkOptions(
      "Skills.load",
      whole("catalogueTokens", catalogueTokens, 1, 1_000_000),
      oneOf("until", until, ["turn", "conversation"])
    )
  )
  const loaded = SkillFiles.load(places)
  const skills = new Map(
    loaded.skills.flatMap((skill) => skill.forModels ? [[skill.name, skill] as const] : [])
  )
  return { ...loaded, tools: skills.size === 0 ? [] : toolsOf(skills, catalogueTokens, until) }
}

const toolsOf = (
  skills: ReadonlyMap<string, SkillFiles.ReadySkill>,
  catalogueTokens: number,
  until: "turn" | "conversation"
): ReadonlyArray<AnyTool> => {
  const loads = isTool("load_skill", loadDescription)
  const reads = isTool("read_skill_resource", readDescription)
  const hook = skillHook({ skills, until, loads, reads })
  const instructions = catalogueOf([...skills.values()], catalogueTokens)
  const find = (tool: string, name: string): Effect.Effect<SkillFiles.ReadySkill, ToolError> => {
    const skill = skills.get(name.trim())
    if (skill !== undefined) return Effect.succeed(skill)
    const near = nearest(name, skills.keys())
    const hint = near === undefined ? "the instructions list the skills" : `did you mean ${near}?`
    return failed(tool, "missing", `there is no skill ${JSON.stringify(name.slice(0, 80))}: ${hint}`)
  }
  const load = defineTool({
    name: "load_skill",
    description: loadDescription,
    input: loadInput,
    readOnly: true,
    exclusive: true,
    hooks: [hook],
    ...defined({ instructions }),
    execute: Effect.fnUntraced(function*({ name }, { cwd }) {
      const skill = yield* find("load_skill", name)
      const changed = skill.refuse()
      if (changed !== undefined) return yield* failed("load_skill", "refused", changed)
      const resources = skill.resources()
      return {
        skill: skill.name,
        folder: SkillFiles.folderOf(skill, cwd),
        instructions: withFolder(skill.text, skill, cwd),
        ...(skill.allowedTools === undefined ? {} : { allowedTools: skill.allowedTools }),
        ...(resources.length === 0 ? {} : { resources: resources.slice(0, maxResources) })
      }
    })
  })
  const read = defineTool({
    name: "read_skill_resource",
    description: readDescription,
    input: readInput,
    readOnly: true,
    hooks: [hook],
    execute: Effect.fnUntraced(function*({ path, skill: name }) {
      const skill = yield* find("read_skill_resource", name)
      const resource = skill.read(path)
      return "text" in resource ? resource.text : yield* failed("read_skill_resource", "refused", resource.problem)
    })
  })
  return [load, read]
}

/** The most paths that the result of `load_skill` has. */
const maxResources = 200

const failed = (tool: string, reason: ToolError["reason"], message: string): Effect.Effect<never, ToolError> =>
  Effect.fail(new ToolError({ tool, reason, message }))
