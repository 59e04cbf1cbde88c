/**
 * Lists what systems and their hook commands say to each other: events, payloads and answers. `belay guard` reads these
 * tables to be a hook command of a system, and the hooks of this package read them to be the system.
 *
 * @since 0.2.0
 */
import { wire as claude } from "../dialect/claude/event/wire.ts"
import { wire as codex } from "../dialect/codex/wire.ts"
import { wire as copilot } from "../dialect/copilot/wire.ts"
import { wire as cursor } from "../dialect/cursor/wire.ts"
import { wire as factory } from "../dialect/factory/wire.ts"
import { wire as gemini } from "../dialect/gemini/wire.ts"
import type { Wire } from "../dialect/shared/wire.ts"
import { wire as windsurf } from "../dialect/windsurf/wire.ts"

export type { Hole, Meaning, Path, Template, Wire, WireCall, WireEvent } from "../dialect/shared/wire.ts"

/** The tables of all systems whose hook command Belay can be. @category models @since 0.2.0 */
export const all: ReadonlyArray<Wire> = [claude, codex, cursor, copilot, gemini, factory, windsurf]

/** Returns the table of a system, or undefined if there is none. @category reading @since 0.2.0 */
export const named = (system: string): Wire | undefined => all.find((one) => one.system === system)
