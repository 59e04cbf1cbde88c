/** A skill as its files describe it. */

/** The tools whose folders are searched. */
export type SkillSystem = "agents" | "claude" | "codex" | "copilot" | "cursor" | "factory" | "gemini" | "opencode"

/** A skill: the front matter and the text of a `SKILL.md`, and where it was found. */
export interface Skill {
  /** Lower-case letters, digits and hyphens; for a skill of a plugin, `plugin:skill`. Unique among the skills found. */
  readonly name: string
  /** What it does and when to use it, without line ends and invisible characters. */
  readonly description: string
  readonly license?: string
  readonly compatibility?: string
  readonly metadata: { readonly [key: string]: string }
  /**
   * The rules of `allowed-tools`, such as `Read` and `Bash(git log *)`. Absent if the skill declares none; an empty
   * list declares that it needs no tool.
   */
  readonly allowedTools?: ReadonlyArray<string>
  /** Whether a model may load it. False for `disable-model-invocation: true`. */
  readonly forModels: boolean
  /** The text below the front matter, as it is in the file. */
  readonly body: string
  /** The path of the `SKILL.md`, and of its folder. */
  readonly path: string
  readonly root: string
  /** The SHA-256 of the `SKILL.md`. */
  readonly digest: string
  readonly scope: "user" | "project"
  /** Whether the project could have written it. Such a skill is used only if a person trusts it. */
  readonly ofProject: boolean
  /** The system in whose folder it was found, or the name of the plugin that has it. */
  readonly source: string
}
