/** The agent. `npm start` runs it in this folder. */
import { Bash, Toolset } from "@belay/tools"
import { guards } from "./guards.ts"
import { makeModel } from "./model.ts"

export default {
  name: "coder",
  provider: await makeModel(),
  instructions: "You are a careful coding agent. Read before you write, and say briefly what you did.",
  cwd: process.cwd(),
  tools: [...Toolset.files(), Bash.make()],
  hooks: guards
}
