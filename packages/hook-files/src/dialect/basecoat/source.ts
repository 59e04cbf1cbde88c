/** Finds the files of Base Coat: `hooks.json` and `mcp.json` of the project. */
import { join } from "node:path"
import { parse } from "../../internal/fields.ts"
import { called, type Decoded, picked, type System, trusting } from "../shared/system.ts"
import * as BaseCoat from "./BaseCoat.ts"
import { basecoat as guide } from "./guide.ts"

export const basecoat: System = {
  dialect: "basecoat",
  guide,
  folders: [],
  places: ({ cwd }) => ["hooks.json", "mcp.json"].map((name) => ({ scope: "project", path: join(cwd, name) })),
  // Handlers of files are commands and tools, never functions.
  decode: ({ path, text }) => ({ ...BaseCoat.decode(text, path), disableAllHooks: false }) as Decoded,
  // A hook calls the servers of the file, so a decision covers what they start.
  about: ({ text }) => picked(parse(text), "version", "hooks", "mcpServers"),
  hooks: (sources, making) => {
    const handlers = trusting(sources) as ReadonlyArray<unknown> as ReadonlyArray<BaseCoat.Handler>
    return handlers.length === 0
      ? []
      : [BaseCoat.make({ ...called("basecoat", making, BaseCoat.optionKinds), handlers })]
  }
}
