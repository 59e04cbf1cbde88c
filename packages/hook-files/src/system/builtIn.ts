/** Lists all systems of hook files that are supported. */
import { basecoat } from "../dialect/basecoat/source.ts"
import { claude } from "../dialect/claude/source.ts"
import { codex } from "../dialect/codex/source.ts"
import { copilot } from "../dialect/copilot/source.ts"
import { cursor } from "../dialect/cursor/source.ts"
import { factory } from "../dialect/factory/source.ts"
import { gemini } from "../dialect/gemini/source.ts"
import { kodelet } from "../dialect/kodelet/source.ts"
import type { System } from "../dialect/shared/system.ts"
import { windsurf } from "../dialect/windsurf/source.ts"

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
