/** Every system whose hooks run here. */
import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import type { Dialect, Family } from "./family.ts"

export const families: ReadonlyMap<Dialect, Family> = new Map([claude, codex].map((family) => [family.dialect, family]))

export const dialects: ReadonlyArray<Dialect> = ["claude", "codex", "copilot", "gemini", "kodelet", "basecoat"]
