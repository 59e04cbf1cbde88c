/** Every system whose hooks run here. */
import { basecoat } from "../basecoat/source.ts"
import { claude } from "../claude/source.ts"
import { codex } from "../codex/source.ts"
import { copilot } from "../copilot/source.ts"
import { gemini } from "../gemini/source.ts"
import { kodelet } from "../kodelet/source.ts"
import type { Dialect, Family } from "./source.ts"

export const families: ReadonlyMap<Dialect, Family> = new Map(
  [claude, codex, copilot, gemini, kodelet, basecoat].map((family) => [family.dialect, family])
)

export const dialects: ReadonlyArray<Dialect> = ["claude", "codex", "copilot", "gemini", "kodelet", "basecoat"]
