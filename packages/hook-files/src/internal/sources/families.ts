/** Every system whose hooks run here. */
import { basecoat } from "./basecoat.ts"
import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import { copilot } from "./copilot.ts"
import type { Dialect, Family } from "./family.ts"
import { gemini } from "./gemini.ts"
import { kodelet } from "./kodelet.ts"

export const families: ReadonlyMap<Dialect, Family> = new Map(
  [claude, codex, copilot, gemini, kodelet, basecoat].map((family) => [family.dialect, family])
)

export const dialects: ReadonlyArray<Dialect> = ["claude", "codex", "copilot", "gemini", "kodelet", "basecoat"]
