/**
 * Finds the executables of Kodelet in the folders of the project and of the user. They are only listed here; `<file>
 * hook` runs later, when they may run.
 */
import { basename, join } from "node:path"
import { read } from "../../internal/files.ts"
import { called, filesOf, type Making, type System, trusting } from "../shared/system.ts"
import { kodelet as guide } from "./guide.ts"
import * as Kodelet from "./Kodelet.ts"

export const kodelet: System = {
  dialect: "kodelet",
  guide,
  folders: [".kodelet/hooks"],
  places: (where) => {
    const { handlers } = Kodelet.find(Kodelet.folders(where))
    return handlers.map(({ file, key, ofProject }) => ({
      scope: ofProject ? "project" : "user",
      path: file,
      format: key,
      isProgram: true
    }))
  },
  decode: ({ format = "", ofProject, path }) => ({
    handlers: [{
      event: "run",
      file: path,
      key: format,
      ofProject,
      work: { type: "command", command: path, args: ["run"] }
    }],
    warnings: [],
    disableAllHooks: false
  }),
  about: () => undefined,
  hooks: (sources, making) => {
    const handlers = trusting<Kodelet.Handler>(sources)
    if (handlers.length === 0) return []
    const options: Partial<Kodelet.Options> = called("kodelet", making, Kodelet.optionKinds)
    const recipes = { ...recipesOf(making), ...options.recipes }
    return [Kodelet.make({ ...options, projectDir: making.projectDir, recipes, handlers })]
  }
}

/** Reads the recipes in files. Those of the project come before those of the user. */
const recipesOf = ({ home, projectDir }: Making): { readonly [name: string]: string } =>
  Object.fromEntries(
    [join(home, ".kodelet", "recipes"), join(projectDir, "recipes"), join(projectDir, ".kodelet", "recipes")]
      .flatMap((folder) => filesOf(folder, ".md"))
      .flatMap((path) => {
        const content = read(path, 1_048_576)
        if (content === "absent" || "problem" in content) return []
        const text = content.bytes.toString("utf8").replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---\r?\n?/, "")
        return [[basename(path, ".md"), text] as const]
      })
  )
