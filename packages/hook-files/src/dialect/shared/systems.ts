/** Lists all systems of hook files that are supported. */
import { basecoat } from "../basecoat/source.ts"
import { claude } from "../claude/source.ts"
import { codex } from "../codex/source.ts"
import { copilot } from "../copilot/source.ts"
import { cursor } from "../cursor/source.ts"
import { factory } from "../factory/source.ts"
import { gemini } from "../gemini/source.ts"
import { kodelet } from "../kodelet/source.ts"
import { windsurf } from "../windsurf/source.ts"
import type { System } from "./system.ts"

/** The systems whose hook files Belay knows. @category models @since 0.1.0 */
export const builtIn: ReadonlyArray<System> = [
  claude,
  codex,
  copilot,
  gemini,
  cursor,
  windsurf,
  factory,
  kodelet,
  basecoat
]

/** Maps each dialect to its system. If two systems have the same dialect, the later one is used. */
export const byDialect = (more: ReadonlyArray<System>): ReadonlyMap<string, System> =>
  new Map([...builtIn, ...more].map((system) => [system.dialect, system]))
