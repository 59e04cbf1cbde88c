/** What the phases need of the floors above them, handed to them so that no import goes up. */
import { execute } from "./execute.ts"
import { lend } from "./lending.ts"
import type { Upstairs } from "./resolved.ts"
import type { Turn } from "./turn.ts"

/** Lending, and running a whole turn inside another. Every scope they are given is a turn. */
export const upstairs: Upstairs = { lend, run: (scope, resumed) => execute(scope as Turn, resumed) }
