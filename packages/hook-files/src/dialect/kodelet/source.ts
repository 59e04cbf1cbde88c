/**
 * Finds the executables of Kodelet in the folders of the project and of the user. They are only listed here; `<file>
 * hook` runs later, when they may run.
 */
import { called, type System, trusting } from "../shared/system.ts"
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
    const { home, projectDir } = making
    const recipes = { ...Kodelet.recipeFiles({ cwd: projectDir, home }), ...options.recipes }
    return [Kodelet.make({ ...options, projectDir, recipes, handlers })]
  }
}
