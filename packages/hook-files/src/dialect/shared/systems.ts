/** Every system whose hooks run here. */
import { basecoat } from "../basecoat/source.ts"
import { claude } from "../claude/source.ts"
import { codex } from "../codex/source.ts"
import { copilot } from "../copilot/source.ts"
import { gemini } from "../gemini/source.ts"
import { kodelet } from "../kodelet/source.ts"
import type { System } from "./system.ts"

export const builtIn: ReadonlyArray<System> = [claude, codex, copilot, gemini, kodelet, basecoat]

/** Systems by the name of their dialect; of two with the same name the later counts. */
export const byDialect = (more: ReadonlyArray<System>): ReadonlyMap<string, System> =>
  new Map([...builtIn, ...more].map((system) => [system.dialect, system]))
