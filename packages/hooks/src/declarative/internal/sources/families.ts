/** Every system whose hooks run here. */
import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import { copilot } from "./copilot.ts"
import type { Dialect, Family } from "./family.ts"
import { gemini } from "./gemini.ts"

export const families: ReadonlyMap<Dialect, Family> = new Map([claude, codex, copilot, gemini].map((family) => [family.dialect, family]))

export const dialects: ReadonlyArray<Dialect> = ["claude", "codex", "copilot", "gemini", "kodelet", "basecoat"]
