/** The operations that every turn gets. Only this file imports the files above `turn.ts`. */
import { capabilitiesOf } from "../capability/capabilities.ts"
import { askModelForTool } from "../capability/llm.ts"
import type { TurnOperations } from "../running/turn.ts"
import { runTurn } from "./runTurn.ts"

export const turnOperations: TurnOperations = { capabilitiesOf, askModelForTool, runTurn }
