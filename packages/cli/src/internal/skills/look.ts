/** Loads the skills that the commands show. */
import * as SkillFiles from "@belay/hook-files/SkillFiles"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { folder, optional, toggle, usageError } from "../flags.ts"
import type { Usage } from "../usage.ts"

export const skillFlags = {
  cwd: optional("cwd", "The folder of the project. Default: this folder"),
  home: optional("home", "The user's home folder"),
  managed: optional("managed", "The folder of managed settings"),
  folder: Flag.String("folder").pipe(
    Flag.withDescription("A folder of skills, in addition to the usual ones; can be repeated"),
    Flag.atLeast(0)
  ),
  json: toggle("json", "Write JSON")
}

interface Flags {
  readonly cwd: Option.Option<string>
  readonly home: Option.Option<string>
  readonly managed: Option.Option<string>
  readonly folder: ReadonlyArray<string>
}

/** What was found, and where. */
export interface SkillWorld extends SkillFiles.Loaded {
  readonly where: { readonly cwd: string; readonly home: string }
  /** All skills, by name. */
  readonly all: ReadonlyArray<{ readonly skill: SkillFiles.Skill; readonly status: "usable" | "not trusted" }>
}

export const lookAtSkills = (flags: Flags): Effect.Effect<SkillWorld, Usage> =>
  Effect.gen(function*() {
    const where = {
      cwd: resolve(Option.getOrElse(flags.cwd, () => process.cwd())),
      home: resolve(Option.getOrElse(flags.home, () => homedir()))
    }
    yield* folder("--cwd", where.cwd)
    for (const path of flags.folder) yield* folder("--folder", resolve(where.cwd, path))
    const loaded = Result.try({
      try: () =>
        SkillFiles.load({
          ...where,
          folders: flags.folder,
          ...Option.match(flags.managed, { onNone: () => ({}), onSome: (managed) => ({ managed: resolve(managed) }) })
        }),
      catch: (error) => usageError(error instanceof Error ? error.message : String(error))
    })
    const { skills, untrusted, warnings } = yield* Effect.fromResult(loaded)
    const all = [
      ...skills.map((skill) => ({ skill, status: "usable" as const })),
      ...untrusted.map(({ skill }) => ({ skill, status: "not trusted" as const }))
    ].sort((a, b) => a.skill.name < b.skill.name ? -1 : 1)
    return { skills, untrusted, warnings, where, all }
  })
