/** All settings. */
import type { Setting } from "./setting.ts"
import { preToolUse } from "./settings/preToolUse.ts"

export const settings: ReadonlyArray<Setting> = [...preToolUse]
