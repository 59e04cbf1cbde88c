/** What the phases need of the floors above them, handed to them so that no import goes up. */
import { lend } from "../capability/capabilities.ts"
import type { Upstairs } from "../config/resolvedAgent.ts"
import { execute } from "./runTurn.ts"
import type { Turn } from "./turn.ts"

/** Lending, and running a whole turn inside another. Every scope they are given is a turn. */
export const upstairs: Upstairs = { lend, run: (scope, resumed) => execute(scope as Turn, resumed) }
