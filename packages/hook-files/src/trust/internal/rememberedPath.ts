/** The file with what was read when a person decided about a project. */
import { join } from "node:path"
import { real, sha256 } from "../../internal/files.ts"

export const pathOf = (folder: string, cwd: string): string => join(folder, `${sha256(real(cwd))}.files.json`)
